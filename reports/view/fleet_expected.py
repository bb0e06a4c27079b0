"""The section with what is expected of the models on the questions asked."""

from __future__ import annotations

from dataclasses import dataclass

from reports.view import wording
from scope.records import Estimate, FleetFindings, Undefined


@dataclass(frozen=True, kw_only=True)
class Expected:
    """The models expected to be right most often first; ``total`` counts those left out, too."""

    rows: tuple[tuple[str, wording.Cell], ...]
    total: int


def expected(findings: FleetFindings, *, limit: int) -> Expected | None:
    """What is expected of the models, ``limit`` of them at most; None where it was not asked."""
    if not findings.expected:
        return None
    ordered = sorted(findings.expected, key=lambda one: _from_greatest(one.accuracy))
    return Expected(
        rows=tuple((one.model, wording.share_cell(one.accuracy)) for one in ordered[:limit]),
        total=len(ordered),
    )


def _from_greatest(accuracy: Estimate | Undefined) -> float:
    return -accuracy.value if isinstance(accuracy, Estimate) else float("inf")
