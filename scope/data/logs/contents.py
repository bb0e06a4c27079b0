"""What logs hold: for each task and its conditions, which models answered which items."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from scope.data.logs.finding import LogSpec
from scope.data.logs.items import CHOICES, GENERATED, Conditions, LogFile


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

    scheme: str
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


def contents_of(spec: LogSpec) -> tuple[LoggedTask, ...]:
    """Everything in a folder of logs, or in one file, by task and conditions.

    Raises
    ------
    DataError
        When a log cannot be read.
    """
    answers: dict[tuple[Conditions, str], list[LoggedAnswers]] = {}
    # Of a thousand models only the items of any and those of all are kept.
    of_any: dict[tuple[Conditions, str], set[_Item]] = {}
    of_all: dict[tuple[Conditions, str], set[_Item]] = {}
    for file in spec.files():
        for conditions, items, scores in _by_filter(file):
            key = (conditions, file.kind)
            logged = LoggedAnswers(
                model=file.model,
                file=str(file.paths[0]) if file.paths else "",
                items=len(items),
                expected=file.expected,
                scores={name: total / len(items) for name, total in scores.items()},
            )
            answers.setdefault(key, []).append(logged)
            of_any.setdefault(key, set()).update(items)
            if items:
                of_all[key] = of_all.get(key, items) & items
    return tuple(
        LoggedTask(
            scheme=spec.scheme,
            **conditions._asdict(),
            kind=kind,
            items=len(of_any[conditions, kind]),
            shared=len(of_all.get((conditions, kind), ())),
            models=models,
        )
        for (conditions, kind), models in sorted(answers.items(), key=lambda pair: pair[0])
    )


_Item = tuple[str, str]
"""The hashes of a document and its prompt."""


def _by_filter(file: LogFile) -> Iterator[tuple[Conditions, set[_Item], Counter[str]]]:
    """The items and the sums of scores under each filter; nothing of a task that is not read."""
    items: dict[Conditions, set[_Item]] = {}
    sums: dict[Conditions, Counter[str]] = {}
    for item in file.read() if file.readable else ():
        conditions = item.name.conditions
        items.setdefault(conditions, set()).add((item.name.document, item.name.prompt))
        sums.setdefault(conditions, Counter()).update(item.scores)
    for conditions in items or [file.conditions]:
        yield conditions, items.get(conditions, set()), sums.get(conditions, Counter())
