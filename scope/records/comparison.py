"""The complete result: its configuration, and every text and number."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from scope.records.answer_shares import AnswerShares
from scope.records.answered import Answer, Perturbation, Prediction
from scope.records.asked import Example, Item
from scope.records.estimates import Curve, Difference, Measurement
from scope.records.fleet import FleetFindings
from scope.records.probe import ProbeFindings
from scope.records.task_shares import TaskShares
from scope.records.verdicts import Verdict

if TYPE_CHECKING:
    import pandas

Setting = str | int | float | bool | None
"""A value in a manifest."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Outcome:
    """What became of one capability or task: measured, or why it was not.

    ``reason`` of one that was measured says what of the texts was left as it is, if anything.

    ``searched`` counts (example, trial) pairs, ``found`` those with a perturbation;
    ``failures`` counts the others by reason. For a task they count (item, model) pairs that were
    asked and that were answered. ``trace`` is a failed capability's traceback.
    """

    capability: str
    status: Literal["measured", "not applicable", "skipped", "failed"]
    reason: str | None = None
    searched: int = 0
    found: int = 0
    queries: int = 0
    failures: Mapping[str, int] = field(default_factory=dict)
    trace: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class ScoredExample:
    """A clean example with the predictions of the reference and of each target, in order."""

    example: Example
    reference: Prediction
    targets: tuple[Prediction, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class ScoredPerturbation:
    """A perturbation with the predictions on it; none where the search failed."""

    capability: str
    perturbation: Perturbation
    reference: Prediction | None = None
    targets: tuple[Prediction, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class TaskAnswers:
    """A task's items, with one row of answers per model, in the manifest's order of models."""

    task: str
    items: tuple[Item, ...]
    answers: tuple[tuple[Answer, ...], ...]

    def __post_init__(self) -> None:
        if any(len(row) != len(self.items) for row in self.answers):
            raise ValueError(f"{self.task}: not every model has one answer per item")


@dataclass(frozen=True, kw_only=True, slots=True)
class ModelCard:
    """A model: ``name`` is unique in the comparison, ``truncated`` counts texts.

    ``role`` is its part in the job: ``model`` where all are equals, and in a test of reuse
    ``suspect`` for the target and ``control`` for each model that it is compared with. ``labels``
    is empty for what is no classifier. ``reproducible`` says how equal its answers are whatever
    batches they are computed in, "to the byte" or such as "to about 2e-06"; it is empty where that
    is not known, as where somebody else computes them. ``prompts`` holds the templates that the
    model is asked with, by their names, and ``words`` the word that stands for each label in them.
    """

    name: str
    spec: str
    fingerprint: str
    labels: tuple[str, ...] = ()
    role: Literal["reference", "target", "model", "suspect", "control"]
    truncated: int = 0
    reproducible: str = ""
    prompts: Mapping[str, str] = field(default_factory=dict)
    words: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True, slots=True)
class DataCard:
    """The data, and the rows that were left out before sampling.

    ``capability`` names the task that they belong to, where each has data of its own.
    """

    spec: str
    fingerprint: str
    rows: int
    used: int
    duplicates: int = 0
    empty: int = 0
    labelled: int = 0
    capability: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class CapabilityCard:
    """A capability or task: its question, settings and origin."""

    name: str
    question: str
    origin: str
    settings: Mapping[str, Setting]


@dataclass(frozen=True, kw_only=True, slots=True)
class Manifest:
    """The configuration: models, data, settings and software.

    ``encoder_reproducible`` says of the vectors of a sentence encoder what ``reproducible`` says of
    a model's answers; it is empty where there is none.
    """

    job: str
    models: tuple[ModelCard, ...]
    data: tuple[DataCard, ...]
    capabilities: tuple[CapabilityCard, ...]
    settings: Mapping[str, Setting]
    versions: Mapping[str, str]
    command: str
    encoder_reproducible: str = ""

    @property
    def reference(self) -> ModelCard:
        """The one model that others are compared with; jobs between equals have none."""
        return next(card for card in self.models if card.role == "reference")

    @property
    def targets(self) -> tuple[ModelCard, ...]:
        """The models that are compared with the reference."""
        return tuple(card for card in self.models if card.role == "target")


@dataclass(frozen=True, kw_only=True, slots=True)
class Clock:
    """When a run was finished and how long its last session took; no part of the result.

    ``damaged`` counts the rows of the run's store that this session found damaged, and whose
    content it found again. ``asked_again`` counts the questions that this session repeated to see
    that models whose bytes cannot be hashed are the same, and ``drifts`` says of each model whose
    answers differ slightly by how much.
    """

    finished: str
    seconds: float
    damaged: int = 0
    asked_again: int = 0
    drifts: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True, repr=False)
class Comparison:
    """The complete result of a job: its configuration, the estimates, and every text.

    ``folder`` is the folder of the run that gave it, or None.
    """

    manifest: Manifest
    outcomes: tuple[Outcome, ...]
    measurements: tuple[Measurement, ...]
    differences: tuple[Difference, ...]
    curves: tuple[Curve, ...]
    examples: tuple[ScoredExample, ...]
    perturbations: tuple[ScoredPerturbation, ...]
    answer_shares: tuple[AnswerShares, ...] = ()
    tasks: tuple[TaskAnswers, ...] = ()
    task_shares: tuple[TaskShares, ...] = ()
    verdicts: tuple[Verdict, ...] = ()
    fleet: FleetFindings | None = None
    probe: ProbeFindings | None = None
    clock: Clock | None = None
    folder: Path | None = field(default=None, compare=False)

    # The record knows no renderer: what turns it into something else is found by name when asked.

    def __str__(self) -> str:
        return str(self._rendered("text"))

    def to_frame(self) -> pandas.DataFrame:
        """Every measurement as a row: value, interval, n, and the reason if undefined."""
        frame: pandas.DataFrame = self._rendered("frame")
        return frame

    def to_json(self) -> str:
        """The whole comparison as JSON: the content of a run's ``comparison.json``."""
        return str(self._rendered("json"))

    def to_html(self, path: str | Path) -> Path:
        """Write the report, one self-contained file, and return its path.

        Folders on the way to it are made.
        """
        written = Path(path)
        written.parent.mkdir(parents=True, exist_ok=True)
        written.write_text(self._rendered("html"), encoding="utf-8")
        return written

    def _rendered(self, form: str) -> Any:
        from scope.registry import find

        return find("renderers", form).target(self)
