"""Cards of examples in cases that the golden page has not."""

from dataclasses import replace

import pytest
from kept_results import kept

from reports.blocks import Cards, Table
from reports.prose import plain, written
from scope.jobs.audit.examples import Shown, example_section
from scope.records import (
    Example,
    ModelCard,
    Perturbation,
    Prediction,
    ScoredExample,
    ScoredPerturbation,
)
from scope.records.text_parts import joined


def cards_of(audit):
    section = example_section(audit, most=99)
    (cards,) = (block for block in section.blocks if isinstance(block, Cards))
    return cards


def card_of(reference, before, after, *, labels=(), gold=None):
    """The card of one pair that the reference and, at first, its target answer alike."""
    audit = kept("audit")
    models = tuple(
        ModelCard(name=role[0], role=role, spec="hf:m", fingerprint="f", labels=labels)
        for role in ("reference", "target")
    )
    example = Example(id="e", text="a fine film", label=gold)
    perturbation = Perturbation(example_id="e", trial=2, text="a good film", score=0.5)
    pair = ScoredPerturbation(
        capability="synonym", perturbation=perturbation, reference=reference, targets=(after,)
    )
    alone = replace(
        audit,
        manifest=replace(audit.manifest, models=models),
        examples=(ScoredExample(example=example, reference=reference, targets=(before,)),),
        perturbations=(pair,),
    )
    (card,) = cards_of(alone).cards
    return card


def rows_of(card):
    """The words of each row of a card's table, the headings first."""
    (table,) = (block for block in card.blocks if isinstance(block, Table))
    rows = ([column.heading for column in table.columns], *(row.cells for row in table.rows))
    return [[plain(written(cell)) for cell in row] for row in rows]


@pytest.mark.parametrize(
    ("chat", "shown"),
    [('[["user", "Hi <b>"], ["assistant", "Yes?"]]', ["user: Hi <b>\nassistant: Yes?"]), ("", [])],
)
def test_the_messages_of_a_chat_are_lines_behind_their_roles(chat, shown):
    answer = Prediction(probabilities=(1.0,), tokens=("a",), reply="a")
    before = ScoredExample(
        example=Example(id="e", text=joined([chat, "Why?"])), reference=answer, targets=()
    )
    models, parts = ((answer, answer),), ("chat", "prompt")
    text = Shown(kind="unchanged", before=before, after=None, models=models, parts=parts)
    assert [*map(plain, text.passages)] == [*shown, "prompt: Why?"]


@pytest.mark.parametrize(("gold", "columns"), [(None, ["b", "c"]), ("f", ["b", "c", "f"])])
def test_of_many_labels_only_predicted_and_gold_ones_are_shown(gold, columns):
    b = Prediction(probabilities=(0, 1, 0, 0, 0, 0))
    c = Prediction(probabilities=(0, 0, 1, 0, 0, 0))
    card = card_of(b, b, c, labels=tuple("abcdef"), gold=gold)
    assert rows_of(card)[0][3:-1] == columns
    assert plain(card.blocks[-1].text).startswith(f"{6 - len(columns)} more labels")


def test_a_language_models_tokens_stand_in_quotes():
    sea = Prediction(tokens=(" sea", "\n"), probabilities=(0.5, 0.25))
    end = Prediction(tokens=("end", " sea"), probabilities=(0.5, 0.375))
    card = card_of(sea, sea, end)
    heads, reference, target = rows_of(card)
    assert heads[3:6] == ['" sea"', '"\\n"', '"end"']
    assert (reference[1], target[1]) == ('" sea"', '" sea" → "end"')
    assert target[3:6] == [".50 → .38", ".25 → .00", ".00 → .50"]
    assert card.keys["lost"] == "0"
