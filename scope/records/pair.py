"""The result of `scope pair`: those of the jobs that fit the models and the data."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from scope.records.estimates import Measurement
from scope.records.probe import LayerAlignment
from scope.records.result import FrameRow, Result, VerdictLine
from scope.records.results import AuditResult, CompareResult, EstimatedResult, ReuseResult


@dataclass(frozen=True, kw_only=True, slots=True)
class NotRun:
    """A part that does not fit the models or the data, and why; ``job`` is its command."""

    job: str
    part: str
    reason: str


@dataclass(frozen=True, kw_only=True, slots=True)
class ModelFacts:
    """How large and how fast a model is; None is unknown, and ``reason`` says why.

    ``stored`` and ``memory`` count bytes: of the files of weights, and of the parameters as they
    are loaded in the precision ``dtype``. ``seconds`` is the mean time of an answer, over the
    ``timed`` texts or questions that were asked for it on the machine of the run.
    """

    model: str
    parameters: int | None = None
    stored: int | None = None
    dtype: str | None = None
    memory: int | None = None
    seconds: float | None = None
    timed: int = 0
    reason: str = ""


@dataclass(frozen=True, kw_only=True, repr=False)
class PairResult(Result):
    """What the jobs on two or more models found, each as its own command finds it.

    ``audits`` holds one result a direction, ``comparisons`` one a task, ``reuses`` one a pair of
    models; they have neither clock nor folder. ``similarities`` are CAPA and error consistency of
    each two models on the labels of unchanged texts, ``alignments`` of their layers on them.
    """

    audits: tuple[AuditResult, ...] = ()
    comparisons: tuple[CompareResult, ...] = ()
    reuses: tuple[ReuseResult, ...] = ()
    similarities: tuple[Measurement, ...] = ()
    facts: tuple[ModelFacts, ...] = ()
    alignments: tuple[LayerAlignment, ...] = ()
    not_run: tuple[NotRun, ...] = ()

    @property
    def parts(self) -> tuple[EstimatedResult, ...]:
        """All results, in the order of the page."""
        return (*self.audits, *self.comparisons, *self.reuses)

    def failed_parts(self) -> Sequence[str]:
        """A line for each capability or task of a part that failed."""
        return [line for part in self.parts for line in part.failed_parts()]

    def verdict_lines(self) -> Sequence[VerdictLine]:
        """The verdicts of every part."""
        return [line for part in self.parts for line in part.verdict_lines()]

    def rows(self) -> Iterator[FrameRow]:
        """Every measurement; ``against`` names the reference of an audit."""
        for audit in self.audits:
            for row in audit.rows():
                yield row._replace(against=row.against or audit.manifest.reference.name)
        yield from map(FrameRow.measured, self.similarities)
        for part in (*self.comparisons, *self.reuses):
            yield from part.rows()

    def example_rows(self) -> Iterator[Mapping[str, object]]:
        """Every answer of every part; of an audit each row names the reference."""
        for audit in self.audits:
            for row in audit.example_rows():
                yield {"reference": audit.manifest.reference.name, **row}
        for part in self.comparisons:
            yield from part.example_rows()
