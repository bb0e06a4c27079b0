"""Accuracy as an endpoint: points below the reference's, or the share of it that is kept.

Several benchmarks are one number, the unweighted mean of theirs. Their questions weigh differently
where one has more than another, and the rarest losses weigh most. How many of these may not have
come up was chosen by simulation (benchmarks/verdict_error_rates_benchmarks.py), with all of the
loss on the shortest of benchmarks of 50 to 2,000 questions, too. A normal test of the benchmarks'
variances errs up to .056, the unevenness of capabilities up to .053, this one up to .031.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from scope.records import ERROR, Endpoint, Undefined
from scope.statistics.margins import Discordance, discordance
from scope.statistics.two_runs import recovery as recovery_estimate, recovery_tails
from scope.verdicts.endpoints import endpoint_of, judge_differences
from scope.verdicts.plan import Evidence, planned_differences

ALL_GOLD = "it takes a right answer to every text, and {known:,} of {texts:,} have one"
"""Why a recovery is not measured."""

Scores = Sequence[tuple[float, float]]
"""Target's and reference's of each question: 1 for a right answer, 0 for a wrong one."""


def accuracy_evidence(
    name: str,
    benchmarks: Sequence[Scores],
    *,
    margin: float,
    recovery: float | None = None,
    otherwise: float = 0.0,
    ids: Sequence[str] = (),
    error: float = ERROR,
) -> Evidence:
    """Return the endpoint over the mean of benchmarks without common questions, and its plan.

    Parameters
    ----------
    name
        The name of the endpoint.
    benchmarks
        Each has a question at least.
    margin
        How much less accurate the target may be, in 0..1.
    recovery
        In place of it: the least share of the reference's accuracy.
    otherwise
        The share of questions to which the two give different answers, for the plan.
    ids
        Of one benchmark, those of the questions, which may have clusters; not with a recovery.

    Examples
    --------
    One loss of 100 and none of 50 is a mean of half a point:

    >>> scores = [[(0.0, 1.0)] + [(1.0, 1.0)] * 99, [(1.0, 1.0)] * 50]
    >>> print(accuracy_evidence("accuracy", scores, margin=0.02).endpoint.estimate)
    -0.005 [-0.041, 0.027]
    """
    weights, unevenness = weights_of([len(scores) for scores in benchmarks])
    pairs = [
        (weight * target, weight * reference)
        for weight, scores in zip(weights, benchmarks, strict=True)
        for target, reference in scores
    ]
    differences, total = [target - reference for target, reference in pairs], len(pairs)
    by_text = dict(zip(ids, differences, strict=True)) if ids else differences
    if recovery is None:
        endpoint = judge_differences(
            name, by_text, margin=margin, unevenness=unevenness, error=error
        )
    else:
        seen = discordance(differences, unevenness=unevenness)
        endpoint = _recovery(name, pairs, recovery, seen, error)
        margin = (1 - recovery) * math.fsum(reference for _, reference in pairs) / total
    if isinstance(endpoint.estimate, Undefined):
        return Evidence(endpoint)
    planned = planned_differences(
        name, by_text, margin=margin, texts=total, kind="unchanged", unevenness=unevenness
    )
    return Evidence(endpoint, replace(planned, answered_otherwise=otherwise))


def _recovery(name: str, pairs: Scores, least: float, seen: Discordance, error: float) -> Endpoint:
    """Whether the targets' scores are at least a share of the reference's."""
    kept = math.fsum(map(min, pairs)) * float(seen.n) / len(pairs)
    counts = kept, float(seen.losses), float(seen.gains)
    estimate = recovery_estimate(*counts, len(pairs), level=1 - 2 * error)
    return endpoint_of(name, estimate, recovery_tails(*counts, least), error, least=least)


def weights_of(sizes: Sequence[int]) -> tuple[list[float], float]:
    """Return what a question of each benchmark weighs in the mean, and how uneven that is.

    Examples
    --------
    >>> weights, unevenness = weights_of([100, 300])
    >>> [round(weight, 2) for weight in weights], round(unevenness, 2)
    ([2.0, 0.67], 1.7)
    """
    weights = [sum(sizes) / size / len(sizes) for size in sizes]
    return weights, (math.fsum(weights) / len(weights)) ** 0.4 * max(weights) ** 0.6
