"""From predictions to every number of an audit: estimates, differences, curves."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from scope.estimation.answer_shares import shares_of_models as shares_of_models
from scope.estimation.measurements import (
    MORE_SIMILAR as MORE_SIMILAR,
    PRIMARY_ON_CAPABILITIES as PRIMARY_ON_CAPABILITIES,
    clean_measurements,
    metrics_of_kept_pairs as metrics_of_kept_pairs,
    more_similar_half,
    pair_measurements,
    soft_scope_curves,
    target_differences,
)
from scope.estimation.pairs import (
    ScoredCandidates as ScoredCandidates,
    candidate_measurements,
    invariant_pairs,
)
from scope.estimation.slices import between_capabilities, slice_numbers, slices_of
from scope.metrics import Metric
from scope.records import (
    Curve,
    Difference,
    Measurement,
    ScoredExample,
    ScoredPerturbation,
    SliceTest,
)


class Numbers(NamedTuple):
    """Everything that is estimated in an audit."""

    measurements: tuple[Measurement, ...]
    differences: tuple[Difference, ...]
    curves: tuple[Curve, ...]
    slice_tests: tuple[SliceTest, ...]


def measure(
    examples: Sequence[ScoredExample],
    perturbations: Sequence[ScoredPerturbation],
    candidates: ScoredCandidates | None = None,
    *,
    capabilities: Sequence[str],
    targets: Sequence[str],
    reference: str = "",
    baseline: str | None = None,
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
    candidates
        Random candidates; None in an audit without.
    capabilities
        Those that were measured.
    reference
        The name of the reference, whose base rate is measured, too.
    baseline
        The name of the target that the others are compared with, if there is one.
    labels
        The reference's label names, in the order of the probabilities.
    soft_scope
        Soft-SCoPE with its tolerance and cutoff.
    more
        Further metrics on pairs.
    seed
        Of the permutations behind the p-values.
    """
    metrics = (*metrics_of_kept_pairs(soft_scope), *more)
    all_pairs = [invariant_pairs(name, examples, perturbations) for name in capabilities]
    whole = list(clean_measurements(examples, targets, labels))
    for pairs in all_pairs:
        whole += pair_measurements(pairs, metrics, targets)
        if candidates is not None:
            names = (reference, *targets)
            whole += candidate_measurements(pairs, examples, candidates, names)
    parts = [
        part for pairs in all_pairs for part in more_similar_half(pairs, metrics[1:3], targets)
    ]
    # Hard- and Flip-SCoPE on the trials that informedness takes are parts as well.
    matched = [measurement for measurement in whole if measurement.subset is not None]
    whole = [measurement for measurement in whole if measurement.subset is None]
    sliced, tests = slice_numbers(whole, slices_of(examples, labels), seed)
    return Numbers(
        measurements=(*whole, *matched, *parts, *sliced),
        differences=(
            *target_differences(whole, targets, seed),
            *between_capabilities(whole, targets, (reference, baseline), seed),
        ),
        curves=tuple(
            curve for pairs in all_pairs for curve in soft_scope_curves(pairs, soft_scope, targets)
        ),
        slice_tests=tests,
    )
