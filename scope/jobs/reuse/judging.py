"""From a case to a finding: all numbers of a verdict, and all reasons against one.

**The test of agreement**: does the suspect agree with the reference more than dependent controls of
its skill do? The joint statistic depends on the answers of the controls, and its rank assumes that
reference and suspect are models like the controls. This second test uses the agreement of two
models alone: discrete CAPA, and if all models give probabilities its mean with the correlation of
their log-probabilities, both on Fisher's scale (artanh), on which the spread does not depend on the
value. It corrects for unfit controls:

- agreement depends on skill: a linear fit over the controls' skill, whose prediction is less
  certain the farther the suspect's skill is from theirs;
- controls that answer alike count as fewer. Independent models agree as reference and suspect
  agree with the controls; controls c and d that agree more, κ_cd, correlate by
  (κ_cd - κ_0) / (1 - κ_0), where κ_0 is the median of those.

See `prediction_test` in `scope.statistics.between_models`.

**Which models can be judged**: those with usable answers, and controls of like skill. Siblings are
controls that may have the same source as the reference; a verdict says how to exclude them.

**Controls are chosen** among stored models by the suspect's accuracy, without their similarity. The
rank of the pair has its error rate if suspect, reference and controls are exchangeable given
their skill: each pair is as likely as the others to be the most similar. A choice preserves this
for the suspect if it depends only on the accuracies (without right answers, on the agreement
with most models), and not on similarity to the reference. Leaving out models that are similar to
the reference would make any suspect stand out; leaving out those that are similar to the suspect
does the same if the suspect is similar to the reference. So neither is done. A candidate is left
out, in this order, if

1. it is of the family of the suspect, a reference or a derivative by name: both names have the same
   first word, and at most half of the candidates have it;
2. it leaves more than a quarter of the questions unanswered: it would have no rank;
3. enough models that are nearer to the suspect in accuracy have been chosen;
4. it is kin of a control that was chosen before it: their discrete CAPA is more than three robust
   standard deviations above what their skills explain (see `kin`),
   among eight stored models or more. Kin do not vary independently. The error rate is then that
   among unrelated models: a family with many members counts once.
"""

from __future__ import annotations

import glob
import re
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from scope.errors import DataError
from scope.estimation.answer_shares import SILENT, gives_one_answer
from scope.jobs.reuse.evidence import (
    Case,
    Kind,
    deciding_pairs,
    informative_items,
    joint_pairs,
    kinds_of_evidence,
    mistake_count,
    plain_correlations,
)
from scope.jobs.reuse.pool import (
    FEWEST_CONTROLS,
    NOT_ASKED,
    NOT_GIVEN,
    UNKNOWN,
    AnswerMatrix,
    ReuseModels,
    Values,
    answer_matrix,
    option_blocks,
)
from scope.jobs.reuse.responses import Responses, ReuseItem
from scope.jobs.reuse.shared_mistakes import (
    SharedMistakes,
    guessing_p_value,
    kin,
    pairwise_kappa,
    shared_mistakes,
    skill,
)
from scope.metrics.catalog import Metric
from scope.records import (
    Agreement,
    CandidateControl,
    ControlCheck,
    Derivative,
    Estimate,
    Evidence,
    ModelScore,
    Undefined,
    Verdict,
)
from scope.statistics.between_models import conformal_p_value, prediction_test, threshold_rank
from scope.statistics.intervals import mean_estimate

MOST = 0.9999
"""Upper limit of agreement: Fisher's scale is unbounded."""


def agreement_test(case: Case, usable: NDArray[np.bool_]) -> Agreement | None:
    """Compare the suspect's agreement with the reference with that of the usable controls.

    Parameters
    ----------
    usable
        Which controls count; shape (controls,).

    Returns
    -------
    Agreement
        None if the suspect or all but one control have none.
    """
    answers = case.answers
    kappas, skills = pairwise_kappa(answers, option_blocks(answers)), skill(answers)
    values = _on_fishers_scale(kappas[0])
    correlations = plain_correlations(answers)
    if correlations is not None:
        values = (values + _on_fishers_scale(correlations)) / 2
    known = ~(np.isnan(values) | np.isnan(skills))
    controls = np.flatnonzero(known[2:] & usable) + 2
    if not known[1] or len(controls) < 2:
        return None
    # How much more similar the controls are than independent models.
    usual = float(np.nanmedian(kappas[:2, controls]))
    among = np.nan_to_num(kappas[np.ix_(controls, controls)], nan=usual)
    dependence = np.clip((among - usual) / max(1 - usual, 1e-9), 0.0, 1.0)
    np.fill_diagonal(dependence, 1.0)
    test = prediction_test(
        float(values[1]), float(skills[1]), values[controls], skills[controls], dependence
    )
    return Agreement(
        suspect=float(values[1]),
        controls=_scores([case.controls[row - 2] for row in controls], values[controls]),
        independent=test.independent,
        p_value=test.p_value,
    )


def _on_fishers_scale(values: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(np.arctanh(np.clip(values, -MOST, MOST)), dtype=np.float64)


MOST_RIVALS = 3
"""Number of pairs kept that are at least as similar as suspect and reference."""

COPY = 0.98
"""A derivative that gives more of its answers as the reference does is a copy, and does not count:
copies are nearer to the reference than what was trained from it."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Finding:
    """The numbers of one case, before the correction over the references.

    ``verdict`` has the numbers, and is undecided. ``unusable`` are the reasons why the suspect or
    the reference cannot be judged, ``guesses`` why the suspect's answers may be guesses,
    ``uninformative`` why it cannot be cleared. ``usable_controls`` counts the controls whose
    answers are evidence; only they are ranked.
    """

    verdict: Verdict
    usable_controls: int
    unusable: tuple[str, ...]
    guesses: tuple[str, ...]
    uninformative: tuple[str, ...]


def finding_of(case: Case, *, alpha: float, soft_scope: Metric) -> Finding:
    """Compute the finding of one case.

    Parameters
    ----------
    alpha
        The error rate of this test alone: with several references, a share of the total.
    """
    shared = shared_mistakes(case.answers)
    usable = answers_usably(case, shared)
    # Any pair stands above those of controls that guess or always give the same answer.
    counted = np.concatenate(([True, True], usable))
    kinds = list(kinds_of_evidence(case, shared, soft_scope))
    joint = joint_pairs([kind.pairs for kind in kinds if kind.pairs is not None], counted)
    others = joint[np.triu_indices(len(joint), 1)][1:]  # without reference and suspect
    others = others[~np.isnan(others)]
    p_rank = None if np.isnan(joint[0, 1]) else conformal_p_value(joint[0, 1], others)
    allowed = threshold_rank(alpha, len(others))
    agreement = agreement_test(case, usable)
    derivatives = _derivatives(case, kinds, counted)
    verdict = Verdict(
        suspect=case.suspect,
        reference=case.reference,
        decision="undecided",
        sentence="",
        alpha=alpha,
        # The greater of the two tests'; None if one of them is not possible.
        p_value=None if p_rank is None or agreement is None else max(p_rank, agreement.p_value),
        p_rank=p_rank,
        pairs=len(others) + (p_rank is not None),
        threshold=None if allowed is None else float(np.sort(others)[-1 - allowed]),
        agreement=agreement,
        standings=_scores((case.suspect, *case.controls), joint[0, 1:]),
        evidence=tuple(_evidence(case, kind, counted) for kind in kinds),
        derivatives=derivatives,
        p_derivative=_derivative_p_value(derivatives),
        controls=check_controls(case, shared, joint[0, 2:]),
        controls_needed=0,
        skill=skill_of(case, 1),
        items=informative_items(case, shared),
        shared=int((case.answers.given[0] & case.answers.given[1]).sum()),
        queries=case.queries,
        probes=case.hash,
        same=_same(case.answers),
        rivals=_rivals(case, joint),
        mistakes=mistake_count(case, shared),
    )
    # The skill of a copy says nothing of derivatives like those that count.
    counts = {each.model: case.derivatives[each.model] for each in verdict.counted}
    return Finding(
        verdict=verdict,
        usable_controls=int(usable.sum()),
        unusable=unusable_models(case),
        guesses=guesses(case, shared, row=1),
        uninformative=uninformative(replace(case, derivatives=counts), shared),
    )


def _derivatives(
    case: Case, kinds: Sequence[Kind], counted: NDArray[np.bool_]
) -> tuple[Derivative, ...]:
    """How similar each known derivative is to the reference, in the place of the suspect.

    Suspect and derivatives are compared by the kinds that all of them have.
    """
    pools = {name: deciding_pairs(answers) for name, answers in case.derivatives.items()}
    every = [{kind.name: kind.pairs for kind in kinds if kind.pairs is not None}, *pools.values()]
    common = [
        name
        for name in every[0]
        if all(name in pool and not np.isnan(pool[name][0, 1]) for pool in every)
    ]
    of_suspect, *values = (
        joint_pairs([pool[name] for name in common], counted)[0, 1] for pool in every
    )
    rows = []
    for (name, answers), value in zip(case.derivatives.items(), values, strict=True):
        same = _same(answers)
        # What cannot be compared counts for the suspect.
        unlike = not value > of_suspect
        place = float(value) if common and len(common) == len(every[0]) else None
        rows.append(
            Derivative(model=name, same=same, unlike=unlike, counted=same <= COPY, value=place)
        )
    return tuple(rows)


def _same(answers: AnswerMatrix) -> float:
    """The share of questions answered by both that the second model answers as the reference."""
    both = answers.given[0] & answers.given[1]
    alike = (answers.answers[0] == answers.answers[1])[both]
    return float(alike.mean()) if both.any() else 0.0


def _rivals(case: Case, joint: Values) -> tuple[tuple[str, str], ...]:
    """The most similar of the other pairs that are at least as similar as reference and suspect."""
    names = (case.reference, case.suspect, *case.controls)
    rows, columns = np.triu_indices(len(joint), 1)
    order = np.argsort(-joint[rows, columns], kind="stable")
    nearer = [i for i in order if i and joint[rows[i], columns[i]] >= joint[0, 1]]
    return tuple((names[rows[i]], names[columns[i]]) for i in nearer[:MOST_RIVALS])


def _derivative_p_value(derivatives: Sequence[Derivative]) -> float | None:
    """The share of derivatives at most as similar as the suspect, which counts as one of them."""
    counted = [derivative.unlike for derivative in derivatives if derivative.counted]
    return (1 + sum(counted)) / (1 + len(counted)) if counted else None


def _scores(names: Sequence[str], values: NDArray[np.float64]) -> tuple[ModelScore, ...]:
    """The models that have a value."""
    return tuple(
        ModelScore(model=name, value=float(value))
        for name, value in zip(names, values, strict=True)
        if not np.isnan(value)
    )


def _evidence(case: Case, kind: Kind, counted: NDArray[np.bool_]) -> Evidence:
    values = np.where(counted, kind.values, np.nan)
    return Evidence(
        kind=kind.name,
        capability=kind.capability,
        suspect=kind.suspect,
        controls=_scores(case.controls, values[2:]),
        decides=kind.pairs is not None,
    )


FEWEST_SHARED = 30
"""With fewer answered questions there is no verdict."""

GUESSING = 0.01
"""Significance level of the test for guessing; a model with a greater p-value is not judged."""

SKILL_GAP = 0.15
"""A model whose accuracy differs by more from the suspect's is not of its skill."""

MAY_BE_RELATED = (
    "it is far more similar to the reference than the other controls: it may be related to it"
)
"""The flag of a control that may not be independent, for example one with the same public base."""

THE_SUSPECTS = "the suspect's"
"""The end of the flag of a control of different skill."""

OF_REFERENCE = "the reference is degenerate: "
"""The start of a reason that concerns the reference, not the suspect."""

OUTLYING = 3.5
"""Robust standard deviations above the other controls, beyond which a control may be related."""


def unusable_models(case: Case) -> tuple[str, ...]:
    """Why the suspect cannot be judged, or not with this reference."""
    of_reference = _one_answer(case, 0)
    return (*unusable(case), *((f"{OF_REFERENCE}{of_reference}",) if of_reference else ()))


def unusable(case: Case, row: int = 1) -> tuple[str, ...]:
    """Why a model cannot be judged; empty if it can."""
    answered = case.answers.given[row]
    both = int((answered & case.answers.given[0]).sum())
    if answered.mean() < 1 - SILENT:
        return (f"it answered {int(answered.sum())} of {len(answered)} questions",)
    if both < FEWEST_SHARED:
        return (f"it and the reference both answered only {both} questions",)
    if constant(case, row):
        return ("it gives the same answer to every question",)
    degenerate = _one_answer(case, row)
    return (degenerate,) if degenerate else ()


def constant(case: Case, row: int) -> bool:
    """Whether all answers of a model are the same.

    With an open vocabulary only the suspect is checked; a control with one answer counts as
    guessing.
    """
    answered = case.answers.given[row]
    if not case.answers.open_vocabulary:
        return len(np.unique(case.answers.answers[row, answered])) == 1
    words = {item.suspect for item, shown in zip(case.items, answered, strict=True) if shown}
    return row == 1 and len(words) == 1


def _one_answer(case: Case, row: int) -> str | None:
    """Why a model's answers are nearly all the same; None if they are not.

    With an open vocabulary only the reference and the suspect are checked.
    """
    sample, in_words = case.answers, case.answers.open_vocabulary
    if in_words and row > 1:
        return None

    def named(number: int, words: str) -> str:
        if in_words:
            return words
        return case.labels[number] if case.labels else f"option {number + 1}"

    of_reference, answers = (
        {
            item.id: named(number, item.suspect if place else item.reference)
            for item, number in zip(case.items, sample.answers[place].tolist(), strict=False)
            if number != NOT_GIVEN
        }
        for place in (0, row)
    )
    gold = {
        item.id: named(right, item.gold or "")
        for item, right in zip(case.items, sample.gold.tolist(), strict=False)
        if item.id in answers and right != UNKNOWN
    }
    reason = gives_one_answer(answers, gold, of_reference if row else None)
    return None if reason is None else reason.replace(" texts", " questions")


def guesses(case: Case, shared: SharedMistakes, row: int) -> tuple[str, ...]:
    """Why a model may be guessing; empty if it is not."""
    fitted, answers = shared.fits[row], case.answers
    if fitted.consensus <= 0 and fitted.right <= 0:
        # Its answers are predictable, but differ from those of all other models.
        return ("its answers are neither right nor what others answer",)
    examples = len(np.unique(answers.units[answers.given[row]]))
    if guessing_p_value(fitted, examples) <= GUESSING:
        return ()
    return ("its answers cannot be distinguished from guesses",)


def uninformative(case: Case, shared: SharedMistakes) -> tuple[str, ...]:
    """Why a suspect cannot be cleared: it guesses, or no derivative has its skill.

    Similarity to the reference would still be evidence; dissimilarity is not.
    """
    reasons, suspect = guesses(case, shared, row=1), skill(case.answers)[1]
    skills = [float(skill(answers)[1]) for answers in case.derivatives.values()]
    low, high = min(skills, default=suspect), max(skills, default=suspect)
    if not (suspect < low - SKILL_GAP or suspect > high + SKILL_GAP):
        return reasons
    side, nearest = ("above", high) if suspect > high else ("below", low)
    far = (
        f"its {_measure_of_skill(case)}, {suspect:.2f}, is far {side} that of every derivative "
        f"(the nearest has {nearest:.2f})"
    )
    return (*reasons, far)


def _measure_of_skill(case: Case) -> str:
    known = bool((case.answers.gold != UNKNOWN).any())
    return "accuracy" if known else "agreement with what most models answer"


def skill_of(case: Case, row: int) -> Estimate | Undefined:
    """A model's accuracy on the original questions put to it whose answer is known.

    If none is known, its agreement with the answers of most models.
    """
    answers = case.answers
    asked, gold = answers.asked[row], answers.gold
    original = np.array([item.id == item.unit for item in case.items[: len(gold)]])
    counted = asked & original & ((gold != UNKNOWN) | (gold == UNKNOWN).all())
    right = answers.answers[row, counted] == answers.expected_right()[counted]
    return mean_estimate(
        right.astype(float),
        [str(unit) for unit in answers.units[counted]],
        empty="it answered nothing",
    )


def answers_usably(case: Case, shared: SharedMistakes) -> NDArray[np.bool_]:
    """Which controls answer and do not guess (unless the suspect does); shape (controls,)."""
    rows = range(2, 2 + len(case.controls))
    return np.array([not _why_not_usable(case, shared, row) for row in rows])


def _why_not_usable(case: Case, shared: SharedMistakes, row: int) -> tuple[str, ...]:
    """Why a control's answers are no evidence; guesses are, if the suspect guesses too."""
    of_guesser = () if guesses(case, shared, 1) else guesses(case, shared, row)
    return (*unusable(case, row), *of_guesser)


def check_controls(case: Case, shared: SharedMistakes, joint: Values) -> tuple[ControlCheck, ...]:
    """The skill and the flags of each control, in their order; ``joint`` is their similarity.

    A control that may be related to the reference counts: to exclude it for its similarity would
    bias the rank.
    """
    answers, accuracies, outlying = case.answers, skill(case.answers), _outlying(joint)
    checks = []
    for row, name in enumerate(case.controls, start=2):
        flags = [*_why_not_usable(case, shared, row)]
        gap = accuracies[row] - accuracies[1]
        if abs(gap) > SKILL_GAP:
            side = "above" if gap > 0 else "below"
            flags.append(f"its {_measure_of_skill(case)} is {abs(gap):.2f} {side} {THE_SUSPECTS}")
        same = (answers.answers[1:row] == answers.answers[row]).all(axis=1)
        if answers.given[row].any() and same.any():
            other = (case.suspect, *case.controls)[int(same.argmax())]
            flags.append(f"it answers every question as `{other}` does")
        related = [MAY_BE_RELATED] if outlying[row - 2] else []
        checks.append(
            ControlCheck(
                model=name,
                skill=skill_of(case, row),
                given=float(answers.given[row].mean()),
                flags=(*flags, *related),
            )
        )
    return tuple(checks)


def _outlying(values: Values) -> Sequence[bool]:
    """Which controls are far more similar to the reference than the others, by robust z-score."""
    known = values[~np.isnan(values)]
    if len(known) < 8:
        return [False] * len(values)
    middle = float(np.median(known))
    spread = 1.4826 * float(np.median(np.abs(known - middle)))
    return [bool(spread > 0 and (value - middle) / spread > OUTLYING) for value in values]


COMMON = 0.5
"""A first word that more than this share of the controls' names have is not informative."""

BY_NAME = "its name begins like the reference's"
BY_ANSWERS = "its answers are far more similar than the others'"


def same_stem(name: str, others: Sequence[str]) -> set[str]:
    """The others whose names have the same first word; none if most of them have it.

    Examples
    --------
    >>> same_stem("org/Llama-2-7b", ["Llama-3-8B", "Yi-6B"]), same_stem("a-1", ["a-2", "a-3"])
    ({'Llama-3-8B'}, set())
    """
    word = _first_word(name)
    same = {other for other in others if word and _first_word(other) == word}
    return same if len(same) <= COMMON * len(others) else set()


def _first_word(name: str) -> str:
    """The first word of a model's name in small letters; empty if it has one letter."""
    match = re.match(r"[^\W\d_]{2,}", name.rpartition("/")[2].rpartition("#")[2])
    return match.group().lower() if match else ""


def exclusion(control: str) -> str:
    """The option that excludes a control.

    >>> exclusion("a [1]")
    "--exclude-control 'a [[]1]'"
    """
    return f"--exclude-control {shlex.quote(glob.escape(control))}"


def sibling_warning(reference: str, controls: Sequence[ControlCheck]) -> tuple[str, ...]:
    """The controls that may be related to the reference, and the options that exclude them.

    Each has its reason: its answers, or its name. Empty without any.

    Examples
    --------
    >>> names = ("Yi-34B", "Qwen-7B", "gemma-7b")
    >>> controls = [ControlCheck(model=name, skill=None, given=1.0) for name in names]
    >>> print(sibling_warning("Yi-6B", controls)[0])  # doctest: +ELLIPSIS
    Leave out controls that are related to Yi-6B, too, perhaps Yi-34B (its name begins ...
    """
    related = {check.model for check in controls if MAY_BE_RELATED in check.flags}
    siblings = related | same_stem(reference, [check.model for check in controls])
    if not siblings:
        return ()
    ordered = [check.model for check in controls if check.model in siblings]
    named = "; ".join(f"{name} ({BY_ANSWERS if name in related else BY_NAME})" for name in ordered)
    options = " ".join(map(exclusion, ordered))
    return (f"Leave out controls that are related to {reference}, too, perhaps {named}: {options}",)


def with_chosen_controls(
    models: ReuseModels, items: Sequence[ReuseItem], responses: Responses, number: int | None
) -> tuple[ReuseModels, tuple[CandidateControl, ...]]:
    """The models with the chosen candidates among the controls, and every candidate.

    Parameters
    ----------
    number
        Number of candidates to choose, nearest to the suspect in accuracy; None for all that are
        fit.

    Raises
    ------
    DataError
        When fewer than two controls are left.
    """
    if not models.candidates:
        return models, ()
    questions = [item for item in items if item.id == item.unit]
    fixed = (models.suspect, *models.controls)
    every = (*fixed, *models.candidates)
    # The suspect last: a stored model that fails costs it no question.
    rows = [responses.answers(model, questions) for model in reversed(every)]
    answers = answer_matrix([item.key for item in questions], rows[::-1])
    names = [model.name for model in every]
    known = (models.suspect, *models.references, *models.derivatives)
    taken = [model.name for model in known]
    every_candidate = tuple(considered(answers, names, taken, len(fixed), number))
    chosen = {each.model for each in every_candidate if not each.left_out}
    controls = (*models.controls, *(each for each in models.candidates if each.name in chosen))
    if len(controls) < FEWEST_CONTROLS:
        left = [f"{each.model}: {each.left_out}" for each in every_candidate if each.left_out]
        raise DataError(
            f"{len(controls)} controls of {len(models.candidates)} stored models "
            f"({'; '.join(left[:5])})",
            expected=f"at least {FEWEST_CONTROLS} models of other families with their answers",
            fix="add stored models to --controls-from, or name controls with --control",
        )
    return replace(models, controls=controls, candidates=()), every_candidate


def considered(
    answers: AnswerMatrix, names: Sequence[str], taken: Sequence[str], first: int, most: int | None
) -> Iterator[CandidateControl]:
    """The candidates from row ``first`` on, by their distance from the suspect in accuracy.

    Row 0 is the suspect; the rows before ``first`` are controls already.
    """
    skills, enough = skill(answers), answers.given.mean(axis=1, keepdims=True) >= 1 - SILENT
    others = replace(answers, answers=np.where(enough, answers.answers, NOT_ASKED)[1:])
    related = kin(others, option_blocks(others), skill(others))
    rows = np.arange(first, len(names))
    rows = rows[np.argsort(abs(skills[rows] - skills[0]), kind="stable")]
    families = {other: name for name in taken for other in same_stem(name, names[first:])}
    chosen = list(range(1, first))
    for row in map(int, rows):
        alike = [names[other] for other in chosen if related[row - 1, other - 1]]
        answered = answers.given[row]
        why = ""
        if names[row] in families:
            why = f"its name begins like that of {families[names[row]]}"
        elif answered.mean() < 1 - SILENT:
            why = f"it answered {answered.mean():.0%} of the questions, fewer than {1 - SILENT:.0%}"
        elif most is not None and len(chosen) >= most:
            why = f"{most} controls are named or nearer to the suspect in accuracy"
        elif alike:
            why = f"its answers are more like those of {alike[0]} than skill explains"
        chosen += [] if why else [row]
        asked = answers.asked[row]
        right = answers.answers[row, asked] == answers.expected_right()[asked]
        measured = mean_estimate(right.astype(float), answers.units[asked].astype(str).tolist())
        yield CandidateControl(model=names[row], skill=measured, left_out=why)
