"""Whether a suspect's answers can say anything at all, and whether the controls are its equals."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from scope.decision.case import Case
from scope.decision.standing import JointStanding
from scope.evidence.answers import UNKNOWN
from scope.evidence.following import follows_nothing
from scope.evidence.shared_mistakes import SharedMistakes
from scope.evidence.skill import skill
from scope.records import ControlCheck, Estimate, Undefined
from scope.statistics import mean_estimate

LEAST_GIVEN = 0.5
"""A model that answers less than this share of the questions is not judged."""

FEWEST_SHARED = 30
"""Fewer answered questions than this are no ground for a verdict."""

GUESSING = 0.01
"""A model that follows neither its peers nor what is right better than a guesser, one in so many
of whom would seem to, is not judged."""

SKILL_GAP = 0.15
"""A control whose accuracy is this far from the suspect's is no model of its skill."""

MAY_BE_RELATED = (
    "it stands out from the other controls as like the reference: it may itself be related to it"
)
"""The flag of a control that may be no control; one that started from the same public base as the
reference bears it, too."""

THE_SUSPECTS = "the suspect's"
"""How the flag of a control of other skill ends."""

OUTLYING = 3.5
"""Robust standard deviations above the other controls from which a control looks related itself."""


def unusable(case: Case, row: int = 1) -> tuple[str, ...]:
    """Why nothing can be said of a model, whatever its answers; empty where it can."""
    given = case.answers.given[row]
    both = int((given & case.answers.given[0]).sum())
    if given.mean() < LEAST_GIVEN:
        return (f"it answered {int(given.sum())} of {len(given)} questions",)
    if both < FEWEST_SHARED:
        return (f"it and the reference both answered only {both} questions",)
    return ("it gives the same answer to every question",) if constant(case, row) else ()


def uninformative(
    case: Case, shared: SharedMistakes, *, compare_skill: bool = True
) -> tuple[str, ...]:
    """Why a suspect cannot be cleared: its likeness to nobody says nothing.

    It guesses, or no control has its skill. That it is like the reference would say something.
    Without ``compare_skill`` the questions are those that the reference gets wrong, first of all,
    and show nobody's skill.
    """
    return (*_guesses(shared, row=1), *(_out_of_reach(case) if compare_skill else ()))


def _guesses(shared: SharedMistakes, row: int) -> tuple[str, ...]:
    following = shared.following
    if following.consensus[row] <= 0 and following.right[row] <= 0:
        # As foreseeable as a model that follows others, but by what nobody else answers.
        return ("its answers are neither right nor what others answer",)
    if float(follows_nothing(following)[row]) <= GUESSING:
        return ()
    return ("its answers cannot be told from guesses",)


def constant(case: Case, row: int) -> bool:
    """Whether a model gives one answer to all that it answers.

    Of answers in words only the suspect's are known here; a control that says the same words to
    everything is found to guess.
    """
    given = case.answers.given[row]
    if not case.answers.open_vocabulary:
        return len(np.unique(case.answers.answers[row, given])) == 1
    words = {probe.suspect for probe, answered in zip(case.probes, given, strict=True) if answered}
    return row == 1 and len(words) == 1


def _out_of_reach(case: Case) -> tuple[str, ...]:
    accuracies = skill(case.answers)
    suspect, controls = accuracies[1], accuracies[2:][~np.isnan(accuracies[2:])]
    if np.isnan(suspect) or not len(controls):
        return ()
    if suspect > controls.max() + SKILL_GAP or suspect < controls.min() - SKILL_GAP:
        side = "above" if suspect > controls.max() else "below"
        bound = controls.max() if suspect > controls.max() else controls.min()
        return (
            f"its {_measure_of_skill(case)}, {suspect:.2f}, lies far {side} that of every control "
            f"(the nearest has {bound:.2f})",
        )
    return ()


def skill_of(case: Case, row: int) -> Estimate | Undefined:
    """A model's accuracy on the original questions that it answered and whose answer is known.

    Where none is known, how often it answers them as most models do.
    """
    given, gold = case.answers.given[row], case.answers.gold
    original = np.array([probe.id == probe.unit for probe in case.probes])
    counted = given & original & ((gold != UNKNOWN) | (gold == UNKNOWN).all())
    right = case.answers.answers[row, counted] == case.answers.expected_right()[counted]
    return mean_estimate(
        right.astype(float),
        [str(unit) for unit in case.answers.units[counted]],
        empty="it answered nothing",
    )


def check_controls(
    case: Case, shared: SharedMistakes, joint: JointStanding, *, compare_skill: bool = True
) -> tuple[ControlCheck, ...]:
    """What there is to say of each control, in their order."""
    accuracies = skill(case.answers)
    outlying = _outlying(joint)
    return tuple(
        ControlCheck(
            model=name,
            skill=skill_of(case, row),
            given=float(case.answers.given[row].mean()),
            flags=(
                *unusable(case, row),
                *_guesses(shared, row),
                *(_skill_flags(case, accuracies[row] - accuracies[1]) if compare_skill else ()),
                *([MAY_BE_RELATED] if outlying[row - 2] else []),
                *_same_answers(case, row),
            ),
        )
        for row, name in enumerate(case.controls, start=2)
    )


def _skill_flags(case: Case, gap: float) -> list[str]:
    if np.isnan(gap) or abs(gap) <= SKILL_GAP:
        return []
    side = "above" if gap > 0 else "below"
    return [f"its {_measure_of_skill(case)} lies {abs(gap):.2f} {side} {THE_SUSPECTS}"]


def _measure_of_skill(case: Case) -> str:
    known = bool((case.answers.gold != UNKNOWN).any())
    return "accuracy" if known else "agreement with what most models answer"


def _outlying(joint: JointStanding) -> Sequence[bool]:
    """Which controls are far more like the reference than the others, by median and spread."""
    values = joint.values[1:]
    known = joint.ranked
    if len(known) < 8:
        return [False] * len(values)
    middle = float(np.median(known))
    spread = 1.4826 * float(np.median(np.abs(known - middle)))
    return [bool(spread > 0 and (one - middle) / spread > OUTLYING) for one in values]


def _same_answers(case: Case, row: int) -> list[str]:
    answers, names = case.answers.answers, (case.suspect, *case.controls)
    for other in range(1, row):
        if case.answers.given[row].any() and (answers[other] == answers[row]).all():
            return [f"it answers every question as `{names[other - 1]}` does"]
    return []
