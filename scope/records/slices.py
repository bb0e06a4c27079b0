"""Whether slices of the texts differ."""

from dataclasses import dataclass

from scope.records.estimates import Measurement


@dataclass(frozen=True, kw_only=True, slots=True)
class SliceTest:
    """Whether one metric of a target differs between the slices of a grouping of the texts.

    ``worst`` is the slice with the least mean, without its values: of g slices it has an interval
    at the level 1 - .05 / g. ``p_adjusted`` is corrected for the other groupings, capabilities and
    targets by Benjamini and Hochberg's method.
    """

    grouping: str
    worst: Measurement
    p_value: float
    p_adjusted: float = 1.0
