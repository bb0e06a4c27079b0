"""What a probe answers first: signs follow intervals, and every number is that of the findings."""

from dataclasses import replace

import pytest
from made_up_probe_comparison import build_comparison, estimate, findings

from reports.blocks import Bullets, Callout, within
from reports.prose import plain
from reports.renderers.terminal import to_text
from scope.jobs.pages import page_of
from scope.jobs.probe.page import MOST_DIFFERENCES, answer_section
from scope.records import ProbeDifference, Undefined

CONSTANT = Undefined(reason="one side is constant")
RAW, MLP, *_, FINAL = findings().scores[:5]


def first_box(**changes):
    """The frame and the words of the first model's box."""
    section = answer_section(replace(findings(), **changes))
    box = next(block for block in within(section.blocks) if isinstance(block, Callout))
    return box.kind, " ".join(plain(part.text) for part in box.blocks)


def bullets(**changes):
    section = answer_section(replace(findings(), **changes))
    return [
        plain(item)
        for block in section.blocks
        if isinstance(block, Bullets)
        for item in block.items
    ]


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


@pytest.mark.parametrize(
    ("value", "half", "claim"),
    [
        (-0.25, 0.0625, "a predicts worse than b: difference of Pearson −0.25 [−0.31, −0.19]."),
        (0.25, 0.0625, "a predicts better than b: difference of Pearson 0.25 [0.19, 0.31]."),
        (0.25, 0.5, "a is not shown to predict better or worse than b: difference of "),
        (None, None, "a is not shown to predict better or worse than b: difference of "),
    ],
)
def test_a_model_predicts_better_or_worse_only_where_the_interval_excludes_0(value, half, claim):
    number = CONSTANT if value is None else estimate(value, half=half)
    difference = ProbeDifference(step="final", first="a", second="b", pearson=number)
    (told,) = bullets(differences=(difference,))
    assert told.startswith(claim)


def test_only_differences_of_the_last_step_are_told_and_the_rest_counted():
    one = findings().differences[0]
    assert bullets(differences=(one,)) == []
    many = tuple(
        replace(one, step="final", first=f"m{place}") for place in range(MOST_DIFFERENCES + 3)
    )
    *_, more = bullets(differences=many)
    assert more == "3 more in the table of differences."


@pytest.mark.parametrize("count", [2, 9])
def test_a_terminal_has_the_answer_for_two_models_and_a_row_each_of_many(count):
    models = tuple(replace(findings().models[0], name=f"m{place}") for place in range(count))
    scores = tuple(replace(FINAL, model=model.name) for model in models)
    found = replace(findings(), models=models, scores=scores, layers=(), differences=(), files=())
    text = to_text(page_of(build_comparison(found)).brief, width=80)
    assert len(text.splitlines()) <= 25
    assert "m1     final  .80 [.77, .83]  .79 [.76, .82]" in text
    assert ("Pearson 0.80" in text) == (count == 2)
