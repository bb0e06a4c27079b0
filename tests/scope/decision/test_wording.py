"""The sentences of a verdict, word for word."""

from dataclasses import replace

import pytest
from made_up_cases import SOFT_SCOPE, make_case, strangers

from scope.decision.case import NO_POWER_KNOWN, Conditions
from scope.decision.judging import finding_of
from scope.decision.wording import changes, sentence, warnings
from scope.records import Agreement, ControlCheck, Estimate, ModelScore, PairedTest, Undefined


@pytest.fixture(scope="module")
def plain():
    case = make_case(*strangers(0, controls=4, items=100))
    return finding_of(case, alpha=0.05, soft_scope=SOFT_SCOPE, seed=0)


def standings(suspect, *controls):
    names = ("theirs", *(f"control {number}" for number in range(1, len(controls) + 1)))
    return tuple(
        ModelScore(model=name, value=value)
        for name, value in zip(names, (suspect, *controls), strict=True)
    )


def paired(value, low, high):
    return PairedTest(
        control="control 2",
        difference=Estimate(value=value, low=low, high=high, n=100, method="made up"),
        p_more=0.5,
        p_less=0.5,
    )


def said(finding, decision, reasons=()):
    return sentence(finding, decision, reasons, 0.0385, terms())


def terms(needed=4, available=None):
    return Conditions(alpha=0.05, needed=needed, available=available)


def test_related_says_than_whom_and_how_often_that_happens_by_chance(plain):
    found = replace(plain, standings=standings(3.0, 1.0, 2.0, -1.0), shared=97)
    assert said(found, "related") == (
        "theirs is related to ours: on the 97 questions that both answered it is more similar "
        "to ours than each of 3 controls, which are assumed to be independent of ours. For a model "
        "that is exchangeable with the controls the probability of this is at most 0.038, where "
        "0.05 is allowed."
    )
    one_above = replace(found, standings=standings(1.0, 1.0, 0.0, -1.0))
    assert "than 2 of 3 controls, which" in said(one_above, "related")


def test_not_related_says_how_many_are_as_like_and_what_would_have_been_found(plain):
    assert said(cleared(plain), "not related") == (
        "theirs is not related to ours, on the assumption that it was not trained on answers of "
        "ours. The evidence: on 97 questions 2 of 3 controls are at least as similar to ours "
        "(p = 0.75 by rank), and a suspect that took 25% of its answers from ours would have a "
        "significant rank. This verdict has no stated error rate: how often a related model is "
        "cleared is unknown."
    )


def cleared(plain):
    placed = standings(0.0, 1.0, 2.0, -1.0)
    return replace(plain, standings=placed, detectable=0.25, shared=97, p_value=0.75)


def test_without_the_assumption_it_is_said_what_is_ruled_out():
    case = make_case(*strangers(0, controls=4, items=100))
    found = cleared(finding_of(case, alpha=0.05, soft_scope=SOFT_SCOPE, seed=0))
    told = said(found, "undecided", (NO_POWER_KNOWN,))
    assert told.startswith(
        "Whether theirs is derived from ours cannot be decided: it may have been trained"
    )
    assert "There is no evidence of reuse of its weights: on 97 questions" in told
    assert told.endswith("would have a significant rank.")
    assert "no evidence of reuse" not in said(found, "undecided", ("another",))


def test_undecided_gives_its_reasons(plain):
    assert said(plain, "undecided", ("one thing", "another")) == (
        "Whether theirs is derived from ours cannot be decided: one thing; another."
    )


def advice(finding, decision="undecided", needed=4, available=None, reasons=("any",)):
    return changes(finding, decision, reasons, terms(needed, available))


def test_what_would_change_it_follows_from_what_stands_in_its_way(plain):
    assert advice(replace(plain, unusable=("it refused",))) == (
        "Answers to more of the questions, or answers that are better than guesses.",
    )
    assert advice(replace(plain, unusable=("the reference is degenerate: it refused",))) == (
        "A reference whose answers differ, or other questions.",
    )
    assert advice(plain, needed=19) == ("15 more independent controls.",)
    assert advice(replace(plain, paired=None)) == (
        "Questions that the suspect and the reference both answer.",
    )
    unlike = tuple(replace(one, comparable=False) for one in plain.controls)
    (told,) = advice(replace(plain, controls=unlike))
    assert told.startswith("2 more independent controls of a skill from 0.")
    decided = fit(plain, paired(1.0, 0.5, 1.5))
    alike = replace(decided.agreement, independent=1.5)
    assert advice(replace(decided, agreement=alike)) == (
        "Controls of other origins, which are less similar to each other.",
    )
    assert advice(decided, reasons=(NO_POWER_KNOWN,)) == (
        "If it is known not to be trained on answers of the reference: --assume-no-label-training.",
    )
    first, second = advice(decided, "related")
    assert "One more independent model that is as similar to ours as theirs is" in first
    assert "control 2" in first
    assert "third model" in second
    first, second = advice(decided, "not related")
    assert "where control 2 and the other controls do not" in first
    assert "derived from ours" in second


def fit(plain, compared):
    """A finding on fit evidence, with such a paired test."""
    agreement = Agreement(suspect=0.1, controls=plain.standings[1:], independent=4.0, p_value=0.5)
    controls = tuple(replace(one, comparable=True) for one in plain.controls)
    return replace(plain, paired=compared, agreement=agreement, controls=controls, uninformative=())


NOT_ON_THESE = "These data cannot decide it: use other data, or more independent controls."


@pytest.mark.parametrize(
    ("difference", "told"),
    [
        # A standard error of 1, and 1.645 of them needed at 0.05: (1.645 / 0.5)² = 10.8 times 100.
        ((0.5, 0.5 - 1.96, 0.5 + 1.96), "About 1090 questions in all instead of 100."),
        ((-1.0, -2.96, 0.96), "About 280 questions in all instead of 100."),
        # As sure as can be by more of the same already.
        ((1.7, -0.26, 3.66), NOT_ON_THESE),
        ((0.0, -1.96, 1.96), NOT_ON_THESE),
        ((0.1, -1.86, 2.06), NOT_ON_THESE),
        ((0.5, 0.5, 0.5), NOT_ON_THESE),
    ],
)
def test_a_number_of_questions_is_advised_where_the_data_hold_as_many(plain, difference, told):
    assert advice(fit(plain, paired(*difference)), available=2000) == (told,)


def test_no_more_questions_are_advised_than_the_data_hold(plain):
    unsure = fit(plain, paired(0.5, 0.5 - 1.96, 0.5 + 1.96))
    assert advice(unsure, available=1000) == (NOT_ON_THESE,)
    assert advice(unsure, available=100) == (
        "These data cannot decide it: all of their 100 questions were asked.",
    )


def test_every_flag_of_a_control_is_a_warning(plain):
    skill = Undefined(reason="any")
    controls = (
        ControlCheck(model="a", skill=skill, given=1.0, flags=("one", "two")),
        ControlCheck(model="b", skill=skill, given=1.0),
        ControlCheck(model="c", skill=skill, given=1.0, flags=("three",)),
    )
    assert warnings(replace(plain, controls=controls)) == (
        "control a: one",
        "control a: two",
        "control c: three",
    )
