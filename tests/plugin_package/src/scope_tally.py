"""``tally:PATH#MODEL``: answers in the sheets of Tally, a made-up tool; no model is run.

A sheet is a file ``NAME.tally.jsonl`` with a row for each question: ``model``, ``sheet``,
``asked``, ``options``, and the numbers of the right option and of the chosen one, ``key`` and
``said``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from scope.data.formats import begins_with, json_rows
from scope.data.log_items import CHOICES, LogFile, LogFormat, LogItem


def read_sheets(paths: Sequence[Path]) -> Iterator[LogFile]:
    """A log for each file, all of whose rows are by one model."""
    for path in paths:
        _, first = next(json_rows(path))
        yield LogFile(
            model=first["model"],
            paths=(path,),
            task=first["sheet"],
            shots=0,
            templates={},
            kind=CHOICES,
            rows=partial(json_rows, path),
            parse=item_of,
        )


def item_of(row: Mapping[str, Any]) -> LogItem:
    """A row as an item; one without a number is left out with the error."""
    return LogItem(
        text=row["asked"],
        prompt=row["asked"],
        scores={"exact_match": float(row["said"] == row["key"])},
        options=tuple(row["options"]),
        choice=row["said"],
        right=row["key"],
    )


LOGS = LogFormat(
    tool="Tally",
    expected="NAME.tally.jsonl",
    is_log=partial(begins_with, endings=(".tally.jsonl",), key="sheet"),
    read=read_sheets,
)
