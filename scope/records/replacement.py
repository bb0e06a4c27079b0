"""May a target replace the reference? The verdict, and the endpoints that it rests on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from scope.records.estimates import Estimate, Undefined

ERROR = 0.025
"""One-sided error rate of each claim, *within* and *beyond*: that of a two-sided 95 % interval."""

State = Literal["within", "beyond", "not shown", "not judged"]

ReplacementDecision = Literal["may replace", "may not", "not shown"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Endpoint:
    """One number that a verdict rests on, and how surely it lies above its limit, or below.

    ``limit`` is minus the margin for a difference; None where the number is shown but not judged.
    ``p_within`` is small where it lies above the limit, ``p_beyond`` where it lies below.
    """

    name: str
    estimate: Estimate | Undefined
    limit: float | None = None
    p_within: float = 1.0
    p_beyond: float = 1.0

    @property
    def state(self) -> State:
        """*Within* or *beyond* at a one-sided error of 2.5 %, not corrected for other endpoints."""
        if self.limit is None:
            return "not judged"
        if self.p_within < ERROR:
            return "within"
        return "beyond" if self.p_beyond < ERROR else "not shown"


@dataclass(frozen=True, kw_only=True, slots=True)
class Replacement:
    """The verdict on one target.

    ``beyond`` names the endpoints that decide *may not*, ``open`` those that are not within,
    ``not_judged`` those that are shown alone. ``reason`` says why a target is not shown to be fit
    although each of its endpoints is within; None otherwise. ``sentence`` says it all for a reader
    who reads nothing else. ``rows_needed`` is how many rows of the data give the whole verdict a
    power of 0.8, were the target as good as allows it; None where they are not known or enough.
    """

    target: str
    decision: ReplacementDecision
    endpoints: tuple[Endpoint, ...]
    beyond: tuple[str, ...] = ()
    open: tuple[str, ...] = ()
    not_judged: tuple[str, ...] = ()
    reason: str | None = None
    sentence: str = ""
    rows_needed: int | None = None
