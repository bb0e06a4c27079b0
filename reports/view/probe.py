"""The report of a probe."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from reports.view.probe_alignment import Alignment, alignment_section
from reports.view.probe_asked import ProbeAsked, probe_asked
from reports.view.probe_headline import ProbeHeadline, probe_headline
from reports.view.probe_layers import Layers, layers
from reports.view.probe_misjudged import Misjudged, misjudged_section
from reports.view.probe_steps import Steps, steps_section
from reports.view.reproduce import Reproduce, reproduce
from reports.view.sections import Section
from scope.records import ProbeFindings, ProbeResult


@dataclass(frozen=True, kw_only=True)
class ProbeView:
    """The contents of the sections; empty sections are omitted."""

    headline: ProbeHeadline
    asked: ProbeAsked
    steps: Steps | None
    layers: Layers | None
    alignments: tuple[Alignment, ...]
    misjudged: Misjudged | None
    reproduce: Reproduce

    styles: ClassVar[tuple[str, ...]] = ("report.css", "compare.css", "fleet.css", "probe.css")

    @property
    def sections(self) -> tuple[Section, ...]:
        """The sections that have content, in order."""
        every = (
            (Section("answer", "Answer", "probe_answer.html.j2"), True),
            (Section("asked", "What was asked", "probe_asked.html.j2"), True),
            (Section("steps", "Steps", "probe_steps.html.j2"), self.steps is not None),
            (
                Section("layers", "Layers", "probe_layers.html.j2"),
                self.layers is not None,
            ),
            (
                Section("alignments", "Similarity of layers", "probe_alignments.html.j2"),
                bool(self.alignments),
            ),
            (
                Section("misjudged", "Misjudged pairs", "probe_misjudged.html.j2"),
                self.misjudged is not None,
            ),
            (Section("reproduce", "Reproduce", "reproduce.html.j2"), True),
        )
        return tuple(section for section, present in every if present)


def probe_view(comparison: ProbeResult, findings: ProbeFindings, *, max_pairs: int) -> ProbeView:
    """Every section of the report on these findings.

    ``max_pairs`` limits the number of misjudged pairs shown per model.
    """
    return ProbeView(
        headline=probe_headline(comparison, findings),
        asked=probe_asked(comparison, findings),
        steps=steps_section(findings),
        layers=layers(findings),
        alignments=alignment_section(findings),
        misjudged=misjudged_section(findings, limit=max_pairs),
        reproduce=reproduce(comparison),
    )
