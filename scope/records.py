"""The records that every layer passes on: frozen, checked, and free of any library's types.

They stand in the order of the work: an example is perturbed, models predict, metrics are
estimated, and a comparison holds it all.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    import pandas

Setting = str | int | float | bool | None
"""A value that may stand in a manifest."""

Probabilities = tuple[float, ...]
"""One probability per label, in the order of the reference's labels; sums to 1 within 1e-4."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Example:
    """One text of a data set, with its gold label where it is known."""

    id: str
    text: str
    label: str | None = None

    def __post_init__(self) -> None:
        if not self.text.strip():
            raise ValueError(f"example {self.id!r} has an empty text")


@dataclass(frozen=True, kw_only=True, slots=True)
class Prediction:
    """A classifier's answer to one text.

    ``truncated`` says that the text was longer than the model's limit and that the model
    saw only its beginning.
    """

    probabilities: Probabilities
    truncated: bool = False

    @property
    def label(self) -> int:
        """Index of the most probable label; the first of equals."""
        return max(range(len(self.probabilities)), key=self.probabilities.__getitem__)


@dataclass(frozen=True, kw_only=True, slots=True)
class Perturbation:
    """What the search found for one example in one trial: a changed text, or why there is none.

    ``score`` is s(x') = 1 / (1 + distance), in (0, 1]; ``queries`` counts the texts for which
    the search asked the reference.
    """

    example_id: str
    trial: int
    text: str | None = None
    score: float | None = None
    queries: int = 0
    failure: str | None = None

    def __post_init__(self) -> None:
        if (self.text is None) == (self.failure is None):
            raise ValueError("a perturbation has either a text or the reason why it has none")


@dataclass(frozen=True, kw_only=True, slots=True)
class Estimate:
    """A number with its confidence interval and the count of examples behind it."""

    value: float
    low: float
    high: float
    n: int
    level: float = 0.95
    method: str

    def __post_init__(self) -> None:
        if not all(map(math.isfinite, (self.value, self.low, self.high))):
            raise ValueError(f"an estimate is finite, not {self.value} [{self.low}, {self.high}]")
        if not self.low <= self.value <= self.high:
            raise ValueError(f"{self.value} lies outside its interval [{self.low}, {self.high}]")

    def __str__(self) -> str:
        return f"{self.value:.3f} [{self.low:.3f}, {self.high:.3f}]"


@dataclass(frozen=True, kw_only=True, slots=True)
class Undefined:
    """A number that does not exist, and why; never 0 in its stead."""

    reason: str
    n: int = 0

    def __str__(self) -> str:
        return f"undefined ({self.reason})"


@dataclass(frozen=True, kw_only=True, slots=True)
class Measurement:
    """One metric of one target against the reference, with the values it is the mean of.

    ``metric`` is the metric's spelling, as in the command line; ``capability`` is None where
    only clean examples count; ``subset`` names a part of the examples, such as
    ``label = positive``, and is None for all. ``example_ids`` runs parallel to ``values``; an
    example stands there once for each of its pairs.
    """

    metric: str
    target: str
    capability: str | None = None
    subset: str | None = None
    estimate: Estimate | Undefined
    example_ids: tuple[str, ...] = ()
    values: tuple[float, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class Difference:
    """First target minus second on the same examples, with its Holm-corrected p-value."""

    metric: str
    first: str
    second: str
    capability: str | None = None
    estimate: Estimate | Undefined
    p_value: float | None = None
    p_adjusted: float | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Curve:
    """A metric along one of its parameters, such as Soft-SCoPE over its cutoff."""

    metric: str
    parameter: str
    target: str
    capability: str
    points: tuple[tuple[float, Estimate], ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Outcome:
    """What became of one capability: measured, or why it was not.

    ``searched`` counts (example, trial) pairs, ``found`` those with a perturbation;
    ``failures`` counts the others by reason. ``trace`` is a failed capability's traceback.
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
class ModelCard:
    """Which model it was: ``name`` is unique in the comparison, ``truncated`` counts texts."""

    name: str
    spec: str
    fingerprint: str
    labels: tuple[str, ...]
    truncated: int = 0


@dataclass(frozen=True, kw_only=True, slots=True)
class DataCard:
    """Which texts they were, and what was left out of them before sampling."""

    spec: str
    fingerprint: str
    rows: int
    used: int
    duplicates: int = 0
    empty: int = 0
    labelled: int = 0


@dataclass(frozen=True, kw_only=True, slots=True)
class CapabilityCard:
    """Which capability it was, in words and settings, and where it comes from."""

    name: str
    question: str
    origin: str
    settings: Mapping[str, Setting]


@dataclass(frozen=True, kw_only=True, slots=True)
class Manifest:
    """What was asked, of which models, on which data, with which software."""

    job: str
    reference: ModelCard
    targets: tuple[ModelCard, ...]
    data: DataCard
    capabilities: tuple[CapabilityCard, ...]
    settings: Mapping[str, Setting]
    versions: Mapping[str, str]
    command: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Clock:
    """When a run was finished and how long its last session took; no part of the result."""

    finished: str
    seconds: float


@dataclass(frozen=True, kw_only=True, repr=False)
class Comparison:
    """The whole result of a job: what was asked, the estimates, and every text behind them."""

    manifest: Manifest
    outcomes: tuple[Outcome, ...]
    measurements: tuple[Measurement, ...]
    differences: tuple[Difference, ...]
    curves: tuple[Curve, ...]
    examples: tuple[ScoredExample, ...]
    perturbations: tuple[ScoredPerturbation, ...]
    clock: Clock | None = None

    # The record knows nobody; whoever turns it into something else is loaded when asked for.

    def __str__(self) -> str:
        from scope.tables import to_text

        return to_text(self)

    def to_frame(self) -> pandas.DataFrame:
        """Every measurement as a row: value, interval, n, and the reason if undefined."""
        from scope.tables import to_frame

        return to_frame(self)

    def to_json(self) -> str:
        """The whole comparison as JSON: the content of a run's ``comparison.json``."""
        from scope.serialization import to_json

        return to_json(self)

    def to_html(self, path: str | Path) -> Path:
        """Write the report, one self-contained file, and return its path."""
        from scope.registry import find

        written = Path(path)
        written.write_text(find("renderers", "html").target().render(self), encoding="utf-8")
        return written
