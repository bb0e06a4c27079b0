"""Finds the logs that a spec means, and shows what they hold: models, tasks, items, conditions.

Logs as data: each item once, with its options and the right one, or with the right answer.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from statistics import fmean
from typing import NamedTuple
from urllib.parse import parse_qsl

from scope.data.log_items import CHOICES, GENERATED, Conditions, LogFile, LogFormat, LogItem
from scope.data.sources import Source, SourceRow, UnusableRowError, reading
from scope.errors import DataError
from scope.paths import expanded
from scope.progress import remark_once
from scope.protocols import UntrustedCode
from scope.registry import BUILT_IN, find, names_in

_OF_ITEMS = ("filter", "score", "correct_above")
_CHOICES = tuple(dict.fromkeys((*Conditions._fields, *_OF_ITEMS)))


def format_of(scheme: str) -> LogFormat:
    """The format of the logs of a scheme; that of a plugin behind the boundary of foreign code."""
    entry = find("logs", scheme)
    written: LogFormat = entry.target
    if scheme in BUILT_IN["logs"]:
        return written
    code = UntrustedCode(entry.origin)
    with code.entered("its attributes"):
        return LogFormat(
            tool=str(written.tool),
            expected=str(written.expected),
            is_log=partial(code.call, "is_log", written.is_log),
            read=partial(_read_guarded, code, written),
            folder_of=written.folder_of and partial(code.call, "folder_of", written.folder_of),
        )


def _read_guarded(
    code: UntrustedCode, written: LogFormat, paths: Sequence[Path]
) -> Iterator[LogFile]:
    for log in code.call("read", written.read, paths):
        with code.entered("its logs"):
            rows = partial(code.call, "rows", log.rows)
            guarded = replace(log, rows=rows, parse=partial(code.call, "parse", log.parse))
        yield guarded


class LogSpec(NamedTuple):
    """Which logs: the scheme of their tool, the path, the conditions chosen, and the model."""

    scheme: str
    path: Path
    chosen: Mapping[str, str]
    model: str | None

    @classmethod
    def parse(cls, scheme: str, rest: str) -> LogSpec:
        """Parse the part after ``SCHEME:``.

        Examples
        --------
        >>> LogSpec.parse("lm-eval", "logs?task=arc_easy&shots=5#ours")[1:]
        (PosixPath('logs'), {'task': 'arc_easy', 'shots': '5'}, 'ours')
        """
        where, _, model = rest.partition("#")
        path, _, query = where.partition("?")
        chosen = dict(parse_qsl(query, keep_blank_values=True))
        unknown = sorted(chosen.keys() - _CHOICES)
        if not re.fullmatch(r"0?\.\d+|0", chosen.get("correct_above", "0")):
            unknown = [f"correct_above={chosen['correct_above']}"]
        if unknown:
            raise DataError(
                f"`{unknown[0]}` in {scheme}:{rest}",
                expected=f"conditions of a log: {', '.join(_CHOICES)}, the last from 0 to below 1",
                fix=f"write for example '{scheme}:{path}?task=arc_easy'",
            )
        folder_of = format_of(scheme).folder_of or expanded
        return cls(scheme, folder_of(path), chosen, model or None)

    def files(self) -> tuple[LogFile, ...]:
        """The logs in a folder with its subfolders, or in one file.

        Models of one name that were run with other arguments have these in their names.

        Raises
        ------
        DataError
            When there is none, one cannot be read, or nothing matches the choice.
        """
        log_format = format_of(self.scheme)
        with reading(str(self.path)):
            samples = [path for path in _files(self.path) if log_format.is_log(path)]
            logs = _told_apart(_whole(log_format, samples))
        if not samples:
            raise _no_logs(self.path, log_format)
        # Only an item names its filter and its score.
        wanted = {name: self.chosen[name] for name in self.chosen if name not in _OF_ITEMS}
        of_model = [log for log in logs if self.model in (None, log.model)]
        fitting = [log for log in of_model if wanted.items() <= log.conditions._asdict().items()]
        if not fitting:
            asked = [*map("=".join, wanted.items()), *([f"#{self.model}"] if self.model else ())]
            models = sorted({log.model for log in logs})
            tasks = sorted({log.conditions.task for log in logs})
            raise DataError(
                f"no log in {self.path} with {' and '.join(asked)}",
                expected=f"models: {', '.join(models[:40])}; tasks: {', '.join(tasks[:20])}",
                fix="check the names; `scope logs PATH` lists models, tasks and conditions",
            )
        return _newest(fitting)


def log_specs(path: str) -> tuple[LogSpec, ...]:
    """The logs of any tool at a path, or of one tool after its scheme.

    Raises
    ------
    DataError
        When there are none.
    """
    scheme, _, rest = path.partition(":")
    if scheme in names_in("logs"):
        return (LogSpec.parse(scheme, rest),)
    formats = {name: format_of(name) for name in names_in("logs")}
    local = {name: each for name, each in formats.items() if each.folder_of is None}
    with reading(path):
        files = _files(expanded(path))
        schemes = [name for name in local if any(map(local[name].is_log, files))]
    if not schemes:
        raise _no_logs(expanded(path), *local.values())
    return tuple(LogSpec(name, expanded(path), {}, None) for name in schemes)


def _no_logs(path: Path, *formats: LogFormat) -> DataError:
    tools = ", ".join(each.tool for each in formats)
    return DataError(
        f"no logs of {tools} with samples in `{path}`" if path.exists() else f"no `{path}`",
        expected="; ".join(f"{each.tool}: {each.expected}" for each in formats),
        fix="check the path, or run the evaluation again with its samples logged",
    )


def _files(path: Path) -> list[Path]:
    """The file, or those of a folder; pipes and devices, whose reading may never end, are none."""
    if path.is_dir():
        return [file for file in sorted(path.rglob("*")) if file.is_file()]
    return [path] if path.is_file() else []


def _whole(log_format: LogFormat, samples: Sequence[Path]) -> list[LogFile]:
    """The logs of all files but those that are damaged, if any other is not."""
    try:
        return list(log_format.read(samples))
    except DataError:
        whole = []
        for path in samples[1:] and samples:
            try:
                whole += [path] * bool(list(log_format.read([path])))
            except DataError as error:
                remark_once(f"left out: {error.found}")
        if 0 < len(whole) < len(samples):
            return list(log_format.read(whole))
        raise


def _newest(logs: Sequence[LogFile]) -> tuple[LogFile, ...]:
    """The logs without those of earlier runs of a model under the same conditions."""
    by_date = sorted(logs, key=lambda log: log.date)
    newest = {(log.model, log.conditions): log.date for log in by_date}
    for log in logs:
        date = newest[log.model, log.conditions]
        if log.date != date and log.paths:
            what = f"{log.model} on {log.conditions.task}"
            remark_once(f"of {what} the run of {date} is read; for another name {log.paths[0]}")
    return tuple(log for log in logs if log.date == newest[log.model, log.conditions])


def _told_apart(logs: Sequence[LogFile]) -> tuple[LogFile, ...]:
    """The logs, with the arguments in a model's name where it stands for several models."""
    variants = Counter(model for model, _ in {(log.model, log.arguments) for log in logs})
    return tuple(
        replace(log, model=f"{log.model} ({log.arguments or 'defaults'})")
        if variants[log.model] > 1
        else log
        for log in logs
    )


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
    # Of a thousand models only the hashes of documents and prompts are kept, with their counts.
    met: dict[tuple[Conditions, str], Counter[tuple[str, str]]] = {}
    for file in spec.files():
        by_filter: dict[Conditions, list[LogItem]] = {}
        for item in file.read() if file.readable else ():
            if not item.unusable:
                by_filter.setdefault(item.name.conditions, []).append(item)
        for conditions, items in (by_filter or {file.conditions: []}).items():
            key = (conditions, file.kind)
            models.setdefault(key, []).append(_answers(file, items))
            documents = {(item.name.document, item.name.prompt) for item in items}
            met.setdefault(key, Counter()).update(documents)
    return tuple(
        LoggedTask(
            scheme=spec.scheme,
            **key[0]._asdict(),
            kind=key[1],
            items=len(met[key]),
            shared=list(met[key].values()).count(sum(each.items > 0 for each in answers)),
            models=answers,
        )
        for key, answers in sorted(models.items(), key=lambda pair: pair[0])
    )


def _answers(file: LogFile, items: Sequence[LogItem]) -> LoggedAnswers:
    values: dict[str, list[float]] = {}
    for name, value in (pair for item in items for pair in item.scores.items()):
        if math.isfinite(value):
            values.setdefault(name, []).append(value)
    for name, numbers in values.items():
        if len(numbers) < len(items):
            part = f"{len(numbers)} of {len(items)} items"
            remark_once(f"{file.model}: `{name}` is the mean of {part}")
    return LoggedAnswers(
        model=file.model,
        file=str(file.paths[0]) if file.paths else "",
        items=len(items),
        expected=file.expected if isinstance(file.expected, int) else None,
        scores={name: fmean(numbers) for name, numbers in values.items()},
    )


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
            row = SourceRow(number, tuple(values[column] for column in asked))
            if item.unusable:
                problem = f"{item.place}: {item.unusable}"
                row = row._replace(unusable=UnusableRowError(item.unusable, problem))
            yield row

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
