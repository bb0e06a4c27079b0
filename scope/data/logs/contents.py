"""What logs hold: for each task and its conditions, which models answered which items."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from statistics import fmean

from scope.data.logs.finding import LogSpec
from scope.data.logs.items import CHOICES, GENERATED, Conditions, LogFile, LogItem


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
    models: dict[tuple[Conditions, str], list[LoggedAnswers]] = {}
    # Of a thousand models only the items of any and those of all are kept.
    of_any: dict[tuple[Conditions, str], set[_Item]] = {}
    of_all: dict[tuple[Conditions, str], set[_Item]] = {}
    for file in spec.files():
        by_filter: dict[Conditions, list[LogItem]] = {}
        for item in file.read() if file.readable else ():
            by_filter.setdefault(item.name.conditions, []).append(item)
        for conditions, items in (by_filter or {file.conditions: []}).items():
            key = (conditions, file.kind)
            models.setdefault(key, []).append(_answers(file, items))
            documents = {(item.name.document, item.name.prompt) for item in items}
            of_any.setdefault(key, set()).update(documents)
            if items:
                of_all[key] = of_all.get(key, documents) & documents
    return tuple(
        LoggedTask(
            scheme=spec.scheme,
            **key[0]._asdict(),
            kind=key[1],
            items=len(of_any[key]),
            shared=len(of_all.get(key, ())),
            models=answers,
        )
        for key, answers in sorted(models.items(), key=lambda pair: pair[0])
    )


# The hashes of a document and its prompt.
_Item = tuple[str, str]


def _answers(file: LogFile, items: Sequence[LogItem]) -> LoggedAnswers:
    names = dict.fromkeys(name for item in items for name in item.scores)
    means = {
        name: fmean(item.scores[name] for item in items if name in item.scores) for name in names
    }
    return LoggedAnswers(
        model=file.model,
        file=str(file.paths[0]) if file.paths else "",
        items=len(items),
        expected=file.expected,
        scores=means,
    )
