"""What each kind of evidence is called, and what it means."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from types import MappingProxyType

from scope.metrics import MetricName, metric_name
from scope.records import Evidence

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
