"""An estimate as a row of a data frame."""

from __future__ import annotations

from typing import NamedTuple

from scope.records.estimates import Estimate, Undefined


class FrameRow(NamedTuple):
    """One estimate, flat; ``reason`` says why there is no value, or why it carries no evidence."""

    capability: str
    metric: str
    target: str
    against: str
    subset: str
    value: float | None
    low: float | None
    high: float | None
    n: int
    reason: str

    @classmethod
    def of(
        cls,
        capability: str,
        metric: str,
        target: str,
        estimate: Estimate | Undefined,
        *,
        against: str = "",
        subset: str = "",
    ) -> FrameRow:
        """The row of an estimate; without a value if it is undefined.

        >>> row = FrameRow.of("typo", "hard_scope", "mine", Undefined(reason="no pair"))
        >>> row.value, row.reason
        (None, 'undefined (no pair)')
        """
        known = estimate if isinstance(estimate, Estimate) else None
        return cls(
            capability=capability,
            metric=metric,
            target=target,
            against=against,
            subset=subset,
            value=None if known is None else known.value,
            low=None if known is None else known.low,
            high=None if known is None else known.high,
            n=estimate.n,
            reason=str(estimate) if known is None else "",
        )
