"""``predictions:FILE.tsv#MODEL``: the options that many models chose, one line per model.

A line is the model's name, a tab, and one character for each row of the data: the letter of the
option, ``.`` where no answer could be found in what the model said, ``-`` where it was not asked.
A letter beyond the question's options is what the model said, but none of them: no answer either.
In a folder, each model has a file of its own.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from scope.data.fields import LETTERS
from scope.data.sources import read_lines
from scope.data.specs import require_file
from scope.errors import DataError, ModelError
from scope.paths import expanded
from scope.printing import did_you_mean
from scope.protocols import Answers
from scope.records import Answer, Question

ALL = "*"
"""Stands for every model of a table."""

_TABLE = re.compile(r"(?P<path>.+\.tsv(?:\.gz)?)(?:#(?P<model>.*))?", re.IGNORECASE | re.DOTALL)
NOT_GIVEN, NOT_ASKED = ".", "-"
"""The characters in place of a letter."""

_OF_ONE_MODEL = (".jsonl", ".jsonl.gz", ".parquet")
"""The endings of files with the answers of one model."""

_BY_ID = "save the answers as .jsonl, with an `id` each"


class TableName(NamedTuple):
    """A table's file and the name of one of its models; None where none is named."""

    path: Path
    model: str | None


def parse_table_name(rest: str) -> TableName | None:
    """Split the part of a spec after ``predictions:``, if it names a table.

    Examples
    --------
    >>> parse_table_name("answers.jsonl") is None
    True
    >>> parse_table_name("answers.tsv.gz#yi-6b").model
    'yi-6b'
    """
    match = _TABLE.fullmatch(rest)
    return TableName(expanded(match["path"]), match["model"] or None) if match else None


class TableColumn:
    """One model of a table, in the role of choice scorer; questions are known by their row."""

    def __init__(self, letters: str, table: TableName, fingerprint: str) -> None:
        self._letters = letters
        self._name = table.path.name
        self.spec = f"predictions:{table.path}#{table.model}"
        self.fingerprint = fingerprint

    def choose(self, questions: Sequence[Question]) -> Answers:
        """Look up every question by its row of the data.

        Raises
        ------
        ModelError
            When a question has no row number, or one that the table lacks.
        """
        for place, question in enumerate(questions):
            yield place, self._answer(question)

    def require_rows(self, rows: int, data: str) -> None:
        """Check that the table is as long as the data.

        Raises
        ------
        ModelError
            When the data have more rows or fewer: the letters would belong to other rows.
        """
        if rows != len(self._letters):
            raise ModelError(
                f"{rows} rows in {data}, and {self._name} with {len(self._letters)} answers a "
                "model, by row",
                expected="one character for each row of the data, in their order",
                fix=f"choose the data that the table was made for, or {_BY_ID}",
            )

    def _answer(self, question: Question) -> Answer:
        if question.row is None or not 0 <= question.row < len(self._letters):
            raise ModelError(
                f"the question `{question.id}` of "
                f"{'no known row' if question.row is None else f'row {question.row}'}, and "
                f"{self._name} with {len(self._letters)} answers a model, by row from 0",
                expected="questions that are made of the rows of the table's data",
                fix=f"choose the data that the table was made for, or {_BY_ID}",
            )
        letter = self._letters[question.row]
        if letter == NOT_ASKED:
            return Answer(asked=False)
        choice = LETTERS.find(letter)
        return Answer(choice=choice if 0 <= choice < len(question.options) else None)


def load_column(table: TableName) -> TableColumn:
    """One model's answers.

    Raises
    ------
    DataError
        When the table cannot be read, no model or an unknown one is named, or its answers hold a
        character that means nothing.
    """
    lines = _read(table.path)
    letters = None if table.model is None else lines.get(table.model)
    if table.model is None or letters is None:
        raise _unknown(table, list(lines))
    strange = re.search(f"[^{LETTERS}{NOT_GIVEN}{NOT_ASKED}]", letters)
    if strange:
        raise DataError(
            f"{strange[0]!r} as answer {strange.start()} of `{table.model}` in {table.path.name} "
            "(the first is 0)",
            expected="a letter from A to Z, `.` for no answer, `-` for not asked",
            fix="fix the line of the model",
        )
    content = hashlib.sha256(table.path.read_bytes() + b"\n" + table.model.encode())
    return TableColumn(letters, table, content.hexdigest()[:16])


def expand_table(table: TableName) -> list[str]:
    """The specs of every model, in the table's order, where ``*`` means all; none for one model.

    Raises
    ------
    DataError
        When the table cannot be read, or no model is named.
    """
    if table.model not in (None, ALL):
        return []
    models = list(_read(table.path))
    if table.model is None:
        raise _unknown(table, models)
    return [f"predictions:{table.path}#{model}" for model in models]


def _read(path: Path) -> Mapping[str, str]:
    require_file(path, "a table of answers: a model's name, a tab, one character per question")
    lines: dict[str, str] = {}
    for number, line in enumerate(read_lines(path), start=1):
        name, tab, letters = line.rstrip("\r\n").partition("\t")
        if not name.strip() or not tab or not letters or name in lines:
            raise DataError(
                f"line {number} of {path.name}: {line.strip()[:60]!r}"
                f"{', a model that is listed twice' if name in lines else ''}",
                expected="a model's name, each once, a tab, and one character per question",
                fix="fix the line",
            )
        lines[name] = letters
        first = next(iter(lines))
        if len(letters) != len(lines[first]):
            raise DataError(
                f"{len(lines[first])} answers of `{first}` and {len(letters)} of `{name}` in "
                f"{path.name}",
                expected="as many characters for each model as there are questions",
                fix="fill the gaps with `-`",
            )
    return lines


def _unknown(table: TableName, models: Sequence[str]) -> DataError:
    name = table.path.name
    shown = ", ".join(models[:40]) + (", …" if len(models) > 40 else "")
    if table.model is None:
        return DataError(
            f"{name}, a table of answers, without the name of a model",
            expected=f"predictions:{name}#MODEL with one of {len(models)}: {shown or '(none)'}",
            fix=f"add #MODEL, or #{ALL} for all of them",
        )
    return DataError(
        f"no model `{table.model}` in {name}",
        expected=f"one of {len(models)}: {shown or '(none)'}",
        fix=did_you_mean(table.model, models, f"check the name, or write #{ALL} for all", most=3),
    )


def prediction_files(folder: Path) -> dict[str, Path]:
    """The files of saved predictions in a folder, by the names of their models.

    Raises
    ------
    DataError
        When there is none.
    """
    files = {
        path.name[: -len(suffix)]: path
        for path in sorted(folder.iterdir())
        for suffix in _OF_ONE_MODEL
        if path.is_file() and path.name.casefold().endswith(suffix)
    }
    if files:
        return files
    raise DataError(
        f"no saved answers in the folder `{folder}`",
        expected=f"one file a model, its name ending in {', '.join(_OF_ONE_MODEL)}",
        fix="name another folder",
    )
