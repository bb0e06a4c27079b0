"""The report of a job on a fleet of models."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from reports.view.fleet_asked import FleetAsked, fleet_asked
from reports.view.fleet_contributions import (
    Communities,
    Contributions,
    communities,
    contribution_section,
)
from reports.view.fleet_expected import Expected, expected
from reports.view.fleet_forecast import Forecasts, forecasts
from reports.view.fleet_headline import FleetHeadline, fleet_headline
from reports.view.fleet_models import Models, models_section
from reports.view.fleet_predictions import PredictionRow, predictions
from reports.view.fleet_routing import Routing, routing
from reports.view.reproduce import Reproduce, reproduce
from reports.view.sections import Section
from scope.records import FleetFindings, FleetResult
from scope.records.fleet import EXAM_JOBS


@dataclass(frozen=True, kw_only=True)
class FleetView:
    """The contents of the sections; empty sections are omitted."""

    headline: FleetHeadline
    asked: FleetAsked
    models: Models | None
    expected: Expected | None
    forecasts: Forecasts | None
    routing: Routing | None
    predictions: tuple[PredictionRow, ...]
    contributions: Contributions | None
    communities: Communities | None
    reproduce: Reproduce

    styles: ClassVar[tuple[str, ...]] = ("report.css", "compare.css", "fleet.css")

    @property
    def sections(self) -> tuple[Section, ...]:
        """The sections that have content, in order."""
        every = (
            (Section("answer", "Answer", "fleet_answer.html.j2"), True),
            (Section("asked", "What was asked", "fleet_asked.html.j2"), True),
            (
                Section("models", "Models", "fleet_models.html.j2"),
                self.models is not None,
            ),
            (
                Section("expected", "Expected accuracy", "fleet_expected.html.j2"),
                self.expected is not None,
            ),
            (
                Section("forecasts", "Forecasts", "fleet_forecast.html.j2"),
                self.forecasts is not None,
            ),
            (Section("routing", "Routing", "fleet_routing.html.j2"), self.routing is not None),
            (
                Section("predictions", "Predicted benchmarks", "fleet_predictions.html.j2"),
                bool(self.predictions),
            ),
            (
                Section("contributions", "Contributions", "fleet_contributions.html.j2"),
                self.contributions is not None,
            ),
            (
                Section("communities", "Communities", "fleet_communities.html.j2"),
                self.communities is not None,
            ),
            (Section("reproduce", "Reproduce", "reproduce.html.j2"), True),
        )
        return tuple(section for section, present in every if present)


def fleet_view(comparison: FleetResult, findings: FleetFindings, *, max_models: int) -> FleetView:
    """Every section of the report on these findings.

    ``max_models`` limits how many models are shown and listed; counts include all.
    """
    return FleetView(
        headline=fleet_headline(comparison, findings),
        asked=fleet_asked(comparison, findings),
        models=None
        if comparison.manifest.job in EXAM_JOBS
        else models_section(findings.members, findings.notes, limit=max_models),
        expected=expected(findings, limit=max_models),
        forecasts=forecasts(findings),
        routing=routing(findings),
        predictions=predictions(findings),
        contributions=contribution_section(findings),
        communities=communities(findings),
        reproduce=reproduce(comparison),
    )
