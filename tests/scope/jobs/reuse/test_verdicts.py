"""What is concluded, and what is not."""

from dataclasses import replace

import numpy as np
import pytest
from made_up_cases import (
    SOFT_SCOPE,
    changed,
    clear_stranger,
    cleared,
    concluded,
    judged,
    make_case,
    placed,
    probabilities_of,
    strangers,
    taking,
    with_suspect,
)

from scope.jobs.reuse.answer_matrix import NOT_GIVEN, UNKNOWN
from scope.jobs.reuse.judging import finding_of
from scope.jobs.reuse.usability import MAY_BE_RELATED
from scope.jobs.reuse.verdicts import conclude
from scope.statistics import holm
from scope.statistics.conformal import controls_needed


def in_words(place, number):
    return f"answer {number} to {place}"


def test_who_took_all_or_half_of_its_answers_is_related_with_the_least_p_that_controls_allow():
    for share, controls in ((1.0, 19), (1.0, 24), (0.5, 25)):
        rows, gold = strangers(0, controls=controls)
        verdict = judged(make_case(taking(rows, share), gold))
        assert verdict.decision == "related"
        assert verdict.p_value == verdict.p_adjusted == 1 / (controls + 1)
        assert verdict.paired.p_more < 0.01
        assert verdict.reasons == ()
        assert verdict.standings[0].value == max(one.value for one in verdict.standings)


def test_it_is_related_where_no_right_answer_is_known_and_where_answers_are_words():
    rows, gold = strangers(1)
    copied, unknown = taking(rows, 1.0), np.full_like(gold, UNKNOWN)
    for case in (
        make_case(copied, unknown),
        make_case(copied, gold, words=in_words),
        make_case(copied, unknown, words=in_words),
        make_case(copied, gold, probabilities=probabilities_of(copied)),
    ):
        found = judged(case)
        assert (found.decision, found.p_value) == ("related", 1 / 26)


def test_a_clearly_independent_suspect_is_not_related():
    rows, gold = strangers(2, items=1200)
    unknown = make_case(rows, np.full_like(gold, UNKNOWN))
    for case in (clear_stranger(words=in_words), unknown, None):
        found = judged(case) if case else concluded()
        assert found.decision == "not related", found.reasons
        assert found.reasons == ()
        assert found.paired.p_less <= 0.05
        assert found.detectable <= 0.5
    assert found.p_value > 0.25


@pytest.mark.parametrize("words", [None, in_words])
def test_one_that_refuses_guesses_or_never_varies_is_never_cleared(words):
    rows, gold = strangers(0)
    generator = np.random.default_rng(0)
    answers = {
        "refuses": np.where(np.arange(300) < 149, rows[1], NOT_GIVEN),
        "answers nothing": NOT_GIVEN,
        "guesses": generator.integers(0, 5, size=300),
        "never varies": 3,
        "says what nobody says": 5,
    }
    for what, given in answers.items():
        case = make_case(with_suspect(rows, given), gold, options=6, words=words)
        assert judged(case).decision != "not related", what


def test_a_reference_without_mistakes_leaves_nothing_to_decide_by():
    rows, gold = strangers(0)
    rows[0] = gold
    found = judged(make_case(rows, gold))
    assert (found.decision, found.p_value, found.p_adjusted) == ("undecided", None, None)
    assert found.reasons == (
        "its answers give no evidence, for example because the reference makes no mistakes",
    )


def reasons(**changes):
    found = concluded(**changes)
    assert (found.decision == "not related") == (found.reasons == ())
    return found.decision, found.reasons


def flagged(flag, *, closest):
    """The controls, with a flag on the deciding one or on all others."""
    verdict = cleared().verdict
    return tuple(
        replace(check, flags=(flag,))
        if (check.model == verdict.paired.control) == closest
        else check
        for check in verdict.controls
    )


def test_each_thing_that_forbids_to_clear_a_suspect_does_so_alone():
    control = cleared().verdict.paired.control
    cases = {
        "any reason why it cannot be": {"uninformative": ("any reason why it cannot be",)},
        "(p = 0.19 by rank; to be called not related it needs at least 0.25": {
            "standings": placed(4)
        },
        "not significantly less similar to the reference than": {"p_paired": 0.051},
        f"significant rank, because of the control `{control}`": {
            "controls": flagged(MAY_BE_RELATED, closest=True),
            "detectable": None,
        },
        "not even a copy of the reference would": {"detectable": None},
        "less than 51% of its answers": {"detectable": 0.51},
    }
    for reason, changes in cases.items():
        decision, texts = reasons(**changes)
        assert decision == "undecided"
        assert len(texts) == 1
        assert reason in texts[0]
    cleared_still = reasons(standings=placed(6), detectable=0.5, p_paired=0.05)
    assert cleared_still == ("not related", ())
    another = flagged(MAY_BE_RELATED, closest=False)
    assert reasons(controls=another) == ("not related", ())


def test_a_control_that_was_made_from_the_reference_forbids_to_clear_and_is_named():
    rows, gold = strangers(4, items=600)
    rows[5] = np.where(np.random.default_rng(0).random(600) < 0.7, rows[0], rows[5])
    found = judged(make_case(rows, gold))
    assert found.decision == "undecided"
    assert found.paired.control == "control 4"
    assert any(one.endswith("because of the control `control 4`") for one in found.reasons)
    (warning,) = (one for one in found.warnings if one.startswith("likely siblings of ours"))
    assert "control 4 (its answers are far more similar to" in warning
    assert warning.endswith("--exclude-control 'control 4'")


def test_a_small_p_value_is_not_enough_where_other_questions_could_say_otherwise():
    found = concluded(p_rank=0.04, p_agreement=0.01, p_paired=0.051)
    assert found.decision == "undecided"
    assert found.reasons == (
        "it is significantly more similar to the reference than independent models of its skill "
        f"(p = 0.04), but its lead over the control `{found.paired.control}` is not significant "
        "(paired test over the questions, p = 0.051)",
    )
    assert concluded(p_rank=0.05, p_agreement=0.01, p_paired=0.05).decision == "related"


def test_what_stands_out_is_told_the_corrected_p_value_where_it_alone_forbids():
    assert _reasons_among_two(p_rank=0.06, p_agreement=0.01) == (
        "it is significantly more similar to the reference than independent models of its skill "
        "(p = 0.06), but not after Holm's correction over the references (p = 0.12)",
    )


def _reasons_among_two(**changes):
    """Why it is undecided beside another reference that it does not resemble at all."""
    other = changed(cleared(), p_rank=1.0)
    return conclude([changed(cleared(), **changes), other], 0.1)[0].reasons


def finding(rows, gold, **names):
    """The numbers against one of two references, which share an error rate of 0.05."""
    case = make_case(rows, gold, **names)
    return finding_of(case, alpha=0.025, soft_scope=SOFT_SCOPE, seed=0)


def test_several_references_are_corrected_by_holm_and_take_more_controls():
    rows, gold = strangers(2, controls=40)
    findings = [
        finding(with_suspect(rows, rows[place]), gold, reference=name)
        for name, place in (("first", 1), ("second", 0))
    ]
    first, second = conclude(findings, 0.05)
    assert [one.reference for one in (first, second)] == ["first", "second"]
    assert (first.p_adjusted, second.p_adjusted) == holm([first.p_value, second.p_value])
    assert first.controls_needed == second.controls_needed == controls_needed(0.025) == 39
    assert second.p_adjusted == pytest.approx(2 / 41)
    assert (second.decision, first.decision == "related") == ("related", False)


def test_a_suspect_without_a_rank_against_one_reference_counts_there_as_unlike_it():
    rows, gold = strangers(2, controls=40)
    copy, silent = finding(taking(rows, 1.0), gold), finding(with_suspect(rows, NOT_GIVEN), gold)
    first, second = conclude([silent, copy], 0.05)
    assert (first.p_value, first.p_adjusted, first.decision) == (None, None, "undecided")
    assert second.p_adjusted == pytest.approx(2 / 41)
    assert second.decision == "related"


def test_controls_that_have_no_value_are_missing():
    rows, gold = strangers(0, controls=19)
    assert judged(make_case(taking(rows, 1.0), gold)).decision == "related"
    rows[2:4] = NOT_GIVEN
    found = judged(make_case(taking(rows, 1.0), gold))
    assert found.reasons[0].startswith("17 usable controls of 19 are too few")
    assert found.reasons[0].endswith("19 are needed, 2 more")


def test_with_two_references_as_many_controls_as_one_needs_are_too_few():
    rows, gold = strangers(2, controls=20)
    copy = finding(taking(rows, 1.0), gold)
    assert [verdict.decision for verdict in conclude([copy], 0.05)] == ["related"]
    for verdict in conclude([copy, copy], 0.05):
        assert verdict.decision == "undecided"
        assert verdict.reasons == (
            "20 controls are too few for an error rate of 0.05: at least 39 are needed, 19 more",
        )
