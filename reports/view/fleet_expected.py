"""The section with the expected accuracies of the models on the questions."""

from __future__ import annotations

from dataclasses import dataclass

from reports.view import wording
from scope.records import Estimate, FleetFindings, Undefined


@dataclass(frozen=True, kw_only=True)
class Expected:
    """The models by expected accuracy, highest first; ``total`` includes those not listed."""

    rows: tuple[tuple[str, wording.Cell], ...]
    total: int


def expected(findings: FleetFindings, *, limit: int) -> Expected | None:
    """The expected accuracies of at most ``limit`` models; None if not requested."""
    if not findings.expected:
        return None
    ordered = sorted(findings.expected, key=lambda one: _from_greatest(one.accuracy))
    return Expected(
        rows=tuple((one.model, wording.share_cell(one.accuracy)) for one in ordered[:limit]),
        total=len(ordered),
    )


def _from_greatest(accuracy: Estimate | Undefined) -> float:
    return -accuracy.value if isinstance(accuracy, Estimate) else float("inf")
