"""What logs hold: for each task and its conditions, which models answered which items."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from scope.data.lm_eval import log_files
from scope.data.lm_eval_samples import CHOICES, GENERATED, Conditions, LogFile


@dataclass(frozen=True, kw_only=True)
class LoggedAnswers:
    """A model's answers to a task: how many, of how many, and their mean scores."""

    model: str
    file: str
    items: int
    expected: int | None
    scores: dict[str, float]


@dataclass(frozen=True, kw_only=True)
class LoggedTask:
    """A task under one set of conditions; ``shared`` counts the items that all models answered."""

    task: str
    version: str
    shots: str
    filter: str
    template: str
    prompt: str
    kind: str
    items: int
    shared: int
    models: list[LoggedAnswers] = field(default_factory=list)

    @property
    def readable(self) -> bool:
        """Whether jobs can read the answers."""
        return self.kind in (CHOICES, GENERATED) and self.items > 0


def contents_of(path: Path) -> tuple[LoggedTask, ...]:
    """Everything in a folder of logs, or in one file of samples, by task and conditions.

    Raises
    ------
    DataError
        When a log cannot be read.
    """
    answers: dict[tuple[Conditions, str], list[LoggedAnswers]] = {}
    documents: dict[tuple[Conditions, str], list[set[tuple[str, str]]]] = {}
    for file in log_files(path, {}, None):
        for conditions, items, logged in _answers(file):
            key = (conditions, file.kind)
            answers.setdefault(key, []).append(logged)
            if items:
                documents.setdefault(key, []).append(items)
    return tuple(
        LoggedTask(
            **conditions._asdict(),
            kind=kind,
            items=len(set().union(*documents.get((conditions, kind), ()))),
            shared=_shared(documents.get((conditions, kind), ())),
            models=models,
        )
        for (conditions, kind), models in sorted(answers.items(), key=lambda pair: pair[0])
    )


def _shared(items: Sequence[set[tuple[str, str]]]) -> int:
    return len(set.intersection(*items)) if items else 0


def _answers(
    file: LogFile,
) -> list[tuple[Conditions, set[tuple[str, str]], LoggedAnswers]]:
    """A model's answers to a task, by filter."""
    items: dict[Conditions, set[tuple[str, str]]] = {}
    totals: dict[Conditions, dict[str, float]] = {}
    readable = file.path is not None and file.kind in (CHOICES, GENERATED)
    for item in file.read() if readable else ():
        conditions = item.name.conditions
        items.setdefault(conditions, set()).add((item.name.document, item.name.prompt))
        total = totals.setdefault(conditions, {})
        for name, value in item.scores.items():
            total[name] = total.get(name, 0.0) + value
    return [
        (
            conditions,
            documents,
            LoggedAnswers(
                model=file.model,
                file=str(file.path or ""),
                items=len(documents),
                expected=file.expected,
                scores={
                    name: value / len(documents)
                    for name, value in totals.get(conditions, {}).items()
                },
            ),
        )
        for conditions, documents in (items or {file.conditions: set()}).items()
    ]
