"""Why a verdict is as it is, in words, and what the state of the controls allows."""

from dataclasses import replace

import numpy as np
import pytest
from made_up_cases import (
    cleared,
    concluded,
    judged,
    make_case,
    placed,
    strangers,
    taking,
)

from scope.jobs.reuse.verdicts import NO_POWER_KNOWN
from scope.records import Estimate, PairedTest


def test_too_few_comparable_controls_decide_nothing_either_way():
    rows, gold = strangers(0, controls=19)
    few = gold.copy()
    # Ten of the controls know nearly everything.
    rows[2:12] = np.where(np.random.default_rng(0).random((10, 300)) < 0.97, few, rows[2:12])
    for suspect in (rows, taking(rows, 1.0)):
        found = judged(make_case(suspect, gold))
        assert found.decision == "undecided"
        assert any("are comparable with it" in one for one in found.reasons), found.reasons
        assert f"of {found.comparable_needed}" not in found.sentence
        assert found.comparable < found.comparable_needed == 10


@pytest.mark.parametrize("share", [0.7, 1.0])
def test_controls_of_one_family_decide_nothing_either_way(share):
    rows, gold = strangers(1, controls=24, items=600)
    kept = np.random.default_rng(0).random((24, 600)) < share
    rows[2:] = np.where(kept, rows[2], rows[2:])
    for suspect in (rows, taking(rows, 1.0)):
        found = judged(make_case(suspect, gold))
        assert found.decision == "undecided"
        assert found.agreement is None or found.agreement.independent < 4


def test_without_the_assumption_nobody_is_called_not_related():
    found = concluded(assuming=False)
    assert found.decision == "undecided"
    assert found.reasons == (NO_POWER_KNOWN,)
    assert "There is no evidence of reuse of its weights: on" in found.sentence
    assert not found.assume_no_label_training
    assert concluded().assume_no_label_training


def test_a_degenerate_reference_decides_nothing_and_is_named_first():
    rows, gold = strangers(0)
    rows[0] = np.where(np.arange(300) < 290, 2, rows[0])
    found = judged(make_case(taking(rows, 1.0), gold))
    assert found.decision == "undecided"
    assert any(
        "the reference is degenerate: it answers `option 3` to 29" in one for one in found.reasons
    )


def test_related_names_the_controls_and_the_error_rate():
    changes = {"p_rank": 0.0385, "p_agreement": 0.01, "p_paired": 0.01, "shared": 97}
    sentence = concluded(standings=placed(0), **changes).sentence
    assert (
        "on the 97 questions that both answered it is more similar to ours than each of" in sentence
    )
    assert sentence.endswith("the probability of this is at most 0.038, where 0.05 is allowed.")
    one_above = concluded(standings=placed(1), **changes)
    assert "than 24 of 25 controls, which" in one_above.sentence


def test_not_related_names_the_rank_and_what_would_have_been_detected():
    sentence = concluded(standings=placed(12), detectable=0.25, shared=97, p_rank=0.5).sentence
    assert "on 97 questions 12 of 25 controls are at least as similar to ours (p = 0.5" in sentence
    assert "a suspect that took 25% of its answers from ours would have a significant" in sentence
    assert "This verdict has no stated error rate" in sentence


def test_what_would_change_it_follows_from_the_obstacle():
    verdict = cleared().verdict
    unlike = tuple(replace(check, comparable=False) for check in verdict.controls)
    of_a_reference = "the reference is degenerate: it refused"
    cases = (
        ({"unusable": ("it refused",)}, "Answers to more of the questions"),
        ({"unusable": (of_a_reference,)}, "A reference whose answers differ"),
        ({"different_controls": 4}, "15 more independent controls."),
        ({"paired": None}, "Questions that the suspect and the reference both answer."),
        ({"controls": unlike}, "10 more independent controls of a skill from 0."),
        ({"agreement": replace(verdict.agreement, independent=1.5)}, "Controls of other origins"),
        ({"assuming": False}, "If it is known not to be trained on answers of the reference"),
    )
    for obstacle, beginning in cases:
        (change,) = concluded(**obstacle).changes
        assert change.startswith(beginning)
    related = concluded(p_rank=0.01, p_agreement=0.01, p_paired=0.01)
    assert f"the most similar control is {verdict.paired.control}." in related.changes[0]
    assert f"where {verdict.paired.control} and the other" in concluded().changes[0]


NOT_ON_THESE = "Other data, or more independent controls: these questions are too few."


def unsure(value, low, high):
    return PairedTest(
        control=cleared().verdict.paired.control,
        difference=Estimate(value=value, low=low, high=high, n=1200, method="made up"),
        p_more=0.5,
        p_less=0.5,
    )


@pytest.mark.parametrize(
    ("difference", "available", "change"),
    [
        # A standard error of 1, and 1.645 of them needed at 0.05: (1.645 / 0.5)² = 10.8 times 1200.
        ((0.5, -1.46, 2.46), 20_000, "About 12,990 questions in all instead of 1,200."),
        ((-1.0, -2.96, 0.96), 20_000, "About 3,250 questions in all instead of 1,200."),
        # More of the same cannot make it any more certain.
        ((1.7, -0.26, 3.66), 20_000, NOT_ON_THESE),
        ((0.0, -1.96, 1.96), 20_000, NOT_ON_THESE),
        ((0.5, 0.5, 0.5), 20_000, NOT_ON_THESE),
        # No more are advised than the data have.
        ((0.5, -1.46, 2.46), 10_000, NOT_ON_THESE),
        (
            (0.5, -1.46, 2.46),
            1200,
            "Other data, or more independent controls: all 1,200 questions were asked.",
        ),
    ],
)
def test_a_number_of_questions_is_advised_if_the_data_have_as_many(difference, available, change):
    assert concluded(paired=unsure(*difference), available=available).changes == (change,)


def test_the_p_value_of_the_verdict_is_the_greater_of_rank_and_agreement():
    for rank, agreement in ((0.01, 0.04), (0.04, 0.01)):
        found = concluded(p_rank=rank, p_agreement=agreement, p_paired=0.01)
        assert (found.p_value, found.p_rank, found.decision) == (0.04, rank, "related")


def test_a_rank_that_agreement_does_not_confirm_accuses_nobody():
    found = concluded(p_rank=0.04, p_agreement=0.06)
    assert (found.decision, found.p_value) == ("undecided", 0.06)
    assert found.reasons[0].startswith(
        "its rank among the controls is significant (p = 0.04), but its agr"
    )
