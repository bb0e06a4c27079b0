"""What all results have: the configuration, the clock, and the ways to show them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Literal, NamedTuple

from scope.errors import SpecError
from scope.records.estimates import Estimate, Measurement, Region, Undefined
from scope.records.examples import SPARSE_FIELD, LeftOut, Setting

if TYPE_CHECKING:
    import pandas


class FrameRow(NamedTuple):
    """One estimate, flat; ``reason`` says why there is no value, or why it carries no evidence."""

    capability: str
    metric: str
    target: str
    against: str
    subset: str
    value: float | None
    low: float | None
    high: float | None
    n: int
    reason: str

    @classmethod
    def of(
        cls,
        capability: str,
        metric: str,
        target: str,
        estimate: Estimate | Undefined,
        *,
        against: str = "",
        subset: str = "",
    ) -> FrameRow:
        """The row of an estimate; without a value if it is undefined.

        >>> row = FrameRow.of("typo", "hard_scope", "mine", Undefined(reason="no pair"))
        >>> row.value, row.reason
        (None, 'undefined (no pair)')
        """
        row = cls(capability, metric, target, against, subset, None, None, None, estimate.n, "")
        if isinstance(estimate, Undefined):
            return row._replace(reason=str(estimate))
        return row._replace(value=estimate.value, low=estimate.low, high=estimate.high)

    @classmethod
    def measured(cls, measurement: Measurement) -> FrameRow:
        """The row of a measurement."""
        return cls.of(
            measurement.capability or "",
            measurement.metric,
            measurement.target,
            measurement.estimate,
            against=measurement.against or "",
            subset=measurement.subset or "",
        )


_MOST_NAMED = 4
"""Models that `repr` names."""


COMPARED = ("baseline", "floor")
"""The roles of models that targets of an audit are compared with."""

MEMORY = "memory:"
"""Begins the spec of data, and of models, that are passed from Python and known by content."""

OBJECT = "object:"
"""Begins the spec and the fingerprint of an object of Python that one process alone knows."""

ASKED_ANEW = (
    "asked anew by each process: give it a `fingerprint` attribute, or pass "
    "`python:MODULE:ATTRIBUTE`, to reuse its answers"
)
"""How answers of such an object are kept."""

ModelRole = Literal[
    "reference", "target", "baseline", "floor", "model", "suspect", "control", "derivative"
]


DIFFERENTLY = "answers differently alone and "
"""Begins how equal answers are that depend on the batch, or on an endpoint's other requests."""

TEXT_BY_TEXT = f"{DIFFERENTLY}in a batch; it was asked text by text"
SAMPLED = "samples its answers: its server refuses to take the likeliest ones"
"""How equal the answers of such models are."""


@dataclass(frozen=True, kw_only=True, slots=True)
class PromptReading:
    """How a language model reads its prompts.

    ``template`` is the text of its chat template around a message, empty where it reads plain
    prompts, and None where that is not known, as of a server's. ``first_prompts`` holds the first
    prompt of each template as the model reads it, with special tokens; of a server, as it is sent.
    """

    template: str | None = None
    first_prompts: Mapping[str, str] = field(default_factory=dict)

    @property
    def first_token(self) -> str:
        """The special token that begins its prompts; empty where none does."""
        match = _SPECIAL.match(next(iter(self.first_prompts.values()), ""))
        return match[0] if match else ""


_SPECIAL = re.compile(r"<[^<>\s]+>|\[[A-Za-z]+\]")


@dataclass(frozen=True, kw_only=True, slots=True)
class ModelCard:
    """A model: ``name`` is unique in the result, ``truncated`` counts texts that it read in part.

    ``cut`` counts those of its ``answers`` that end at the limit on their tokens; in an audit each
    unchanged or changed text has one.

    ``role`` is its part in the job: ``model`` where all are equals, and in an audit of several
    references for one that is also a target, ``baseline`` for the target of an audit that is the
    reference trained or loaded in another way, and in a test of reuse ``suspect`` for the target
    and ``control`` or ``derivative`` for each model that it is compared with. ``labels`` is empty
    for what is no classifier. ``reproducible`` says how equal its answers are whatever batches they
    are computed in, "to the byte" or such as "to about 2e-06", `TEXT_BY_TEXT` or `SAMPLED`; it is
    empty where that is not known, as where somebody else computes them. ``prompts`` holds the
    templates that the model is asked with, by their names, and ``words`` the word that stands for
    each label in them; ``reading`` is how a language model reads them. ``missing`` counts the
    questions to which it gave no answer, by reason; the examples are what it replied most often, or
    the ids of questions.
    """

    name: str
    spec: str
    fingerprint: str
    labels: tuple[str, ...] = ()
    role: ModelRole
    truncated: int = 0
    cut: int = field(default=0, metadata=SPARSE_FIELD)
    answers: int = field(default=0, metadata=SPARSE_FIELD)
    reproducible: str = ""
    prompts: Mapping[str, str] = field(default_factory=dict)
    words: Mapping[str, str] = field(default_factory=dict)
    missing: tuple[LeftOut, ...] = field(default=(), metadata=SPARSE_FIELD)
    reading: PromptReading | None = field(default=None, metadata=SPARSE_FIELD)


@dataclass(frozen=True, kw_only=True, slots=True)
class DataCard:
    """The data, and the rows that were left out before sampling.

    ``capability`` names the task that they belong to, where each has data of its own. ``left_out``
    are the rows that cannot be used, by reason. ``notes`` say how the data are read, in sentences.
    ``parts`` names the parts of a text, where it has several.
    """

    spec: str
    fingerprint: str
    rows: int
    used: int
    duplicates: int = 0
    empty: int = 0
    labelled: int = 0
    capability: str | None = None
    left_out: tuple[LeftOut, ...] = field(default=(), metadata=SPARSE_FIELD)
    notes: tuple[str, ...] = field(default=(), metadata=SPARSE_FIELD)
    parts: tuple[str, ...] = field(default=(), metadata=SPARSE_FIELD)

    @property
    def all_left_out(self) -> tuple[LeftOut, ...]:
        """The rows that cannot be used, and the empty ones."""
        empty = [LeftOut(reason="empty", count=self.empty)] if self.empty else []
        return (*self.left_out, *empty)


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
    def references(self) -> tuple[ModelCard, ...]:
        """The models that others are compared with; several in an audit of many directions."""
        return tuple(card for card in self.models if card.role in ("reference", "model"))

    @property
    def targets(self) -> tuple[ModelCard, ...]:
        """The models that are compared with the reference."""
        return tuple(card for card in self.models if card.role in ("target", *COMPARED))

    @property
    def baseline(self) -> ModelCard | None:
        """The model that the reference may be replaced by, with which targets are compared."""
        return next((card for card in self.models if card.role == "baseline"), None)


@dataclass(frozen=True, kw_only=True, slots=True)
class Clock:
    """When a run was finished and how long all its sessions took; no part of the result.

    ``asked_again`` counts the questions that this session repeated to see
    that models whose bytes cannot be hashed are the same, and ``drifts`` says of each model whose
    answers differ slightly by how much.
    """

    finished: str
    seconds: float
    asked_again: int = 0
    drifts: tuple[str, ...] = ()


class VerdictLine(NamedTuple):
    """A verdict for a reader, or a machine, that knows no job: the models that it is about."""

    subject: str
    decision: str
    sentence: str


class Picture(str):
    """Charts as HTML with SVG inside; the last line of a notebook's cell shows them."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        return str(self)


@dataclass(frozen=True, kw_only=True, repr=False)
class Result:
    """What every job returns: its configuration, when it ran, and its report in every form.

    Each job has a subclass that adds what the job finds. ``folder`` is the folder of the run that
    gave the result, or None.
    """

    manifest: Manifest
    clock: Clock | None = None
    folder: Path | None = field(default=None, compare=False)

    # The record knows no renderer: what turns it into something else is found by name when asked.

    def failed_parts(self) -> Sequence[str]:
        """A line for each part of the job that failed; then the command fails, too."""
        return ()

    def verdict_lines(self) -> Sequence[VerdictLine]:
        """Each verdict in words; none unless the job reaches verdicts."""
        return ()

    def __str__(self) -> str:
        return self._made_by("scope.jobs.pages:terminal_text")

    def __repr__(self) -> str:
        """One line: the job, the models, the rows and the folder."""
        cards = self.manifest.models
        models = ", ".join(card.name for card in cards[:_MOST_NAMED])
        more = f" and {len(cards) - _MOST_NAMED} more" if len(cards) > _MOST_NAMED else ""
        parts = (
            self.manifest.job,
            f"{models}{more}",
            " + ".join(f"n={card.used}" for card in self.manifest.data),
            "" if self.folder is None else str(self.folder),
        )
        return f"<{type(self).__name__}: {'; '.join(filter(None, parts))}>"

    def rows(self) -> Iterator[FrameRow]:
        """Every number as a row of a data frame; none unless the job's record says more."""
        yield from ()

    def example_rows(self) -> Iterator[Mapping[str, object]]:
        """Every answer as a row of a data frame; none unless the job's record says more."""
        yield from ()

    def to_frame(
        self,
        what: Literal["estimates", "examples", "regions"] = "estimates",
        *,
        worst_first: bool = False,
    ) -> pandas.DataFrame:
        """The numbers, the texts with the models' answers, or the regions, as a data frame.

        Parameters
        ----------
        what
            ``estimates``: every number as a row, with its value, interval, n, and the reason if it
            is undefined. ``examples``: of an audit each pair of texts and each model as a row, with
            the model's answer to both and whether it is kept, the probabilities of the answer to
            the original before and after the change by the model and by the reference, and the L1
            distance between the shifts of both; of written answers each unchanged text and each
            model, too, with the reference's answer beside the model's own; of a comparison each
            question and each model.
            ``regions``: of audits and comparisons, each region as a row (`scope.records.Region`).
        worst_first
            Of the examples of an audit: the greatest distance first.

        Raises
        ------
        SpecError
            When it is neither, or the result of the job keeps no examples, or no distances.
        """
        import pandas as pd

        if what == "estimates":
            if worst_first:
                raise SpecError(
                    "worst_first of the estimates",
                    expected="examples, which have a distance",
                    fix="use to_frame('examples', worst_first=True)",
                )
            return pd.DataFrame(list(self.rows()), columns=list(FrameRow._fields))
        regions = getattr(self, "regions", None)
        if what == "regions" and regions is not None:
            names = [each.name for each in fields(Region) if each.name != "excess"]
            names += [f"excess.{each.name}" for each in fields(Estimate)]
            rows = pd.json_normalize([asdict(region) for region in regions])
            return rows.reindex(columns=names)
        examples = list(self.example_rows()) if what == "examples" else []
        if not examples:
            raise SpecError(
                f"to_frame({what!r}) of a result of the job {self.manifest.job}",
                expected="estimates; or examples or regions, of an audit or a comparison",
                fix="omit it for the estimates",
            )
        frame = pd.DataFrame(examples)
        if not worst_first:
            return frame
        if "distance" not in frame:
            raise SpecError(
                f"worst_first of a result of the job {self.manifest.job}",
                expected="an audit, whose examples have a distance",
                fix="omit worst_first",
            )
        return frame.sort_values("distance", ascending=False, kind="stable", ignore_index=True)

    def to_json(self) -> str:
        """The whole result as JSON: the content of a run's ``result.json``."""
        return self._made_by("scope.serialization:to_json")

    def to_short_json(self) -> str:
        """What a script needs as JSON: models, headline, verdicts, estimates and paths."""
        return self._made_by("scope.jobs.pages:to_short_json")

    def to_markdown(self, *, verbose: bool = False) -> str:
        """The answer as Markdown in at most 60 lines; with ``verbose`` every table.

        Charts are left out.
        """
        return self._made_by("scope.jobs.pages:markdown_of", verbose=verbose)

    def to_html(self, path: str | Path) -> Path:
        """Write the report, one self-contained file, and return its path.

        Folders on the way to it are made.
        """
        written = Path(path)
        written.parent.mkdir(parents=True, exist_ok=True)
        written.write_text(self.html(), encoding="utf-8")
        return written

    def html(self) -> str:
        """The report as one self-contained HTML document."""
        return self._made_by("scope.jobs.pages:html_of")

    def plot(self) -> Picture:
        """The picture of the report, which a notebook shows: HTML with SVG inside.

        Raises
        ------
        SpecError
            When the report has none.
        """
        return Picture(self._made_by("scope.jobs.pages:picture_html"))

    def _repr_html_(self) -> str:
        """What a notebook shows: the first tables of the report."""
        return self._made_by("scope.jobs.pages:notebook_html")

    def _made_by(self, function: str, **options: object) -> str:
        # By its name, since pages stand above records.
        return str(resolve_name(function)(self, **options))
