"""What a probe answers first: signs follow intervals, and every number is that of the findings."""

from dataclasses import replace

import pytest
from made_up_probe_comparison import DEEP, SHALLOW, build_comparison, estimate, findings

from reports.blocks import Bullets, Callout, within
from reports.prose import plain
from reports.renderers.terminal import to_text
from scope.jobs.pages import page_of
from scope.jobs.probe.page import MOST_DIFFERENCES, answer_section
from scope.records import ProbeDifference, Undefined

CONSTANT = Undefined(reason="one side is constant")
RAW, MLP, *_, FINAL = findings().scores[:5]


def boxes(**changes):
    """The frame and the words of each model's box."""
    section = answer_section(replace(findings(), **changes))
    found = [block for block in within(section.blocks) if isinstance(block, Callout)]
    return [(box.kind, " ".join(plain(part.text) for part in box.blocks)) for box in found]


def first_box(**changes):
    return boxes(**changes)[0]


def bullets(**changes):
    section = answer_section(replace(findings(), **changes))
    return [
        plain(item)
        for block in section.blocks
        if isinstance(block, Bullets)
        for item in block.items
    ]


def test_a_box_has_the_numbers_of_its_last_step():
    frame, words = first_box(scores=(RAW, replace(FINAL, gain=estimate(0.109375))))
    assert frame == "good"
    assert words == (
        f"✓ {DEEP}: Pearson 0.80 [0.77, 0.83] Better than the cosine of the best layer (step raw): "
        "gain 0.11 [0.08, 0.14]. A probe of all layers (step final) against human scores of 750 "
        "pairs; Spearman 0.79 [0.76, 0.82]. On 520 pairs of new sentences: 0.78 [0.74, 0.82]. "
        "Layer 17 of 30 (from 0) predicts best alone, not distinguishable from 13 others."
    )
    assert len(words.removeprefix(f"✓ {DEEP}").split()) <= 60


@pytest.mark.parametrize(
    ("gain", "frame", "claim"),
    [
        (estimate(0.0625), "good", "Better than the cosine"),
        (estimate(0.015625), "undecided", "Not shown to be better than the cosine"),
        (estimate(-0.0625), "bad", "Worse than the cosine"),
        (CONSTANT, "undecided", "Not shown to be better than the cosine"),
    ],
)
def test_training_is_shown_to_help_only_by_an_interval_above_0(gain, frame, claim):
    found, words = first_box(scores=(RAW, replace(FINAL, gain=gain)))
    assert found == frame
    assert claim in words


@pytest.mark.parametrize(
    ("value", "frame"), [(0.8, "good"), (0.7, "undecided"), (0.6, "bad"), (None, "undecided")]
)
def test_over_several_steps_intervals_that_do_not_overlap_decide(value, frame):
    last = replace(FINAL, pearson=CONSTANT if value is None else estimate(value))
    found, words = first_box(scores=(RAW, MLP, last))
    assert found == frame
    assert "(step raw), which has 0.69 [0.66, 0.72]." in words


def test_unseen_pairs_have_a_sentence_where_some_pairs_are_seen():
    def told(number, **changes):
        _, words = first_box(scores=(replace(FINAL, unseen=number),), **changes)
        return "new sentences" in words

    assert told(estimate(0.75))
    assert told(CONSTANT)
    # All pairs are unseen, or nobody knows which.
    assert not told(estimate(0.5), unseen=750)
    assert not told(estimate(0.5), train=0)


def test_a_model_predicts_better_or_worse_only_where_the_interval_excludes_0():
    one = ProbeDifference(step="final", first="a", second="b", pearson=estimate(-0.25, half=0.0625))
    (told,) = bullets(differences=(one,))
    assert told == "a predicts worse than b: difference of Pearson −0.25 [−0.31, −0.19]."
    (better,) = bullets(differences=(replace(one, pearson=estimate(0.25, half=0.0625)),))
    assert better == "a predicts better than b: difference of Pearson 0.25 [0.19, 0.31]."
    (unclear,) = bullets(differences=(replace(one, pearson=estimate(0.25, half=0.5)),))
    assert unclear.startswith("a is not shown to predict better or worse than b: difference of ")
    (gone,) = bullets(differences=(replace(one, pearson=CONSTANT),))
    assert gone.endswith("difference of Pearson undefined (one side is constant).")


def test_only_differences_of_the_last_step_are_told_and_the_rest_counted():
    one = findings().differences[0]
    assert bullets(differences=(one,)) == []
    many = tuple(
        replace(one, step="final", first=f"m{place}") for place in range(MOST_DIFFERENCES + 3)
    )
    told = bullets(differences=many)
    assert len(told) == MOST_DIFFERENCES + 1
    assert told[-1] == "3 more in the table of differences."


def renamed(*names):
    """The findings with other names of models, as many as there are."""
    deep, shallow = names
    found = findings()
    named = {DEEP: deep, SHALLOW: shallow}
    return replace(
        found,
        models=tuple(replace(one, name=named[one.name]) for one in found.models),
        scores=tuple(replace(one, model=named[one.model]) for one in found.scores),
        layers=tuple(replace(one, model=named[one.model]) for one in found.layers),
        differences=(replace(found.differences[-1], first=deep, second=shallow),),
        files=(),
    )


def printed(found):
    result = build_comparison(found)
    cards = tuple(replace(card, truncated=0) for card in result.manifest.models)
    manifest = replace(result.manifest, models=cards)
    return to_text(page_of(replace(result, manifest=manifest)).brief, width=80)


def test_a_terminal_has_at_most_25_lines_for_two_models_and_for_many():
    found = renamed("deep", "shallow")
    text = printed(found)
    assert len(text.splitlines()) <= 25
    assert "deep     final  .80 [.77, .83]  .79 [.76, .82]  .02 [.00, .03]" in text
    one = printed(replace(found, models=found.models[:1], scores=found.scores[:5], differences=()))
    assert "deep   raw          .69" in one
    assert "\n       mlp          .70" in one
    models = tuple(replace(found.models[0], name=f"m{place}") for place in range(9))
    scores = tuple(replace(FINAL, model=one.name) for one in models)
    many = printed(replace(found, models=models, scores=scores, differences=()))
    assert len(many.splitlines()) == 12
    assert "m7     final" in many
