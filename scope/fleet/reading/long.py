"""Tables with an answer a row, or with a question a row and nobody's answers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from scope.errors import DataError
from scope.fleet.reading.cells import UNKNOWN, Cells
from scope.fleet.reading.codes import Coded, Codes, WantedColumn
from scope.fleet.reading.columns import MatrixColumns, choose_matrix_columns, missing_column
from scope.fleet.reading.tables import Table, open_table, read_columns
from scope.fleet.reading.values import (
    UnreadableError,
    correct_of,
    name_of,
    options_of,
    text_of,
    whole_text,
)
from scope.printing import counted


def read_long(
    spec: str, given: Mapping[str, str], *, answers: bool, one_of_several: bool = False
) -> Cells:
    """Read a table; ``answers`` says that it must have some, or beside others tell of questions.

    Raises
    ------
    DataError
        When a column or value is missing or cannot be read, or one id has two texts.
    """
    table = open_table(spec)
    columns = choose_matrix_columns(table.source.columns, given, table.source.name)
    if columns.model is None or columns.correct is None:
        tells = one_of_several and columns.model is None and columns.correct is None
        if answers and not tells:
            role = "model" if columns.model is None else "correct"
            raise missing_column(role, table.source.columns, table.source.name)
        columns = columns._replace(model=None, correct=None)
    found = _read(table, columns)
    if answers and not len(next(iter(found.values())).codes):
        raise DataError(
            f"no row in {table.source.name} but the names of its columns",
            expected="a row or more",
            fix="look at what wrote the file",
        )
    text = found.get("text")
    item = found["item"] if "item" in found else found["text"]
    rows = len(item.codes)
    nobody = Coded([], np.full(rows, UNKNOWN, dtype=np.int32))
    model, correct = found.get("model", nobody), found.get("correct", nobody)
    values = np.array([*correct.values, UNKNOWN], dtype=np.int8)[correct.codes]
    _require_models(model.codes, values, table)
    unknown = int(np.count_nonzero((model.codes != UNKNOWN) & (values == UNKNOWN)))
    return Cells(
        models=model.values,
        ids=item.values,
        texts=_of_questions("text", item, text or nobody, table),
        categories=_of_questions("category", item, found.get("category", nobody), table),
        model=model.codes,
        question=item.codes,
        correct=values,
        left_out=_left_out(unknown, table),
    )


def _read(table: Table, columns: MatrixColumns) -> dict[str, Coded]:
    """The columns that are there, by role."""
    wanted: dict[str, WantedColumn] = {}
    for role, column, read in (
        ("model", columns.model, name_of),
        ("item", columns.item, name_of),
        ("category", columns.category, _category_reader(table, columns.category)),
        ("correct", columns.correct, _known_correct),
    ):
        if column is not None:
            wanted[role] = WantedColumn((column,), read, required=role == "item")
    if columns.text is not None:
        wanted["text"] = _wanted_text(columns, columns.text)
    return dict(zip(wanted, read_columns(table, list(wanted.values())), strict=True))


def _wanted_text(columns: MatrixColumns, text: str) -> WantedColumn:
    """The text, with the context and the options that stand in columns of their own."""
    names = (text, *(name for name in (columns.context, columns.options) if name is not None))
    required = columns.item is None
    if len(names) == 1:
        return WantedColumn(names, text_of, required)

    def read(question: object, *others: object) -> str | None:
        context = text_of(others[0]) if columns.context is not None else None
        options = options_of(others[-1]) if columns.options is not None else ()
        return whole_text(text_of(question), context, options)

    return WantedColumn(names, read, required)


def _known_correct(value: object) -> int | None:
    found = correct_of(value)
    return None if found == UNKNOWN else found


def _category_reader(table: Table, column: str | None) -> Callable[[object], str | None]:
    """Names of categories; where the source has them as numbers, what these stand for."""
    names = table.source.class_names.get(column or "", ())

    def read(value: object) -> str | None:
        if names and isinstance(value, int):
            if not 0 <= value < len(names):
                raise UnreadableError(f"the category {value}", f"0 to {len(names) - 1}")
            return names[value]
        return name_of(value)

    return read


def _left_out(unknown: int, table: Table) -> tuple[str, ...]:
    if not unknown:
        return ()
    found = f"{counted(unknown, 'row')} of {table.source.name}"
    return (f"{found} left out, for whether the answer is right is not said",)


def _require_models(model: Codes, correct: NDArray[np.int8], table: Table) -> None:
    nobody = np.flatnonzero((model == UNKNOWN) & (correct != UNKNOWN))
    if len(nobody):
        raise DataError(
            f"{counted(len(nobody), 'answer')} in {table.source.name} without the name of a model, "
            f"the first in row {nobody[0]} (counted from 0, without a header)",
            expected="the model's name in every row",
            fix="fix the rows, or name another column: --column model=NAME",
        )


def _of_questions(role: str, item: Coded, values: Coded, table: Table) -> Sequence[str | None]:
    """The one value that each question has in all of its rows, where it has one."""
    known = values.codes != UNKNOWN
    rows, codes = item.codes[known], values.codes[known]
    found = np.full(len(item.values), UNKNOWN, dtype=np.int32)
    found[rows] = codes
    other = np.flatnonzero(found[rows] != codes)
    if len(other):
        first = other[0]
        one, two = values.values[codes[first]], values.values[found[rows[first]]]
        raise DataError(
            f"two values of {role} for the question `{item.values[rows[first]]:.60}` in "
            f"{table.source.name}: {one!r:.80} and {two!r:.80}",
            expected=f"one {role} for all rows of a question",
            fix=f"fix the ids, or name another column: --column item=NAME, --column {role}=none",
        )
    return [None if code == UNKNOWN else values.values[code] for code in found.tolist()]
