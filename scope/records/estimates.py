"""Numbers, each with its interval or the reason why there is none."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated, Literal

from scope.records.long_lists import Long

GOLD = "(gold)"
"""The name of the right answers in place of a model's name."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Estimate:
    """A number with its confidence interval and the count of examples behind it."""

    value: float
    low: float
    high: float
    n: int
    level: float = 0.95
    method: str

    def __post_init__(self) -> None:
        if not all(map(math.isfinite, (self.value, self.low, self.high))):
            raise ValueError(f"an estimate is finite, not {self.value} [{self.low}, {self.high}]")
        if not self.low <= self.value <= self.high:
            raise ValueError(f"{self.value} lies outside its interval [{self.low}, {self.high}]")

    def __str__(self) -> str:
        return f"{self.value:.3f} [{self.low:.3f}, {self.high:.3f}]"

    @property
    def side(self) -> Literal["more", "less", "unclear"]:
        """On which side of 0 the interval lies, by the three decimals that are shown.

        Examples
        --------
        >>> Estimate(value=0.1, low=0.05, high=0.2, n=90, method="bootstrap").side
        'more'
        >>> Estimate(value=0.1, low=0.0004, high=0.2, n=90, method="bootstrap").side
        'unclear'
        """
        if round(self.low, 3) > 0:
            return "more"
        return "less" if round(self.high, 3) < 0 else "unclear"


@dataclass(frozen=True, kw_only=True, slots=True)
class Undefined:
    """A number that does not exist, and why; never 0 in its stead."""

    reason: str
    n: int = 0

    def __str__(self) -> str:
        return f"undefined ({self.reason})"


@dataclass(frozen=True, kw_only=True, slots=True)
class Measurement:
    """One metric of one target, with the values it is the mean of.

    ``metric`` is the metric's spelling, as in the command line. ``against`` is what the target
    is compared with: None for the reference, ``GOLD`` for the right answers, or another model.
    ``capability`` is the capability or task, and None where only clean examples count; ``subset``
    names a part of the examples, such as ``label = positive``, and is None for all.
    ``example_ids`` runs parallel to ``values``; an example stands there once for each of its
    pairs. Both are empty where the number is no mean, or its values can be read off the answers.
    """

    metric: str
    target: str
    against: str | None = None
    capability: str | None = None
    subset: str | None = None
    estimate: Estimate | Undefined
    example_ids: Annotated[tuple[str, ...], Long("value_ids")] = ()
    values: Annotated[tuple[float, ...], Long("values")] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class Difference:
    """First target minus second on the same examples, with its Holm-corrected p-value.

    A difference that is not tested, but describes, has no p-value.
    """

    metric: str
    first: str
    second: str
    capability: str | None = None
    estimate: Estimate | Undefined
    p_value: float | None = None
    p_adjusted: float | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Curve:
    """A metric along one of its parameters, such as Soft-SCoPE over its cutoff."""

    metric: str
    parameter: str
    target: str
    capability: str
    points: tuple[tuple[float, Estimate], ...]
