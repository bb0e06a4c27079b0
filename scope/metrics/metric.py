"""Every metric by its key, and the spelling that means one.

`soft_scope(tolerance=0.1, cutoff=1.0)` is the same in the command line, the JSON and the report;
`str` of a metric writes it and `parse_metric` reads it.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from types import MappingProxyType
from typing import Any, Final, Literal

import numpy as np

from scope.errors import SpecError
from scope.metrics.arrays import Values
from scope.metrics.catalog import AUDIT_METRICS, TASK_METRICS, Metric
from scope.printing import did_you_mean, shown
from scope.registry import find, origins
from scope.untrusted import UntrustedCode

METRICS: Final[Mapping[str, Metric]] = MappingProxyType(
    {metric.key: metric for metric in (*AUDIT_METRICS, *TASK_METRICS)}
)
"""The metrics by key: those of an audit, then those of tasks."""


def find_metric(key: str) -> Metric | None:
    """The metric of that key: one of ours, else one of an installed plugin; None without either.

    A plugin offers a `Metric` with ``on_pairs`` under the entry point ``scope.metrics``.

    Raises
    ------
    SpecError
        When its plugin does not load, or offers something other than a metric.
    """
    return METRICS.get(key) or _of_plugin(key)


@cache
def _of_plugin(key: str) -> Metric | None:
    if key not in origins("metrics"):
        return None
    entry = find("metrics", key)
    if not isinstance(entry.target, Metric):
        raise SpecError(
            f"the metric `{key}` of {entry.origin}: {shown(entry.target)}",
            expected=f"a `scope.metrics.Metric` with the key `{key}`",
            fix="change the entry point",
        )
    metric: Metric = entry.target
    if metric.key != key:
        raise SpecError(
            f"the metric `{key}` of {entry.origin}: its key is `{metric.key}`; the entry point "
            "must have the same name",
            expected=f"an entry point with the name `{metric.key}`",
            fix="rename the entry point, or change the key",
        )
    return replace(
        metric,
        on_pairs=metric.on_pairs and _guarded(metric, entry.origin, metric.on_pairs),
        on_texts=metric.on_texts and _guarded(metric, entry.origin, metric.on_texts),
    )


def _guarded(metric: Metric, origin: str, function: Callable[..., Values]) -> Callable[..., Values]:
    """The function of a plugin's metric, behind the boundary of foreign code."""
    code = UntrustedCode(f"{metric.key} of {origin}")

    def values_of(*compared: Any, **parameters: float) -> Values:
        with code.entered(getattr(function, "__name__", "its function")):
            values = np.array(function(*compared, **parameters), dtype=np.float64)
        if values.shape != (len(compared[0]),):
            raise SpecError(
                f"the metric `{metric.key}` of {origin} gives an array of shape {values.shape}",
                expected=f"one number a pair, of shape ({len(compared[0])},)",
                fix="correct its function",
            )
        # A number slightly out of range is a rounding error at its end.
        inside = (values >= metric.low - 1e-9) & (values <= metric.high + 1e-9)
        if not inside.all():
            raise SpecError(
                f"the metric `{metric.key}` of {origin} gives {values[~inside][0]:g}",
                expected=f"numbers from {metric.low:g} to {metric.high:g}",
                fix="correct its function, or set `low` and `high` of the Metric",
            )
        return values.clip(metric.low, metric.high)

    return values_of


def known_metrics(measured_in: Literal["audits", "tasks"] | None = None) -> list[str]:
    """The spellings of our metrics and plugins' keys, of audits or of tasks alone if asked."""
    ours = [str(metric) for metric in METRICS.values() if measured_in in (None, metric.measured_in)]
    plugins = origins("metrics")
    return [*ours, *(key for key in plugins if measured_in in (None, _measured_in(key)))]


def _measured_in(key: str) -> str:
    """Where a plugin's metric is measured; nowhere if it does not load."""
    try:
        metric = find_metric(key)
    except SpecError:
        return ""
    return metric.measured_in if metric else ""


_SPELLING = re.compile(r"\s*(?P<key>\w+)\s*(?:\((?P<parameters>[^()]*)\)\s*)?")


def parse_metric(text: str, measured_in: Literal["audits", "tasks"] | None = None) -> Metric:
    """Return the metric that a spelling means; parameters left out have their defaults.

    The message on an unknown one lists those of audits or of tasks alone if asked.

    Raises
    ------
    SpecError
        If the metric or a parameter is unknown, or a value is no number or not allowed.

    Examples
    --------
    >>> parse_metric("soft_scope(cutoff=0.5)").parameters["cutoff"]
    0.5
    >>> print(parse_metric("soft_scope"))
    soft_scope(tolerance=0.1, cutoff=1.0)
    """
    match = _SPELLING.fullmatch(text)
    metric = find_metric(match["key"]) if match else None
    if match is None or metric is None:
        known = known_metrics(measured_in)
        keys = [spelling.partition("(")[0] for spelling in known]
        otherwise = "write one of these; parameters in parentheses may be left out"
        raise SpecError(
            f"the metric `{text}`",
            expected=f"one of {', '.join(known)}",
            fix=did_you_mean(text.partition("(")[0].strip(), keys, otherwise),
        )
    try:
        return metric.at(**_read_parameters(match["parameters"] or ""))
    except ValueError as problem:
        names = ", ".join(metric.parameters) or "no parameters"
        raise SpecError(
            f"the metric `{text}`: {problem}",
            expected=f"{metric.key} with {names}",
            fix=f"write `{metric}`, or with other numbers",
        ) from problem


def _read_parameters(text: str) -> dict[str, float]:
    parameters: dict[str, float] = {}
    for part in text.split(",") if text.strip() else []:
        name, equals, written = (piece.strip() for piece in part.partition("="))
        if not equals or not name:
            raise ValueError(f"`{part.strip()}` is not written as name=number")
        if name in parameters:
            raise ValueError(f"{name} is given twice")
        try:
            parameters[name] = float(written)
        except ValueError:
            raise ValueError(f"{name}={written} is not a number") from None
    return parameters


@dataclass(frozen=True, kw_only=True)
class MetricName:
    """A spelling taken apart: what to call the metric, what it means, and its parameters.

    ``meaning`` is None for a number that is no metric of ours.
    """

    spelling: str
    head: str
    label: str
    meaning: str | None
    parameters: Mapping[str, str]


def metric_name(spelling: str) -> MetricName:
    """Take a metric's spelling apart, to be shown; never fails.

    Examples
    --------
    >>> name = metric_name("soft_scope(tolerance=0.1, cutoff=1.0)")
    >>> name.label, name.parameters["cutoff"]
    ('Soft-SCoPE', '1.0')
    >>> metric_name("sem_score_at_least(threshold=0.9)").label
    'SemScore ≥ 0.9'
    >>> metric_name("my_metric").label
    'my_metric'
    """
    head = spelling.partition("(")[0]
    parameters = dict(re.findall(r"(\w+)=([^,)]+)", spelling))
    try:
        metric = find_metric(head)
    except SpecError:  # of a plugin that no longer loads, in a stored result
        metric = None
    if metric is None:
        return MetricName(
            spelling=spelling, head=head, label=spelling, meaning=None, parameters=parameters
        )
    label = metric.title
    for name, value in {"threshold": "a threshold", **parameters}.items():
        label = label.replace(f"{{{name}}}", value)
    return MetricName(
        spelling=spelling,
        head=head,
        label=label,
        meaning=metric.explanation,
        parameters=parameters,
    )
