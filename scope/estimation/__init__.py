"""From predictions to every number of an audit: estimates, differences, curves."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from scope.estimation.answer_shares import shares_of_models
from scope.estimation.measurements import (
    InvariantPairs,
    clean_measurements,
    invariant_pairs,
    pair_measurements,
    soft_scope_curves,
    subset_measurements,
    target_differences,
)
from scope.metrics import METRICS, Metric
from scope.records import Curve, Difference, Measurement, ScoredExample, ScoredPerturbation

__all__ = ["InvariantPairs", "Numbers", "invariant_pairs", "measure", "shares_of_models"]


class Numbers(NamedTuple):
    """Everything that is estimated in an audit."""

    measurements: tuple[Measurement, ...]
    differences: tuple[Difference, ...]
    curves: tuple[Curve, ...]


def measure(
    examples: Sequence[ScoredExample],
    perturbations: Sequence[ScoredPerturbation],
    *,
    capabilities: Sequence[str],
    targets: Sequence[str],
    labels: Sequence[str],
    soft_scope: Metric,
    more: Sequence[Metric] = (),
    seed: int,
) -> Numbers:
    """Estimate every metric of every target: over all examples, in parts, and along the cutoff.

    Parameters
    ----------
    examples, perturbations
        Scored by the reference and, in their order, by the ``targets``.
    capabilities
        Those that were measured.
    labels
        The reference's label names, in the order of the probabilities.
    soft_scope
        Soft-SCoPE with its tolerance and cutoff.
    more
        Further metrics on pairs.
    seed
        Of the permutations behind the p-values.
    """
    metrics = (METRICS["ood_agreement"], METRICS["hard_scope"], soft_scope, *more)
    all_pairs = [invariant_pairs(name, examples, perturbations) for name in capabilities]
    whole = [
        *clean_measurements(examples, targets, labels),
        *(one for pairs in all_pairs for one in pair_measurements(pairs, metrics, targets)),
    ]
    parts = [one for pairs in all_pairs for one in subset_measurements(pairs, targets, labels)]
    return Numbers(
        measurements=(*whole, *parts),
        differences=target_differences(whole, targets, seed),
        curves=tuple(
            curve for pairs in all_pairs for curve in soft_scope_curves(pairs, soft_scope, targets)
        ),
    )
