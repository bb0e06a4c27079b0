"""``openllm:ORG/MODEL[@REVISION]``: answers on the Open LLM Leaderboard, from its logs on the hub.

The leaderboard keeps, for each model, what lm-evaluation-harness wrote, as a data set of the hub.
It is downloaded once. Of a task that was run several times the latest run is read.
``openllm:v1/ORG/MODEL`` means the first edition, which ended in June 2024 and had other tasks.

The first edition has a parquet file a task and run, a row an item. No documentation of these files
is known; their columns are told by programs that read them and by people who checked them. Those of
2023 have ``choices`` (texts), ``gold`` (an index), ``predictions`` (the sum of log-likelihoods of
each option), ``acc``, often ``acc_norm``, ``full_prompt`` with the shots, and the question as
``example``, or as ``query`` where ``example`` is an id (ARC in July 2023). In some runs all columns
are texts, as Python prints values. On 1,172 items of ARC, ``acc`` went by the greatest sum and
``acc_norm`` by the greatest per character. Those of 2024, written by lighteval, have empty
``choices`` and ``gold`` and their scores in ``metrics``: their options are not known, so they count
as logs without samples.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from scope.data.formats import begins_with, open_parquet
from scope.data.log_items import CHOICES, LogFile, LogFormat, LogItem
from scope.data.logs import lm_eval
from scope.data.sources import Source
from scope.errors import DataError, first_line

_FIRST = "v1/"
_FIRST_EDITION = "open-llm-leaderboard-old/details_{}"
_SECOND_EDITION = "open-llm-leaderboard/{}-details"
_FILES = ("*.json", "*.jsonl", "*details_harness*.parquet")


@cache
def folder_of(name: str) -> Path:
    """The folder of the hub's cache with the logs of a model, which are downloaded if missing.

    Raises
    ------
    DataError
        When the leaderboard has no logs of that name, or the hub does not give them.
    """
    import httpx
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import HfHubHTTPError, HFValidationError

    model, _, revision = name.partition("@")
    layout = _FIRST_EDITION if model.startswith(_FIRST) else _SECOND_EDITION
    repository = layout.format(model.removeprefix(_FIRST).replace("/", "__"))
    try:
        folder = snapshot_download(
            repository, repo_type="dataset", revision=revision or None, allow_patterns=list(_FILES)
        )
    except (HfHubHTTPError, HFValidationError, httpx.HTTPError, OSError) as error:
        raise DataError(
            f"the hub did not give the logs of `{model}`, the data set {repository} "
            f"({first_line(error)})",
            expected="openllm:ORG/MODEL with the name of a model of the Open LLM Leaderboard, or "
            "openllm:v1/ORG/MODEL of its first edition",
            fix="check the spelling and the network; if the page of the data set asks for it, "
            "accept its conditions and log in with `hf auth login`",
        ) from error
    return Path(folder)


def is_log(path: Path) -> bool:
    """Whether a file holds samples of a task."""
    return is_details(path) or (
        path.name.startswith("samples_") and begins_with(path, (".json", ".jsonl"), "doc_id")
    )


def read_logs(paths: Sequence[Path]) -> Iterator[LogFile]:
    """The latest log of each task, and tasks without samples."""
    details = [path for path in paths if is_details(path)]
    if details:
        return read_details(details)
    by_date = sorted(paths, key=lambda path: path.name)
    latest = {lm_eval.without_date(path): path for path in by_date}
    logs = list(lm_eval.read_logs([*latest.values()]))
    logged = {log.conditions.task for log in logs if log.paths}
    return (log for log in logs if log.paths or log.conditions.task not in logged)


_FILE = re.compile(r"details_harness\|(.+)\|(\d+)_([^|_]+)\.parquet")
_OPTIONS = ("choices", "gold", "predictions")
_NEEDED = (*_OPTIONS, "example", "full_prompt", "acc")


def is_details(path: Path) -> bool:
    """Whether a file has the name of a task's details.

    Examples
    --------
    >>> is_details(Path("details_harness|arc:challenge|25_2023-07-19T15:58:12.174583.parquet"))
    True
    """
    return _FILE.fullmatch(path.name) is not None


def read_details(paths: Sequence[Path]) -> Iterator[LogFile]:
    """The latest log with options of each task and number of shots; else one without samples."""
    latest: dict[tuple[str, str], LogFile] = {}
    for log in sorted(map(_log, paths), key=lambda log: log.date):
        key = (log.conditions.task, log.conditions.shots)
        if log.paths or key not in latest:
            latest[key] = log
    yield from latest.values()


def _log(path: Path) -> LogFile:
    source = open_parquet(path)
    task, shots, date = re.findall(_FILE, path.name)[0]
    repository = next((part for part in path.parts[-2::-1] if "details_" in part), path.parent.name)
    columns = [*_NEEDED, *({"acc_norm", "query"} & set(source.columns))]

    def rows() -> Iterator[tuple[int, Any]]:
        for row in source.read(columns):
            yield row.place + 1, dict(zip(columns, row.values, strict=True))

    return LogFile(
        model=repository.partition("details_")[2].replace("__", "/", 1),
        date=date.replace(":", "-"),  # The time is written 15:58:12 or, later, 15-58-12.
        paths=(path,) if _has_options(source) else (),
        task=task,
        shots=shots,
        templates={},
        kind=CHOICES,
        rows=rows,
        parse=_item,
    )


def _has_options(source: Source) -> bool:
    """Whether the first item has several options, and a number for each."""
    if not set(_NEEDED) <= set(source.columns):
        return False
    row = next(iter(source.read(_OPTIONS)), None)
    if row is None:
        return False
    options, _, sums = map(_value, _OPTIONS, row.values)
    return isinstance(options, list) and isinstance(sums, list) and len(options) == len(sums) > 1


def _value(column: str, value: Any) -> Any:
    """The value of a column, which may be printed."""
    if column in ("example", "query", "full_prompt") or not isinstance(value, str):
        return value
    try:
        return ast.literal_eval(value)
    except (SyntaxError, TypeError, MemoryError, RecursionError) as error:
        raise ValueError(f"`{column}` is {value:.60}") from error


def _item(row: Mapping[str, Any]) -> LogItem:
    fields = {column: _value(column, value) for column, value in row.items()}
    options = tuple(str(option) for option in fields["choices"])
    right = int(fields["gold"])
    if not 0 <= right < len(options):
        raise ValueError(f"the right option {right} of {list(options)}")
    return LogItem(
        text=str(fields.get("query") or fields["example"]),
        prompt=str(fields["full_prompt"]),
        scores={name: float(fields[name]) for name in ("acc", "acc_norm") if name in fields},
        options=options,
        right=right,
        log_likelihoods=tuple(map(float, fields["predictions"])),
    )


LOGS = LogFormat(
    tool="the Open LLM Leaderboard",
    expected="samples_TASK_DATE.json or .jsonl beside results_DATE.json; in the first edition "
    "details_harness|TASK|SHOTS_DATE.parquet",
    is_log=is_log,
    read=read_logs,
    folder_of=folder_of,
)
