"""What audits against several references show together."""

from __future__ import annotations

from dataclasses import dataclass

from scope.records.estimates import Difference, Estimate, Undefined


@dataclass(frozen=True, kw_only=True, slots=True)
class Correlation:
    """Pearson's correlation of two metrics over all ordered pairs of models.

    ``n`` of the estimate counts pairs. The interval is a jackknife over models.
    """

    metric: str
    other: str
    capability: str
    estimate: Estimate | Undefined


@dataclass(frozen=True, kw_only=True, slots=True)
class GroupEstimate:
    """The mean of one metric over the models of a group, each compared with ``against``.

    A reference that is one of the group is left out of ``members``.
    """

    group: str
    members: tuple[str, ...]
    against: str
    metric: str
    capability: str | None = None
    estimate: Estimate | Undefined


@dataclass(frozen=True, kw_only=True, slots=True)
class AuditMatrix:
    """Asymmetries, correlations and groups of audits against several references.

    An asymmetry is SCoPE(second | first) minus SCoPE(first | second): how much better the second
    keeps what the first ignores than the other way round, paired by example.
    """

    asymmetries: tuple[Difference, ...]
    correlations: tuple[Correlation, ...]
    groups: tuple[GroupEstimate, ...]
