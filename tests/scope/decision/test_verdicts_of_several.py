"""What is concluded with several references."""

import pytest
from made_up_cases import (
    SOFT_SCOPE,
    make_case,
    strangers,
    taking,
    with_suspect,
)

from scope.decision.judging import finding_of
from scope.decision.verdicts import conclude
from scope.evidence.answers import NOT_GIVEN
from scope.statistics import holm
from scope.statistics.conformal import controls_needed


def test_several_references_are_corrected_by_holm_and_take_more_controls():
    rows, gold = strangers(2, controls=40)
    share = 0.05 / 2
    findings = [
        finding_of(
            make_case(with_suspect(rows, rows[0] if own else rows[1]), gold, reference=name),
            alpha=share,
            soft_scope=SOFT_SCOPE,
            seed=0,
        )
        for name, own in (("first", False), ("second", True))
    ]
    first, second = conclude(findings, 0.05)
    assert [one.reference for one in (first, second)] == ["first", "second"]
    assert (first.p_adjusted, second.p_adjusted) == holm([first.p_value, second.p_value])
    assert first.controls_needed == second.controls_needed == controls_needed(share) == 39
    assert second.p_adjusted == pytest.approx(2 / 41)
    assert (second.decision, first.decision == "related") == ("related", False)


def test_with_two_references_as_many_controls_as_one_needs_are_too_few():
    rows, gold = strangers(2, controls=20)
    one = finding_of(make_case(taking(rows, 1.0), gold), alpha=0.025, soft_scope=SOFT_SCOPE, seed=0)
    assert [found.decision for found in conclude([one], 0.05)] == ["related"]
    for found in conclude([one, one], 0.05):
        assert found.decision == "undecided"
        assert found.reasons == (
            "20 controls are too few for an error rate of 0.05: at least 39 are needed, 19 more",
        )


def test_a_suspect_without_a_rank_against_one_reference_counts_there_as_unlike_it():
    rows, gold = strangers(2, controls=40)
    case = make_case(taking(rows, 1.0), gold)
    copy = finding_of(case, alpha=0.025, soft_scope=SOFT_SCOPE, seed=0)
    silent = finding_of(
        make_case(with_suspect(rows, NOT_GIVEN), gold), alpha=0.025, soft_scope=SOFT_SCOPE, seed=0
    )
    first, second = conclude([silent, copy], 0.05)
    assert (first.p_value, first.p_adjusted, first.decision) == (None, None, "undecided")
    assert second.p_adjusted == pytest.approx(2 / 41)
    assert second.decision == "related"
