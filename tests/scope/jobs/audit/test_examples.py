from dataclasses import replace

import pytest
from made_up_comparison import build_comparison

from reports.blocks import Cards, Table
from reports.prose import plain, written
from scope.jobs.audit.examples import example_section
from scope.records import (
    Example,
    ModelCard,
    Perturbation,
    Prediction,
    ScoredExample,
    ScoredPerturbation,
)


def predicted(*probabilities, truncated=False):
    return Prediction(probabilities=probabilities, truncated=truncated)


def scored(reference, targets, *, text="a fine film", label=None):
    example = Example(id="e", text=text, label=label)
    return ScoredExample(example=example, reference=reference, targets=tuple(targets))


def changed(reference, targets, *, text="a good film", score=0.5):
    perturbation = Perturbation(example_id="e", trial=2, text=text, score=score)
    return ScoredPerturbation(
        capability="synonym", perturbation=perturbation, reference=reference, targets=tuple(targets)
    )


def card_of(before, after, *, names, labels):
    """The card of one pair in an audit of it alone."""
    roles = ["reference", *["target"] * (len(names) - 1)]
    audit = build_comparison()
    models = tuple(
        ModelCard(name=name, role=role, spec=f"hf:{name}", fingerprint="f", labels=labels)
        for name, role in zip(names, roles, strict=True)
    )
    section = example_section(
        replace(
            audit,
            manifest=replace(audit.manifest, models=models),
            examples=(before,),
            perturbations=(after,),
        ),
        most=9,
    )
    return next((block.cards[0] for block in section.blocks if isinstance(block, Cards)), None)


def rows_of(card):
    """The words of each row of a card's table."""
    (table,) = (block for block in card.blocks if isinstance(block, Table))
    heads = [
        one.heading if isinstance(one.heading, str) else plain(one.heading) for one in table.columns
    ]
    return [heads, *([plain(written(cell)) for cell in row.cells] for row in table.rows)]


def test_rows_say_what_each_model_did():
    yes, no = predicted(0.25, 0.75), predicted(0.75, 0.25, truncated=True)
    card = card_of(
        scored(yes, [yes, yes]),
        changed(yes, [yes, no]),
        names=("teacher", "student", "rival"),
        labels=("no", "yes"),
    )
    same = [".25 → .25", ".75 → .75"]
    assert rows_of(card)[1:] == [
        ["teacher (reference)", "yes", "invariant", *same, ""],
        ["student", "yes", "kept", *same, "0.000"],
        ["rival (truncated)", "yes → no", "lost", ".25 → .75", ".75 → .25", "1.000"],
    ]
    assert (card.keys["lost"], card.keys["distance"]) == ("1", "1.0000")
    assert "trial 2" in plain(card.note)


def test_where_the_reference_is_not_invariant_no_target_is_judged():
    yes, no = predicted(0.25, 0.75), predicted(0.75, 0.25)
    card = card_of(scored(yes, [yes]), changed(no, [no]), names=("r", "t"), labels=("no", "yes"))
    assert plain(card.note).endswith("the reference changes its label: not a kept pair")
    assert [row[2] for row in rows_of(card)[1:]] == ["not invariant", "not counted"]


@pytest.mark.parametrize(("gold", "columns"), [(None, ["b", "c"]), ("f", ["b", "c", "f"])])
def test_of_many_labels_only_predicted_and_gold_ones_are_shown(gold, columns):
    b = predicted(0, 1, 0, 0, 0, 0)
    c = predicted(0, 0, 1, 0, 0, 0)
    card = card_of(
        scored(b, [b], label=gold), changed(b, [c]), names=("r", "t"), labels=tuple("abcdef")
    )
    assert rows_of(card)[0][3:-1] == columns
    assert plain(card.blocks[-1].text).startswith(f"{6 - len(columns)} more labels")


def says(**shares):
    return Prediction(tokens=tuple(shares), probabilities=tuple(shares.values()))


def test_a_language_models_tokens_stand_in_quotes():
    sea, end = says(**{" sea": 0.5, "\n": 0.25}), says(**{"end": 0.5, " sea": 0.375})
    card = card_of(scored(sea, [sea]), changed(sea, [end]), names=("r", "student"), labels=())
    heads, reference, student = rows_of(card)
    assert heads[3:6] == ['" sea"', '"\\n"', '"end"']
    assert (reference[1], student[1]) == ('" sea"', '" sea" → "end"')
    assert student[3:6] == [".50 → .38", ".25 → .00", ".00 → .50"]
    assert card.keys["lost"] == "0"


def test_an_unchanged_text_is_an_example_where_a_target_gives_another_label():
    yes, no = predicted(0.25, 0.75), predicted(0.75, 0.25)
    failed = ScoredPerturbation(
        capability="typo", perturbation=Perturbation(example_id="e", trial=1, failure="none found")
    )
    card = card_of(
        scored(yes, [yes, no], label="no"), failed, names=("r", "s", "t"), labels=("no", "yes")
    )
    assert plain(card.note) == "unchanged text · example e · gold label no"
    assert rows_of(card)[1:] == [
        ["r (reference)", "yes", "", ".25", ".75", ""],
        ["s", "yes", "yes", ".25", ".75", "0.000"],
        ["t", "no", "no", ".75", ".25", "1.000"],
    ]
    assert (card.keys["text"], card.keys["lost"], card.keys["right"]) == ("2", "1", "better")
    assert card.anchor == "example-e-unchanged"


def test_a_target_may_be_wrong_where_the_reference_is_right_or_the_reverse():
    yes, no = predicted(0.25, 0.75), predicted(0.75, 0.25)
    cards = {
        gold: card_of(
            scored(yes, [yes], label=gold),
            changed(yes, [no]),
            names=("r", "t"),
            labels=("no", "yes"),
        )
        for gold in ("yes", "no", "maybe", None)
    }
    assert [one.keys["right"] for one in cards.values()] == ["worse", "better", "", ""]
    assert cards["yes"].keys["moved"] == "1.0000"


def test_the_least_similar_tenth_of_the_kept_pairs_can_be_left_out():
    audit = build_comparison()
    pair = audit.perturbations[0]
    similar = [
        replace(pair, perturbation=replace(pair.perturbation, similarity=similarity, trial=trial))
        for trial, similarity in enumerate([0.9, 0.2, *[0.8] * 9, None])
    ]
    section = example_section(replace(audit, perturbations=tuple(similar)), most=99)
    (cards,) = (block for block in section.blocks if isinstance(block, Cards))
    unlike = [place for place, card in enumerate(cards.cards) if "unlike" in card.keys]
    assert unlike == [1, 2]
    assert "unlike" in [select.key for select in cards.finder.selects]
    assert all(card.keys["judged"] for card in cards.cards)
