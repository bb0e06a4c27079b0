"""The report of a test of reuse."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from reports.view.answered import Answered, answered
from reports.view.asked import AskedSection, asked
from reports.view.numbers import NumberSection
from reports.view.reproduce import Reproduce
from reports.view.reuse_controls import ControlTable, control_tables
from reports.view.reuse_evidence import EvidenceSection, evidence_section
from reports.view.reuse_items import InformativeItems, informative_item_rows
from reports.view.reuse_limits import Limits, limits
from reports.view.reuse_looks import Looks, looks
from reports.view.reuse_numbers import reuse_numbers, reuse_reproduce
from reports.view.reuse_standing import SuspectPlace, places
from reports.view.reuse_verdict import ReuseHeadline, reuse_headline
from reports.view.sections import Section
from scope.records import ReuseResult


@dataclass(frozen=True, kw_only=True)
class ReuseView:
    """The contents of the sections; empty ones are left out of the page.

    ``answered`` is None if perturbations were searched for.
    """

    headline: ReuseHeadline
    places: tuple[SuspectPlace, ...]
    evidence: EvidenceSection
    informative: tuple[InformativeItems, ...]
    controls: tuple[ControlTable, ...]
    limits: tuple[Limits, ...]
    looks: tuple[Looks, ...]
    asked: AskedSection
    numbers: NumberSection
    answered: Answered | None
    reproduce: Reproduce

    peers: ClassVar[str] = "model"
    styles: ClassVar[tuple[str, ...]] = ("report.css", "reuse.css")

    @property
    def several(self) -> bool:
        """Whether there are several references, which each part must name."""
        return len(self.headline.verdicts) > 1

    @property
    def sections(self) -> tuple[Section, ...]:
        """The sections with content, in order."""
        every = (
            (Section("answer", "Verdict", "verdict.html.j2"), True),
            (Section("standings", "Among the controls", "standings.html.j2"), bool(self.places)),
            (Section("evidence", "Evidence", "evidence.html.j2"), bool(self.evidence.tables)),
            (
                Section("informative", "Most informative questions", "informative.html.j2"),
                bool(self.informative),
            ),
            # The page's script uses the id "controls" for its form.
            (Section("checks", "Controls", "control_checks.html.j2"), bool(self.controls)),
            (Section("looks", "Batches", "looks.html.j2"), bool(self.looks)),
            (Section("limits", "Limits", "limits.html.j2"), True),
            (Section("asked", "What was asked", "asked.html.j2"), True),
            (Section("numbers", "All estimates", "numbers.html.j2"), bool(self.numbers.tables)),
            (
                Section("answered", "What was answered", "answered.html.j2"),
                self.answered is not None,
            ),
            (Section("reproduce", "Reproduce", "reproduce.html.j2"), True),
        )
        return tuple(section for section, present in every if present)


def reuse_view(comparison: ReuseResult, *, max_items: int) -> ReuseView:
    """Every section of the report on this test of reuse.

    ``max_items`` bounds how many texts are listed, not what is counted.
    """
    verdicts = comparison.verdicts
    # Perturbations are not answers to questions.
    manifest = comparison.manifest
    searched = bool(manifest.capabilities) and "trials" in manifest.settings
    return ReuseView(
        headline=reuse_headline(comparison),
        places=places(verdicts),
        evidence=evidence_section(verdicts),
        informative=informative_item_rows(verdicts, limit=max_items),
        controls=control_tables(verdicts),
        limits=limits(verdicts),
        looks=looks(verdicts),
        asked=asked(comparison, heading="Questions"),
        numbers=reuse_numbers(comparison),
        answered=answered(comparison) if comparison.outcomes and not searched else None,
        reproduce=reuse_reproduce(comparison),
    )
