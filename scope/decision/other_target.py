"""A number of a target minus that of another target of the same audit."""

from __future__ import annotations

from scope.estimation import metric_width
from scope.records import Estimate, MeasuredResult, Measurement, Undefined
from scope.statistics import paired_difference


def difference_from(
    comparison: MeasuredResult, target: str, measured: Measurement
) -> Estimate | Undefined | str:
    """A number minus that of another target, paired by example, or the reason why there is none.

    All pairs have equal weight and those of an example are one cluster, as in the differences of
    the report. An example with a different number of pairs for the other target is left out.
    """
    other = _of_other(comparison, target, measured)
    if isinstance(other, str):
        return other
    mine, others = _by_example(measured), _by_example(other)
    both = [example for example in mine if len(mine[example]) == len(others.get(example, ()))]
    return paired_difference(
        [value for example in both for value in mine[example]],
        [value for example in both for value in others[example]],
        [example for example in both for _ in mine[example]],
        width=metric_width(measured.metric),
        empty="no example is in both",
    )


def _of_other(comparison: MeasuredResult, target: str, measured: Measurement) -> Measurement | str:
    """The same number of another target, or the reason why there is none."""
    for other in comparison.measurements:
        if (other.target, other.metric, other.capability, other.subset, other.against) == (
            target,
            measured.metric,
            measured.capability,
            None,
            measured.against,
        ):
            return comparison.degenerate(other) or other
    return f"`{target}` has no such number"


def _by_example(measurement: Measurement) -> dict[str, list[float]]:
    """The values of each example's pairs, in order."""
    values: dict[str, list[float]] = {}
    for example, value in zip(measurement.example_ids, measurement.values, strict=True):
        values.setdefault(example, []).append(value)
    return values
