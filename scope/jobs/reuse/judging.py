"""From a case to a finding: all numbers of a verdict, and all reasons against one.

**The test of agreement**: does the suspect agree with the reference more than dependent controls of
its skill do? The joint statistic depends on the answers of the controls. If all controls are of one
family, two models of another origin share mistakes that are common outside of it: on simulated
families (`benchmarks/reuse_error_rates.py`) the rank alone called most independent suspects
related. This second test uses the agreement of two models alone: discrete CAPA, and if all models
give probabilities its mean with the correlation of their log-probabilities, both on Fisher's scale
(artanh), on which the spread does not depend on the value. It corrects for unfit controls:

- agreement depends on skill: a linear fit over the controls' skill, whose prediction is less
  certain the farther the suspect's skill is from theirs;
- controls that answer alike count as fewer. Independent models agree as reference and suspect
  agree with the controls; controls c and d that agree more, κ_cd, correlate by
  (κ_cd - κ_0) / (1 - κ_0), where κ_0 is the median of those.

See `prediction_test` in `scope.statistics.conformal`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from scope.jobs.reuse.answer_matrix import option_blocks
from scope.jobs.reuse.case import (
    Case,
    JointScores,
    Kind,
    informative_items,
    joint_scores,
    rank_p_value,
)
from scope.jobs.reuse.consensus import pairwise_kappa, skill
from scope.jobs.reuse.evidence import kinds_of_evidence, plain_correlations
from scope.jobs.reuse.shared_mistakes import shared_mistakes
from scope.jobs.reuse.usability import (
    answers_usably,
    check_controls,
    guesses,
    skill_of,
    uninformative,
    unusable_models,
)
from scope.metrics import Metric
from scope.records import (
    Agreement,
    Estimate,
    Evidence,
    Look,
    ModelScore,
    PairedTest,
    Undefined,
    Verdict,
)
from scope.statistics.conformal import prediction_test, threshold_rank
from scope.statistics.paired import paired_p_values, sum_estimate
from scope.statistics.sequential import sequential_rank

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
    answers = case.sample
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


RESAMPLES = 1999
"""Random exchanges of suspect and control in the paired test: p-values are at least 0.0005."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Finding:
    """The numbers of one case, before the correction over the references.

    ``verdict`` has the numbers, and is undecided. ``unusable`` are the reasons why the suspect or
    the reference cannot be judged, ``guesses`` why the suspect's answers may be guesses,
    ``uninformative`` why it cannot be cleared. ``usable_controls`` counts the controls whose
    answers are evidence; only they are ranked. ``different_controls`` counts the ranked ones; those
    with identical answers count once.
    """

    case: Case
    verdict: Verdict
    usable_controls: int
    different_controls: int
    unusable: tuple[str, ...]
    guesses: tuple[str, ...]
    uninformative: tuple[str, ...]

    @property
    def counted_controls(self) -> int:
        """The number of controls that determines the error rate; all usable ones without a rank."""
        ranked = self.verdict.p_rank is not None
        return self.different_controls if ranked else self.usable_controls

    @property
    def comparable(self) -> int:
        """The number of ranked controls that are comparable with the suspect."""
        ranked = {score.model for score in self.verdict.standings}
        return sum(check.comparable and check.model in ranked for check in self.verdict.controls)


def finding_of(
    case: Case, looks: tuple[Look, ...] = (), *, alpha: float, soft_scope: Metric, seed: int
) -> Finding:
    """Compute the finding of one case.

    Parameters
    ----------
    looks
        The looks of a sequential test; the last p-value is the finding's.
    alpha
        The error rate of this test alone: with several references, a share of the total.
    """
    shared = shared_mistakes(case.answers)
    usable = answers_usably(case, shared)
    # Any suspect, derived or not, ranks above controls that guess or always give the same answer.
    kept = np.concatenate(([True, True], usable))
    kinds = [
        replace(
            kind,
            scores=replace(kind.scores, values=np.where(kept, kind.scores.values, np.nan)),
        )
        for kind in kinds_of_evidence(case, shared, soft_scope)
    ]
    joint = joint_scores(kinds)
    ranked = case.answers.answers[2:][~np.isnan(joint.values[1:])]
    different = len(np.unique(ranked, axis=0)) if len(ranked) else 0
    allowed = (sequential_rank if looks else threshold_rank)(alpha, different)
    p_rank = _rank_p_value(case, joint, looks, different)
    agreement = agreement_test(case, usable)
    verdict = Verdict(
        suspect=case.suspect,
        reference=case.reference,
        decision="undecided",
        sentence="",
        alpha=alpha,
        # The greater of the two tests'; None if one of them is not possible.
        p_value=None if p_rank is None or agreement is None else max(p_rank, agreement.p_value),
        p_rank=p_rank,
        agreement=agreement,
        standings=_scores((case.suspect, *case.controls), joint.values),
        evidence=tuple(_evidence(case, kind) for kind in kinds),
        # The control that a related suspect must outrank.
        paired=_paired(case, joint, joint.decisive_control(allowed), seed),
        controls=check_controls(case, shared, joint),
        controls_needed=0,
        skill=skill_of(case, 1),
        detectable=joint.detectable_share(allowed),
        items=informative_items(case, shared),
        shared=int((case.answers.given[0] & case.answers.given[1]).sum()),
        queries=case.queries,
        probes=case.hash,
        looks=looks,
    )
    return Finding(
        case=case,
        verdict=verdict,
        usable_controls=int(usable.sum()),
        different_controls=different,
        unusable=unusable_models(case),
        guesses=guesses(case, shared, row=1),
        uninformative=uninformative(case, shared),
    )


def _rank_p_value(
    case: Case, joint: JointScores, looks: tuple[Look, ...], different: int
) -> float | None:
    """The p-value by rank; controls with identical answers count once."""
    p_rank, among = rank_p_value(joint.values), len(joint.ranked)
    if looks:
        # A sequential test ranks the suspect among all controls.
        p_rank, among = looks[-1].p_value, len(case.controls)
    if p_rank is None or not different:
        return None
    # The p-value is greater with fewer different controls.
    return min(1.0, p_rank * max(1.0, (among + 1) / (different + 1)))


def _scores(names: Sequence[str], values: NDArray[np.float64]) -> tuple[ModelScore, ...]:
    """The models that have a value."""
    return tuple(
        ModelScore(model=name, value=float(value))
        for name, value in zip(names, values, strict=True)
        if not np.isnan(value)
    )


def _evidence(case: Case, kind: Kind) -> Evidence:
    values = kind.scores.values
    estimate = kind.suspect
    if np.isnan(values[1]):
        reason = "suspect and reference have no answers in common to compute it from"
        estimate = Undefined(reason=reason)
    elif estimate is None:
        estimate = sum_estimate(kind.scores.parts[1])
        if isinstance(estimate, Estimate):
            # The interval of a sum is not bounded.
            ends = [estimate.low, estimate.value, estimate.high]
            low, value, high = map(float, np.clip(ends, -kind.most, kind.most))
            estimate = replace(estimate, low=low, value=value, high=high)
    return Evidence(
        kind=kind.name,
        capability=kind.capability,
        suspect=estimate,
        controls=_scores(case.controls, values[2:]),
        p_value=rank_p_value(values[1:]),
        decides=kind.decides,
    )


def _paired(case: Case, joint: JointScores, place: int | None, seed: int) -> PairedTest | None:
    """The suspect compared with the control at this place, question by question."""
    if place is None or np.isnan(joint.values[0]):
        return None
    differences = joint.parts[0] - joint.parts[place]
    estimate = sum_estimate(differences)
    if isinstance(estimate, Undefined):
        return None
    generator = np.random.default_rng(seed)
    more, less = paired_p_values(differences, generator, resamples=RESAMPLES)
    return PairedTest(
        control=case.controls[place - 1], difference=estimate, p_more=more, p_less=less
    )
