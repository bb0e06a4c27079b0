"""Logs as data: each item once, with its options and the right one, or with the right answer."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence

from scope.data.logs.finding import LogSpec
from scope.data.logs.items import CHOICES, GENERATED, LogFile, LogItem
from scope.data.sources import Source, SourceRow
from scope.errors import DataError

_NO_SCORE = "no score"


def open_logs(scheme: str, rest: str) -> Source:
    """The items of logs, each once, with options or the text of the right answer.

    Raises
    ------
    DataError
        When there are no samples, tasks of both kinds, or a task was run under two conditions.
    """
    spec = LogSpec.parse(scheme, rest)
    logs = spec.files()
    files = [log for log in logs if log.readable]
    has_options = _only_kind(logs, spec) == CHOICES
    columns = ("id", "question", *(("options",) if has_options else ()), "answer", "category")

    def read(asked: Sequence[str]) -> Iterator[SourceRow]:
        free = _answered_freely(files) if not has_options else set()
        for number, item in enumerate(_distinct_items(files, spec)):
            task = item.name.conditions.task
            values: dict[str, object] = {
                "id": str(item.name),
                "question": item.text,
                "options": list(item.options),
                "answer": item.right if has_options else [] if task in free else list(item.gold),
                "category": item.category or task,
            }
            unusable = (item.unusable, f"{item.place}: {item.unusable}") if item.unusable else ()
            yield SourceRow(number, tuple(values[column] for column in asked), unusable)

    return Source(f"{scheme}:{rest}", columns, ("id", "question", "category"), read, "row")


def _only_kind(files: Sequence[LogFile], spec: LogSpec) -> str:
    kinds = {file.kind: file.conditions.task for file in files if file.readable}
    if len(kinds) != 1:
        held = " and ".join(f"{task} ({kind})" for kind, task in kinds.items())
        tasks = ", ".join(sorted({file.conditions.task for file in files}))
        alone = f"no samples of {tasks} that are read: scores alone, or tasks of another kind,"
        raise DataError(
            f"{held or alone} in {spec.scheme}:{spec.path}",
            expected=f"tasks of one kind, {CHOICES} or {GENERATED}, with samples",
            fix=f"choose a task: --data '{spec.scheme}:{spec.path}?task=TASK'; "
            f"`scope logs {spec.path}` lists those with samples",
        )
    return next(iter(kinds))


def _answered_freely(files: Sequence[LogFile]) -> set[str]:
    """The tasks whose targets are no texts that are asked for, such as a number or a test of code.

    Of the answers with the score 1, fewer than half have all words of a target, or only such.
    """
    right: Counter[str] = Counter()
    for item in (item for file in files for item in file.read()):
        if item.gold and item.value(item.name.score) == 1:
            words, golds = _words(item.answer or ""), map(_words, item.gold)
            has_words = any(gold <= words or words <= gold for gold in golds)
            right[item.name.conditions.task] += 1 if has_words else -1
    return {task for task, more in right.items() if more < 0}


def _words(text: str) -> set[str]:
    return set(re.findall(r"\w+", text.casefold())) or {text}


def _distinct_items(files: Sequence[LogFile], spec: LogSpec) -> Iterator[LogItem]:
    seen: set[str] = set()
    unusable: dict[str, LogItem] = {}
    first: dict[str, LogItem] = {}
    for item in (item for file in files for item in file.read()):
        conditions = item.name.conditions
        if not item.unusable:
            if spec.chosen.get("filter", conditions.filter) != conditions.filter:
                continue
            earlier = first.setdefault(conditions.task, item)
            if earlier.name.conditions != conditions:
                raise _two_conditions(earlier, item, spec)
        scored = _scored(item, spec)
        if scored.unusable:
            unusable.setdefault(item.name.key, scored)
        elif item.name.key not in seen:
            seen.add(item.name.key)
            yield scored
    # What is unusable in the log of one model may be usable in that of another, and what has no
    # score is where no answer to the task has one.
    tasks = {name.partition(":")[0] for name in seen}
    for item in (item for key, item in unusable.items() if key not in seen):
        is_free = item.unusable == _NO_SCORE and item.name.conditions.task not in tasks
        yield item._replace(unusable="") if is_free else item


def _two_conditions(first: LogItem, second: LogItem, spec: LogSpec) -> DataError:
    conditions, other = first.name.conditions, second.name.conditions
    choice = f"task={conditions.task}&{conditions.unlike(other)}"
    return DataError(
        f"two conditions of one task: {conditions} ({first.place}) and {other} ({second.place})",
        expected="items of one version, number of shots, filter and template",
        fix=f"choose one: --data '{spec.scheme}:{spec.path}?{choice}'",
    )


def _scored(item: LogItem, spec: LogSpec) -> LogItem:
    """The item with the score by which answers are compared, and the right option."""
    if item.unusable:
        return item
    score, bound = spec.chosen.get("score", item.name.score), spec.chosen.get("correct_above")
    if item.scores and score not in item.scores:
        return item._replace(unusable=f"no score `{score}` among {', '.join(item.scores)}")
    score = f"{score}>{bound}" if bound and item.scores else score
    item = item._replace(name=item.name._replace(score=score), right=item.right_option(score))
    value = item.value(score)
    # What is chosen of the options is right or wrong without a score.
    if item.right is None if math.isnan(value or 0) else not 0 <= (value or 0) <= 1:
        return item._replace(unusable=f"the score `{score}` is {value}, not from 0 to 1")
    if item.scores and item.options and item.right is None:
        return item._replace(unusable="no single right option")
    return item if item.scores or item.options else item._replace(unusable=_NO_SCORE)
