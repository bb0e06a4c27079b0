"""Logs as data: each item once, with its options and the right one, or with the right answer."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from scope.data.logs.finding import LogSpec
from scope.data.logs.items import CHOICES, GENERATED, LogFile, LogItem
from scope.data.sources import Source, SourceRow
from scope.errors import DataError


def open_logs(scheme: str, rest: str) -> Source:
    """The items of logs, each once, with options or the text of the right answer.

    Raises
    ------
    DataError
        When there are no samples, tasks of both kinds, or a task was run under two conditions.
    """
    spec = LogSpec.parse(scheme, rest)
    logs = spec.files()
    if not any(log.paths for log in logs):
        raise DataError(
            f"no samples of {', '.join(sorted({log.conditions.task for log in logs}))} in "
            f"{scheme}:{rest}: the logs hold scores alone",
            expected="a log with its samples",
            fix="run the evaluation again with its samples logged",
        )
    files = [log for log in logs if log.readable]
    has_options = _only_kind(files, spec) == CHOICES
    columns = ("id", "question", *(("options",) if has_options else ()), "answer", "category")

    def read(asked: Sequence[str]) -> Iterator[SourceRow]:
        for number, item in enumerate(_distinct_items(files, spec)):
            values = {
                "id": str(item.name),
                "question": item.text,
                "options": list(item.options),
                "answer": item.right if has_options else item.gold,
                "category": item.name.conditions.task,
            }
            yield SourceRow(number, tuple(values[column] for column in asked))

    return Source(f"{scheme}:{rest}", columns, ("id", "question", "category"), read, "row")


def _only_kind(files: Sequence[LogFile], spec: LogSpec) -> str:
    kinds = {file.kind: file.conditions.task for file in files}
    if len(kinds) != 1:
        held = " and ".join(f"{task} ({kind})" for kind, task in kinds.items()) or "no items"
        raise DataError(
            f"{held} in {spec.scheme}:{spec.path}",
            expected=f"tasks of one kind, {CHOICES} or {GENERATED}, with samples",
            fix=f"choose a task: {spec.scheme}:{spec.path}?task=TASK; "
            f"`scope logs {spec.path}` lists them",
        )
    return next(iter(kinds))


def _distinct_items(files: Sequence[LogFile], spec: LogSpec) -> Iterator[LogItem]:
    seen: set[str] = set()
    first: dict[str, LogItem] = {}
    for item in (item for file in files for item in file.read()):
        conditions = item.name.conditions
        if spec.chosen.get("filter", conditions.filter) != conditions.filter:
            continue
        earlier = first.setdefault(conditions.task, item)
        if earlier.name.conditions != conditions:
            raise DataError(
                f"two conditions of one task: {earlier.name.conditions} ({earlier.place}) and "
                f"{conditions} ({item.place})",
                expected="items of one version, number of shots, filter and template",
                fix=f"choose one: {spec.scheme}:PATH?task={conditions.task}&"
                f"{earlier.name.conditions.unlike(conditions)}",
            )
        scored = _scored(item, spec)
        if str(scored.name) not in seen:
            seen.add(str(scored.name))
            yield scored


def _scored(item: LogItem, spec: LogSpec) -> LogItem:
    """The item with the score by which answers are compared, and the right option."""
    score = spec.chosen.get("score", item.name.score)
    right = item.right_option(score)
    unknown = item.scores and score not in item.scores
    if unknown or (item.scores and item.options and right is None):
        raise DataError(
            f"no {f'score `{score}`' if unknown else 'single right option'} in {item.place}",
            expected=f"a target among the options, and a score of: {', '.join(item.scores)}",
            fix=f"choose another task or score: {spec.scheme}:PATH?task=TASK&score=NAME",
        )
    return item._replace(name=item.name._replace(score=score), right=right)
