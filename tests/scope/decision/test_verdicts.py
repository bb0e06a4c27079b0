"""What is concluded, and what is not."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from made_up_cases import (
    SOFT_SCOPE,
    judged,
    make_case,
    probabilities_of,
    strangers,
    taking,
    with_suspect,
)

from scope.decision.judging import finding_of
from scope.decision.usability import MAY_BE_RELATED
from scope.decision.verdicts import conclude
from scope.evidence.answers import NOT_GIVEN, UNKNOWN
from scope.records import ControlCheck, Estimate, Look


def in_words(place, number):
    return f"answer {number} to {place}"


def test_a_copy_is_related_with_the_least_p_that_the_controls_allow():
    for controls in (19, 24):
        rows, gold = strangers(0, controls=controls)
        found = judged(make_case(taking(rows, 1.0), gold))
        assert found.decision == "related"
        assert found.p_value == found.p_adjusted == 1 / (controls + 1)
        assert found.paired.p_more < 0.01
        assert found.reasons == ()
        assert found.standings[0].value == max(one.value for one in found.standings)


@pytest.mark.parametrize("seed", range(3))
def test_a_suspect_that_took_half_of_its_answers_is_related(seed):
    rows, gold = strangers(seed)
    assert judged(make_case(taking(rows, 0.5), gold)).decision == "related"


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


def test_three_controls_cannot_decide_and_it_is_said_how_many_are_missing():
    rows, gold = strangers(0, controls=3)
    found = judged(make_case(taking(rows, 1.0), gold))
    assert (found.decision, found.p_value, found.controls_needed) == ("undecided", 0.25, 19)
    assert found.reasons == (
        "3 controls are too few for an error rate of 0.05: at least 19 are needed, 16 more",
    )
    assert found.changes == ("16 more independent controls.",)
    assert found.detectable is None


def test_controls_that_have_no_value_are_missing():
    rows, gold = strangers(0, controls=19)
    assert judged(make_case(taking(rows, 1.0), gold)).decision == "related"
    rows[2:4] = NOT_GIVEN
    found = judged(make_case(taking(rows, 1.0), gold))
    assert found.reasons[0].startswith("17 usable controls of 19 are too few")
    assert found.reasons[0].endswith("19 are needed, 2 more")


def clear_stranger(**options):
    """An independent suspect that is among the least like the reference of 25 controls."""
    rows, gold = strangers(2, items=1200)
    return make_case(rows, gold, **options)


def test_a_clearly_independent_suspect_is_not_related():
    for options in ({}, {"words": in_words}):
        found = judged(clear_stranger(**options))
        assert found.decision == "not related", found.reasons
        assert found.reasons == ()
        assert found.p_value > 0.25
        assert found.paired.p_less <= 0.05
        assert found.detectable <= 0.5


def test_it_is_not_related_where_no_right_answer_is_known():
    rows, gold = strangers(2, items=1200)
    found = judged(make_case(rows, np.full_like(gold, UNKNOWN)))
    assert found.decision == "not related", found.reasons


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("words", [None, in_words])
def test_one_that_refuses_guesses_or_never_varies_is_never_cleared(seed, words):
    rows, gold = strangers(seed)
    generator = np.random.default_rng(seed)
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


def test_why_nothing_can_be_said_comes_first():
    rows, gold = strangers(0, controls=3)
    found = judged(make_case(with_suspect(rows, 2), gold))
    assert found.decision == "undecided"
    assert found.reasons == ("it gives the same answer to every question",)
    assert found.changes == (
        "Answers to more of the questions, or answers that are better than guesses.",
    )


def test_a_reference_without_mistakes_leaves_nothing_to_decide_by():
    rows, gold = strangers(0)
    rows[0] = gold
    found = judged(make_case(rows, gold))
    assert (found.decision, found.p_value, found.p_adjusted) == ("undecided", None, None)
    assert found.reasons == (
        "its answers give no evidence, for example because the reference makes no mistakes",
    )


@cache
def cleared():
    return finding_of(clear_stranger(), alpha=0.05, soft_scope=SOFT_SCOPE, seed=0)


def finding(**changes):
    return replace(cleared(), **changes)


def reasons(**changes):
    (found,) = conclude([finding(**changes)], 0.05, assume_no_label_training=True)
    assert (found.decision == "not related") == (found.reasons == ())
    return found.decision, found.reasons


def test_each_thing_that_forbids_to_clear_a_suspect_does_so_alone():
    plain = finding()
    closest = plain.paired.control
    nearly = replace(plain.paired, p_less=0.051)
    flagged = tuple(
        replace(one, flags=(MAY_BE_RELATED,)) if one.model == closest else one
        for one in plain.controls
    )
    cases = {
        "any reason why it cannot be": {"uninformative": ("any reason why it cannot be",)},
        "too high to clear it (p = 0.19; at least 0.25": {"standings": placed(plain.standings, 4)},
        "not significantly less similar to the reference than": {"paired": nearly},
        f"significant rank, because of the control `{closest}`": {
            "controls": flagged,
            "detectable": None,
        },
        "not even a copy of the reference would": {"detectable": None},
        "less than 51% of its answers": {"detectable": 0.51},
    }
    for reason, changes in cases.items():
        decision, given = reasons(**changes)
        assert decision == "undecided"
        assert len(given) == 1
        assert reason in given[0]
    surely = replace(plain.paired, p_less=0.05)
    assert reasons(standings=placed(plain.standings, 6), detectable=0.5, paired=surely) == (
        "not related",
        (),
    )


def placed(standings, above):
    """The suspect behind so many of its controls."""
    values = sorted((one.value for one in standings[1:]), reverse=True)
    return (replace(standings[0], value=values[above - 1]), *standings[1:])


def test_another_control_that_may_be_related_forbids_nothing():
    plain = finding()
    other = tuple(
        one
        if one.model == plain.paired.control
        else replace(one, flags=(MAY_BE_RELATED, "another"))
        for one in plain.controls
    )
    assert reasons(controls=other) == ("not related", ())


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
    plain = finding()
    unsure = replace(plain.paired, p_more=0.051)
    plain = replace(plain, agreement=replace(plain.agreement, p_value=0.01))
    (found,) = conclude([replace(plain, p_value=0.04, paired=unsure)], 0.05)
    assert found.decision == "undecided"
    assert found.reasons == (
        "it is significantly more similar to the reference than independent models of its skill "
        f"(p = 0.04), but its lead over the control `{unsure.control}` is not significant (paired "
        "test over the questions, p = 0.051)",
    )
    sure = replace(plain.paired, p_more=0.05)
    (found,) = conclude([replace(plain, p_value=0.05, paired=sure)], 0.05)
    assert found.decision == "related"


def test_what_stands_out_is_told_the_corrected_p_value_where_it_alone_forbids():
    plain = finding()
    agreement = replace(plain.agreement, p_value=0.01)
    out = replace(plain, p_value=0.06, agreement=agreement, uninformative=())
    assert _reasons_among_two(out) == (
        "it is significantly more similar to the reference than independent models of its skill "
        "(p = 0.06), but not after Holm's correction over the references (p = 0.12)",
    )
    by_agreement = replace(out, agreement=replace(agreement, p_value=0.13))
    (told,) = _reasons_among_two(by_agreement)
    assert told.startswith(
        "its rank among the controls is significant (p = 0.06), but its agreement"
    )


def _reasons_among_two(found):
    """Why it is undecided beside another reference, of which it is as unlike as can be."""
    return conclude([found, replace(found, p_value=1.0)], 0.1)[0].reasons


def test_no_reference_is_no_verdict():
    assert conclude([], 0.05) == ()


def test_the_order_of_the_controls_does_not_change_the_verdict():
    rows, gold = strangers(6)
    for changed in (rows, taking(rows, 0.2), taking(rows, 1.0)):
        verdicts = set()
        for seed in range(3):
            order = np.random.default_rng(seed).permutation(25)
            case = make_case(
                changed[[0, 1, *(order + 2)]],
                gold,
                controls=tuple(f"control {place + 1}" for place in order),
            )
            found = judged(case)
            verdicts.add((found.decision, found.sentence, found.reasons, found.changes))
        assert len(verdicts) == 1


def test_a_verdict_repeats_what_it_rests_on():
    rows, gold = strangers(0)
    rows[1, :30] = NOT_GIVEN
    looks = (Look(asked=300, p_value=0.5),)
    found = judged(make_case(rows, gold, queries=17), looks=looks)
    assert (found.suspect, found.reference, found.alpha) == ("theirs", "ours", 0.05)
    assert (found.shared, found.queries, found.probes) == (270, 17, "0123456789abcdef")
    assert (found.looks, found.p_rank) == (looks, 0.5)
    assert found.p_value == max(0.5, found.agreement.p_value)
    assert isinstance(found.skill, Estimate)
    assert found.skill.value == pytest.approx((rows[1] == gold)[30:].mean())
    assert all(isinstance(one, ControlCheck) for one in found.controls)
