"""What is concluded, and what is not, with its reasons in words."""

import numpy as np
import pytest
from made_up_cases import (
    SOFT_SCOPE,
    changed,
    cleared,
    concluded,
    judged,
    make_case,
    probabilities_of,
    strangers,
    taking,
    with_derivatives,
    with_suspect,
)

from scope.jobs.reuse.judging import finding_of
from scope.jobs.reuse.pool import NOT_GIVEN, UNKNOWN
from scope.jobs.reuse.verdicts import conclude
from scope.statistics.between_models import controls_needed
from scope.statistics.paired import holm


def in_words(place, number):
    return f"answer {number} to {place}"


@pytest.mark.parametrize(("share", "controls"), [(1.0, 5), (1.0, 19), (0.6, 24)])
def test_who_took_all_or_most_of_its_answers_is_related_with_the_least_p(share, controls):
    rows, gold = strangers(0, controls=controls)
    verdict = judged(make_case(taking(rows, share), gold))
    assert verdict.decision == "related"
    assert verdict.p_rank == 2 / ((controls + 2) * (controls + 1))
    assert verdict.reasons == ()
    assert "none of the" in verdict.sentence
    assert verdict.standings[0].value == max(score.value for score in verdict.standings)


def test_it_is_related_where_no_right_answer_is_known_and_where_answers_are_words():
    rows, gold = strangers(1)
    copied, unknown = taking(rows, 1.0), np.full_like(gold, UNKNOWN)
    for case in (
        make_case(copied, unknown),
        make_case(copied, gold, words=in_words),
        make_case(copied, unknown, words=in_words),
        make_case(copied, gold, probabilities=probabilities_of(copied)),
    ):
        verdict = judged(case)
        assert (verdict.decision, verdict.p_rank) == ("related", 2 / (27 * 26))


def test_an_independent_suspect_is_not_related_beside_derivatives_alone():
    verdict = concluded()
    assert (verdict.decision, verdict.reasons) == ("not related", ())
    assert verdict.sentence == (
        "theirs is not a derivative of ours like tuned 1 and 18 others: it answers 49 % of 300 "
        "questions as ours does, the 19 derivatives 74 to 81 %; none of them is as different. How "
        "sure? A derivative like them would look this different in at most 1 test of 20."
    )
    alone = concluded(derivatives=(), p_derivative=None)
    assert alone.decision == "undecided"
    assert alone.sentence.startswith(
        "No sign that theirs is related to ours, but it is not ruled out: How sure? Not decided: "
    )
    assert alone.changes == (
        "To rule a relation out, name 19 models made from ours, such as fine-tuned or distilled "
        "ones (--derivative); with 9 a wrong “not related” comes up in 1 test of 10 (--alpha "
        "0.1).",
    )


def test_a_suspect_less_like_than_derivatives_and_more_than_strangers_is_of_neither_kind():
    rows, gold = strangers(0, controls=38, items=600)
    verdict = judged(with_derivatives(taking(rows, 0.3), gold, share=0.8))
    assert verdict.decision == "of neither kind"
    assert verdict.p_value <= 0.05
    assert "more like ours than unrelated models are, but less than derivatives like tuned 1" in (
        verdict.sentence
    )
    assert "the 19 derivatives " in verdict.sentence


@pytest.mark.parametrize("words", [None, in_words])
def test_one_that_refuses_guesses_or_never_varies_is_never_cleared(words):
    rows, gold = strangers(0, controls=25)
    generator = np.random.default_rng(0)
    answers = {
        "refuses": np.where(np.arange(300) < 149, rows[1], NOT_GIVEN),
        "answers nothing": NOT_GIVEN,
        "guesses": generator.integers(0, 5, size=300),
        "never varies": 3,
    }
    derivatives = with_derivatives(rows, gold, words=words).derivatives
    for kind, given in answers.items():
        case = make_case(
            with_suspect(rows[:-19], given), gold, words=words, derivatives=derivatives
        )
        assert judged(case).decision == "undecided", kind


def test_a_reference_without_mistakes_leaves_nothing_to_decide_by():
    rows, gold = strangers(0)
    rows[0] = gold
    verdict = judged(make_case(rows, gold))
    assert (verdict.decision, verdict.p_value, verdict.p_adjusted) == ("undecided", None, None)
    assert verdict.reasons == (
        "its answers give no evidence, for example because the reference makes no mistakes",
    )


NONE_KNOWN = "without known derivatives of ours a relation cannot be ruled out"


@pytest.mark.parametrize(
    ("changes", "reasons", "change"),
    [
        ({"unusable": ("it refused",)}, ("it refused",), "Answers to more of the questions"),
        (
            {"unusable": ("the reference is degenerate: it refused",)},
            ("the reference is degenerate: it refused",),
            "A reference whose answers differ",
        ),
        (
            {"usable_controls": 4, "p_derivative": 0.5},
            ("4 of 25 controls can be compared; at least 5 are needed", "0 of 19 derivatives"),
            "1 more independent control (--control).",
        ),
        (
            {"p_rank": 0.04, "p_agreement": 0.06, "derivatives": (), "p_derivative": None},
            ("13 of the 350 other pairs of models are at least as similar in", NONE_KNOWN),
            "More independent controls of the suspect's skill",
        ),
        (
            {"p_rank": 0.06, "p_agreement": 0.04, "p_derivative": 0.1},
            ("20 of the 350 other pairs of models are at least as similar in", "0 of 19 deriv"),
            "At least 3 more independent controls of the suspect's skill",
        ),
        (
            {"agreement": None, "p_value": None, "p_derivative": 0.1},
            ("its agreement with the reference cannot be compared", "0 of 19 derivatives"),
            "",
        ),
        (
            {"derivatives": (), "p_derivative": None, "guesses": ("it guesses",)},
            ("there is no sign of a relation", "it guesses", NONE_KNOWN),
            "To rule a relation out, name 19 models made",
        ),
        (
            {"derivatives": cleared().verdict.derivatives[:18], "p_derivative": 1 / 19},
            (
                "there is no sign of a relation",
                "18 derivatives of ours cannot rule a relation out: at least 19",
            ),
            "To rule a relation out, name 1 more models made",
        ),
        (
            {"uninformative": ("it is far above", "it guesses")},
            ("there is no sign of a relation", "it is far above", "it guesses"),
            "",
        ),
    ],
)
def test_each_obstacle_has_its_reasons_and_what_would_change_it(changes, reasons, change):
    verdict = concluded(**changes)
    assert verdict.decision == "undecided"
    assert len(verdict.reasons) == len(reasons)
    for text, beginning in zip(verdict.reasons, reasons, strict=True):
        assert text.startswith(beginning)
    assert "".join(verdict.changes[:1]).startswith(change)


def test_few_controls_do_not_forbid_to_clear_a_suspect():
    rows, gold = strangers(2, controls=22)
    verdict = judged(with_derivatives(rows, gold))
    assert (len(verdict.controls), verdict.decision) == (3, "not related")


def test_the_p_value_of_the_verdict_is_the_greater_of_rank_and_agreement():
    for rank, agreement in ((0.01, 0.04), (0.04, 0.01)):
        verdict = concluded(p_rank=rank, p_agreement=agreement, p_derivative=0.5)
        assert (verdict.p_value, verdict.p_rank) == (0.04, rank)
        assert verdict.decision == "related"
        assert verdict.sentence.endswith("this similar in at most 1 test of 25.")


def test_a_control_that_was_made_from_the_reference_is_named_with_the_option_to_exclude_it():
    rows, gold = strangers(4, items=600)
    rows[5] = np.where(np.random.default_rng(0).random(600) < 0.7, rows[0], rows[5])
    verdict = judged(make_case(rows, gold))
    assert verdict.decision == "undecided"
    (change,) = (text for text in verdict.changes if text.startswith("Leave out controls that"))
    assert "control 4 (its answers are far more similar than" in change
    assert change.endswith("--exclude-control 'control 4'")


@pytest.mark.parametrize("share", [0.7, 1.0])
def test_controls_of_one_family_accuse_nobody(share):
    rows, gold = strangers(1, controls=24, items=600)
    kept = np.random.default_rng(0).random((24, 600)) < share
    rows[2:] = np.where(kept, rows[2], rows[2:])
    verdict = judged(make_case(rows, gold))
    assert verdict.decision == "undecided"


@pytest.mark.parametrize(
    ("excluded", "tests"), [((), "100."), ("ab", "64, even if the 2 excluded models were as simil")]
)
def test_how_sure_it_is_counts_excluded_controls_as_if_they_were_as_similar(excluded, tests):
    findings = [changed(cleared(), p_rank=0.01, p_agreement=0.001, p_derivative=0.5)]
    (verdict,) = conclude(findings, 0.05, excluded)
    assert verdict.decision == "related"
    assert f"would look this similar in at most 1 test of {tests}" in verdict.sentence


def test_what_stands_out_is_told_the_corrected_p_value_where_it_alone_forbids():
    findings = [changed(cleared(), p_rank=0.06, p_agreement=0.01, p_derivative=0.2)]
    findings.append(changed(cleared(), p_rank=1.0))
    assert conclude(findings, 0.1)[0].reasons[0] == (
        "an unrelated model would look as similar in at most 1 test of 16, but not after "
        "Holm's correction over the references: there in up to 1 test of 8"
    )


def finding(rows, gold, **names):
    """The numbers against one of two references, which share an error rate of 0.05."""
    return finding_of(make_case(rows, gold, **names), alpha=0.025, soft_scope=SOFT_SCOPE)


def test_several_references_are_corrected_by_holm_and_take_more_controls():
    rows, gold = strangers(2)
    findings = [
        finding(with_suspect(rows, rows[place]), gold, reference=name)
        for name, place in (("first", 1), ("second", 0))
    ]
    first, second = conclude(findings, 0.05)
    assert [verdict.reference for verdict in (first, second)] == ["first", "second"]
    assert (first.p_adjusted, second.p_adjusted) == holm([first.p_value, second.p_value])
    assert first.controls_needed == second.controls_needed == controls_needed(0.025) == 8
    assert (second.decision, first.decision == "related") == ("related", False)


def test_a_suspect_without_a_rank_against_one_reference_counts_there_as_unlike_it():
    rows, gold = strangers(2)
    copy, silent = finding(taking(rows, 1.0), gold), finding(with_suspect(rows, NOT_GIVEN), gold)
    first, second = conclude([silent, copy], 0.05)
    assert (first.p_value, first.p_adjusted, first.decision) == (None, None, "undecided")
    assert second.decision == "related"


def test_controls_that_have_no_value_are_missing():
    rows, gold = strangers(0, controls=5)
    assert judged(make_case(taking(rows, 1.0), gold)).decision == "related"
    rows[2:4] = NOT_GIVEN
    verdict = judged(make_case(taking(rows, 1.0), gold))
    assert verdict.reasons[0].startswith("3 of 5 controls can be compared; at least 5 ")
    assert verdict.changes[0].startswith("2 more independent controls")
