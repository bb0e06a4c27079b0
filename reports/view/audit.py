"""The contents of an audit's report."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from reports.view.asked import AskedSection, asked
from reports.view.curves import CurveGroup, curves
from reports.view.estimates import (
    DifferenceRow,
    EstimateGroup,
    Estimates,
    difference_section,
    estimates,
    losses,
)
from reports.view.examples import Examples, examples
from reports.view.headline import Headline, headline
from reports.view.outcomes import Failures, failure_section
from reports.view.reproduce import Reproduce, reproduce
from reports.view.sections import Section
from scope.records import Comparison


@dataclass(frozen=True, kw_only=True)
class AuditView:
    """The contents of an audit's sections; an empty one is shown with a note."""

    headline: Headline
    asked: AskedSection
    estimates: Estimates
    differences: tuple[DifferenceRow, ...]
    curves: tuple[CurveGroup, ...]
    losses: tuple[EstimateGroup, ...]
    examples: Examples
    failures: Failures
    reproduce: Reproduce

    peers: ClassVar[str] = "target"
    styles: ClassVar[tuple[str, ...]] = ("report.css",)
    sections: ClassVar[tuple[Section, ...]] = (
        Section("answer", "Answer", "answer.html.j2"),
        Section("asked", "What was asked", "asked.html.j2"),
        Section("estimates", "Estimates", "estimates.html.j2"),
        Section("differences", "Differences", "differences.html.j2"),
        Section("curves", "Cutoff", "curves.html.j2"),
        Section("losses", "Invariance by part", "losses.html.j2"),
        Section("examples", "Examples", "examples.html.j2"),
        Section("failures", "Failures", "failures.html.j2"),
        Section("reproduce", "Reproduce", "reproduce.html.j2"),
    )


def audit_view(comparison: Comparison, *, max_pairs: int, max_failures: int) -> AuditView:
    """Every section of the report on this audit.

    ``max_pairs`` and ``max_failures`` bound how many texts are listed, not what is counted.
    """
    return AuditView(
        headline=headline(comparison),
        asked=asked(comparison, heading="Capabilities"),
        estimates=estimates(comparison),
        differences=difference_section(comparison),
        curves=curves(comparison),
        losses=losses(comparison),
        examples=examples(comparison, limit=max_pairs),
        failures=failure_section(comparison, limit=max_failures),
        reproduce=reproduce(comparison),
    )
