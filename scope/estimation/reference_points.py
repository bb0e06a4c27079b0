"""What Hard-SCoPE is compared with: flipped pairs, informedness and the base rate of keeping.

Kept and flipped pairs of one trial have the same size and come from the same search; what differs
is the reference's answer. Informedness takes the trials that have both.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from scope.estimation.pairs import AuditedPairs, Values
from scope.metrics import METRICS, Metric, informedness_values
from scope.records import Measurement, ScoredExample, ScoredPerturbation, Undefined
from scope.statistics import mean_estimate, paired_difference

MATCHED = "trials with a kept and a flipped pair"
"""The part of the pairs that informedness is measured on."""

NOTHING_MATCHED = "no trial has both a kept and a flipped pair"
NO_CANDIDATE = "no random candidate has the size of a kept pair"


@dataclass(frozen=True, kw_only=True, slots=True)
class ScoredFlips:
    """Flipped pairs and random candidates with the models' answers.

    ``missing`` gives the reason for each capability that has no flipped pairs, ``undrawn`` for each
    that has no random candidates.
    """

    flipped: Sequence[ScoredPerturbation] = ()
    random: Sequence[ScoredPerturbation] = ()
    missing: Mapping[str, str] = field(default_factory=dict)
    undrawn: Mapping[str, str] = field(default_factory=dict)


def informedness(
    kept: AuditedPairs, flipped: AuditedPairs, targets: Sequence[str]
) -> Iterator[Measurement]:
    """SCoPE informedness of each target; then Hard-SCoPE and Flip-SCoPE on the same trials.

    Each example has the same weight. The interval is that of a paired difference: Hard-SCoPE minus
    the share of flipped pairs on which the target stays.
    """
    rows, other_rows = _matched(kept, flipped)
    owners = [kept.example_ids[row] for row in rows]
    for place, name in enumerate(targets):
        hard = kept.values(METRICS["hard_scope"], place)[rows]
        flip = flipped.values(METRICS["flip_scope"], place)[other_rows]
        values, ids = informedness_values(hard, flip, owners)
        of_each = [_by_example(one, owners) for one in (hard, flip)]
        yield Measurement(
            metric=str(METRICS["informedness"]),
            target=name,
            capability=kept.capability,
            estimate=paired_difference(of_each[0], 1 - of_each[1], ids, empty=NOTHING_MATCHED),
            example_ids=ids,
            values=tuple(values.tolist()),
        )
        for metric, of_one in zip(("hard_scope", "flip_scope"), of_each, strict=True):
            if ids:
                yield Measurement(
                    metric=str(METRICS[metric]),
                    target=name,
                    capability=kept.capability,
                    subset=MATCHED,
                    estimate=mean_estimate(of_one, ids),
                )


def _matched(kept: AuditedPairs, flipped: AuditedPairs) -> tuple[list[int], list[int]]:
    """The rows of kept and flipped pairs that belong to the same trial of an example."""
    places = {
        key: row for row, key in enumerate(zip(flipped.example_ids, flipped.trials, strict=True))
    }
    both = [
        (row, places[key])
        for row, key in enumerate(zip(kept.example_ids, kept.trials, strict=True))
        if key in places
    ]
    return [row for row, _ in both], [row for _, row in both]


def _by_example(values: Values, owners: Sequence[str]) -> Values:
    """The mean of each example's values, in the order of first occurrence."""
    rows: dict[str, list[float]] = {}
    for owner, value in zip(owners, values.tolist(), strict=True):
        rows.setdefault(owner, []).append(value)
    return np.array([np.mean(own) for own in rows.values()], dtype=np.float64)


def base_rates(
    capability: str,
    examples: Sequence[ScoredExample],
    drawn: Sequence[ScoredPerturbation],
    models: Sequence[str],
    *,
    empty: str = NO_CANDIDATE,
) -> Iterator[Measurement]:
    """How often each model, the reference first, keeps its answer on random candidates."""
    clean = {one.example.id: (one.reference, *one.targets) for one in examples}
    pairs = [
        (one.perturbation.example_id, (one.reference, *one.targets))
        for one in drawn
        if one.capability == capability and one.reference is not None
    ]
    ids = tuple(example for example, _ in pairs)
    for place, name in enumerate(models):
        values = [
            float(answers[place].choice == clean[example][place].choice)
            for example, answers in pairs
        ]
        yield Measurement(
            metric=str(METRICS["base_rate"]),
            target=name,
            capability=capability,
            estimate=mean_estimate(values, ids, empty=empty),
            example_ids=ids,
            values=tuple(values),
        )


def undefined_points(
    capability: str, reason: str, metrics: Sequence[Metric], targets: Sequence[str]
) -> Iterator[Measurement]:
    """The metrics on flipped pairs, and the others, of a capability that has no flipped pairs."""
    for metric in (*metrics, METRICS["informedness"], METRICS["base_rate"]):
        for name in targets:
            yield Measurement(
                metric=str(metric),
                target=name,
                capability=capability,
                estimate=Undefined(reason=reason),
            )
