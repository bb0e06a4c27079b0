"""What each kind of evidence is called and means, and how a strip shows the suspect."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

from reports.charts import SmallStrip, StripChart, StripDot
from reports.wording import number
from scope.metrics import MetricName, metric_name
from scope.records import Estimate, Evidence, ModelScore

_OWN: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        "shared_mistakes": (
            "Shared mistakes",
            "wrong answers (unusual ones if the right answer is unknown) that the model shares "
            "with the reference more often than expected of independent models of its skill; an "
            "answer that many models give has little weight",
        ),
        "log_probabilities": (
            "Correlated probabilities",
            "correlation of the log-probabilities of the model and the reference, controlling for "
            "all other models",
        ),
    }
)
"""Title and meaning of the kinds of evidence that are no metrics."""


def kind_name(spelling: str) -> MetricName:
    """Take the spelling of a kind of evidence apart; an unknown one keeps its spelling.

    Examples
    --------
    >>> kind_name("shared_mistakes").label, kind_name("capa").label
    ('Shared mistakes', 'CAPA')
    >>> kind_name("my_evidence(k=2)").label, dict(kind_name("my_evidence(k=2)").parameters)
    ('my_evidence(k=2)', {})
    """
    name = metric_name(spelling)
    if name.head in _OWN:
        label, meaning = _OWN[name.head]
        return replace(name, label=label, meaning=meaning)
    return name if name.meaning else replace(name, parameters={})


def kind_heading(spelling: str) -> str:
    """The title of a kind of evidence with its parameters, in one line.

    Examples
    --------
    >>> kind_heading("soft_scope(tolerance=0.1, cutoff=1.0)")
    'Soft-SCoPE (tolerance=0.1, cutoff=1.0)'
    """
    name = kind_name(spelling)
    return f"{name.label} ({parameters_of(name)})" if name.parameters else name.label


def parameters_of(name: MetricName) -> str:
    """The parameters as they are spelled."""
    return ", ".join(f"{key}={value}" for key, value in name.parameters.items())


def explained_kinds(evidence: Iterable[Evidence]) -> tuple[MetricName, ...]:
    """The kinds with a meaning, each once, in order of occurrence."""
    names = (kind_name(one.kind) for one in evidence)
    return tuple({name.label: name for name in names if name.meaning}.values())


def strip_chart(
    suspect: ModelScore | None, controls: Sequence[ModelScore], rate: float
) -> StripChart | None:
    """The joint statistic of the suspect and the controls; None without controls.

    ``rate`` is the p-value that is small enough.
    """
    if not controls:
        return None
    values = [control.value for control in controls]
    rank = "the suspect has none"
    if suspect is not None:
        rank = (
            f"the suspect at {number(suspect.value)}, where {at_least(suspect.value, controls)} "
            "controls are at least as similar to the reference"
        )
    return StripChart(
        label=f"Joint statistic: {len(controls)} controls from {number(min(values))} to "
        f"{number(max(values))}; {rank}; the numbers are in the table",
        x_title="joint statistic (to the right: more similar)",
        controls=tuple(map(_dot, controls)),
        suspect=None if suspect is None else _dot(suspect),
        threshold=threshold(rate, controls),
        rate=f"{rate:.3g}",
        suspect_name="" if suspect is None else suspect.model,
    )


def small_strip(evidence: Evidence, suspect: str) -> SmallStrip | None:
    """The same for one kind of evidence; None without a value or without controls."""
    found, controls = evidence.suspect, evidence.controls
    if not isinstance(found, Estimate) or not controls:
        return None
    return SmallStrip(
        label=f"{kind_heading(evidence.kind)}: the suspect at {number(found.value)}; "
        f"{at_least(found.value, controls)} of {len(controls)} controls reach that; "
        "the numbers are in the tables",
        controls=tuple(map(_dot, controls)),
        suspect=_dot(ModelScore(model=suspect, value=found.value)),
        low=found.low,
        high=found.high,
    )


def _dot(standing: ModelScore) -> StripDot:
    """A model's value as text and as a number.

    >>> _dot(ModelScore(model="other", value=-0.25)).title
    'other: −0.250'
    """
    title = f"{standing.model}: {number(standing.value)}"
    return StripDot(title=title, value=standing.value)


def at_least(value: float, controls: Sequence[ModelScore]) -> int:
    """How many controls are at least as similar to the reference as a model with this value.

    >>> at_least(0.5, [ModelScore(model="a", value=0.5), ModelScore(model="b", value=0.25)])
    1
    """
    return sum(control.value >= value for control in controls)


def threshold(alpha: float, controls: Sequence[ModelScore]) -> float | None:
    """The value that a suspect must exceed for a p-value of at most ``alpha``.

    p = (1 + controls at least as similar) / (controls + 1), so that at most
    ``alpha`` · (controls + 1) − 1 controls may be as similar: the value of the next one is the
    threshold. None if there are too few controls.

    >>> controls = [ModelScore(model=str(place), value=float(place)) for place in range(9)]
    >>> threshold(0.1, controls), threshold(0.2, controls), threshold(0.05, controls)
    (8.0, 7.0, None)
    """
    # α = 0.05 with 19 controls allows none as similar: rounding must not make that −1.
    allowed = math.floor(alpha * (len(controls) + 1) + 1e-9) - 1
    if allowed < 0:
        return None
    return sorted((control.value for control in controls), reverse=True)[allowed]
