"""A comparison as a reader sees it: frozen records of words and numbers, no HTML."""

from __future__ import annotations

from dataclasses import dataclass

from reports.view.curves import CurveGroup, curves
from reports.view.estimates import (
    DifferenceRow,
    EstimateGroup,
    Estimates,
    differences,
    estimates,
    losses,
)
from reports.view.examples import Examples, examples
from reports.view.headline import Headline, headline
from reports.view.outcomes import Failures, failures
from reports.view.reproduce import Reproduce, reproduce
from scope.records import Comparison


@dataclass(frozen=True, kw_only=True)
class ReportView:
    """The sections of a report, in their order."""

    headline: Headline
    estimates: Estimates
    differences: tuple[DifferenceRow, ...]
    curves: tuple[CurveGroup, ...]
    losses: tuple[EstimateGroup, ...]
    examples: Examples
    failures: Failures
    reproduce: Reproduce


def build_view(comparison: Comparison, *, max_pairs: int, max_failures: int) -> ReportView:
    """Every section of the report on this comparison.

    ``max_pairs`` and ``max_failures`` bound how many texts are listed, not what is counted.
    """
    return ReportView(
        headline=headline(comparison),
        estimates=estimates(comparison),
        differences=differences(comparison),
        curves=curves(comparison),
        losses=losses(comparison),
        examples=examples(comparison, limit=max_pairs),
        failures=failures(comparison, limit=max_failures),
        reproduce=reproduce(comparison),
    )
