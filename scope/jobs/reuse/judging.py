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
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from scope.jobs.reuse.answer_matrix import AnswerMatrix, Values, option_blocks
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
from scope.jobs.reuse.shared_mistakes import pairwise_kappa, shared_mistakes, skill
from scope.jobs.reuse.usability import (
    answers_usably,
    check_controls,
    guesses,
    skill_of,
    uninformative,
    unusable_models,
)
from scope.metrics.catalog import Metric
from scope.records import Agreement, Derivative, Evidence, ModelScore, Verdict
from scope.statistics.between_models import conformal_p_value, prediction_test, threshold_rank

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
    others = _other_pairs(joint)
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


def _other_pairs(joint: Values) -> Values:
    """The values of all pairs but that of reference and suspect."""
    values = joint[np.triu_indices(len(joint), 1)][1:]
    return np.asarray(values[~np.isnan(values)])


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
