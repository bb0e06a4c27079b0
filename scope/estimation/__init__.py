"""From predictions to every number of an audit: estimates, differences, curves."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from scope.estimation.answer_shares import shares_of_models
from scope.estimation.measurements import (
    MORE_SIMILAR,
    NOTHING_FLIPPED,
    clean_measurements,
    metric_width,
    more_similar_half,
    pair_measurements,
    soft_scope_curves,
    subset_measurements,
    target_differences,
)
from scope.estimation.pairs import AuditedPairs, flipped_pairs, invariant_pairs
from scope.estimation.reference_points import (
    NO_CANDIDATE,
    ScoredFlips,
    base_rates,
    informedness,
    undefined_points,
)
from scope.metrics import METRICS, Metric
from scope.records import Curve, Difference, Measurement, ScoredExample, ScoredPerturbation

__all__ = [
    "MORE_SIMILAR",
    "AuditedPairs",
    "Numbers",
    "ScoredFlips",
    "flipped_pairs",
    "invariant_pairs",
    "measure",
    "metric_width",
    "shares_of_models",
]


class Numbers(NamedTuple):
    """Everything that is estimated in an audit."""

    measurements: tuple[Measurement, ...]
    differences: tuple[Difference, ...]
    curves: tuple[Curve, ...]


def measure(
    examples: Sequence[ScoredExample],
    perturbations: Sequence[ScoredPerturbation],
    flips: ScoredFlips | None = None,
    *,
    capabilities: Sequence[str],
    targets: Sequence[str],
    reference: str = "",
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
    flips
        Flipped pairs and random candidates; None in an audit without.
    capabilities
        Those that were measured.
    reference
        The name of the reference, whose base rate is measured, too.
    labels
        The reference's label names, in the order of the probabilities.
    soft_scope
        Soft-SCoPE with its tolerance and cutoff.
    more
        Further metrics on pairs.
    seed
        Of the permutations behind the p-values.
    """
    on_kept = [one for one in more if one.pairs == "kept"]
    metrics = (METRICS["ood_agreement"], METRICS["hard_scope"], soft_scope, *on_kept)
    all_pairs = [invariant_pairs(name, examples, perturbations) for name in capabilities]
    whole = [
        *clean_measurements(examples, targets, labels),
    ]
    for pairs in all_pairs:
        whole += pair_measurements(pairs, metrics, targets)
        if flips is not None:
            on_flipped = [METRICS["flip_scope"], *(one for one in more if one not in on_kept)]
            whole += _points(pairs, examples, flips, on_flipped, reference, targets)
    parts = [
        one
        for pairs in all_pairs
        for one in (
            *more_similar_half(pairs, metrics[1:3], targets),
            *subset_measurements(pairs, targets, labels),
        )
    ]
    # Hard- and Flip-SCoPE on the trials that informedness takes are parts as well.
    whole, matched = _parted(whole)
    return Numbers(
        measurements=(*whole, *matched, *parts),
        differences=target_differences(whole, targets, seed),
        curves=tuple(
            curve for pairs in all_pairs for curve in soft_scope_curves(pairs, soft_scope, targets)
        ),
    )


def _points(
    kept: AuditedPairs,
    examples: Sequence[ScoredExample],
    flips: ScoredFlips,
    metrics: Sequence[Metric],
    reference: str,
    targets: Sequence[str],
) -> Iterator[Measurement]:
    """Flip-SCoPE, informedness and base rates of one capability."""
    capability = kept.capability
    if capability in flips.missing:
        yield from undefined_points(capability, flips.missing[capability], metrics, targets)
        return
    flipped = flipped_pairs(capability, examples, flips.flipped)
    yield from pair_measurements(flipped, metrics, targets, empty=NOTHING_FLIPPED)
    yield from informedness(kept, flipped, targets)
    undrawn = flips.undrawn.get(capability, NO_CANDIDATE)
    yield from base_rates(capability, examples, flips.random, (reference, *targets), empty=undrawn)


def _parted(
    measurements: Sequence[Measurement],
) -> tuple[list[Measurement], list[Measurement]]:
    """Measurements over all pairs, and those over a part of them."""
    return (
        [one for one in measurements if one.subset is None],
        [one for one in measurements if one.subset is not None],
    )
