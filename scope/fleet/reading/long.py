"""Tables with an answer a row, or with a question a row and nobody's answers.

Columns are found by their usual names, of which the first that is there counts, or named as
``ROLE=NAME``. So the files of EmbedLLM, with ``prompt_id, model_id, category_id, label, prompt,
model_name, category``, are read as they are.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from scope.data.fields import (
    Coded,
    Codes,
    UnreadableError,
    WantedColumn,
    class_name,
    first_of,
    label_of,
    read_columns,
    read_rows,
)
from scope.data.sources import Source
from scope.data.specs import open_source
from scope.errors import DataError, SpecError
from scope.fleet.reading.cells import (
    UNKNOWN,
    AnswerKey,
    Cells,
    correct_of,
    gold_of,
    options_of,
    whole_text,
    written_of,
)
from scope.printing import counted, did_you_mean, listed

NAMES: Mapping[str, Sequence[str]] = MappingProxyType(
    {
        "model": ("model", "model_name", "model_id"),
        "item": ("item", "id", "item_id", "question_id", "prompt_id"),
        "text": ("text", "question", "prompt"),
        "category": ("category", "benchmark", "subject", "dataset", "category_id"),
        "correct": ("correct", "is_correct", "right", "label", "score"),
        "context": ("context", "passage"),
        "options": ("options", "choices"),
        "gold": ("gold", "answer", "answerkey"),
    }
)
"""The names that columns of each role are known by, whatever their case."""

ALIASES: Mapping[str, str] = MappingProxyType({"question": "text"})
"""Other names of roles."""

NONE = "none"
"""Stands for a column that is there and not to be read."""

_ANSWERS = ("model", "correct", "gold")
_FIX = "fix the row, or name another column: --column ROLE=NAME"


def read_long(
    spec: str, given: Mapping[str, str], *, answers: bool, one_of_several: bool = False
) -> Cells:
    """Read a table; ``answers`` says that it must have some, or beside others tell of questions.

    Raises
    ------
    DataError
        When a column or value is missing or cannot be read, or one id has two texts.
    """
    source = open_source(spec)
    columns = choose_matrix_columns(source.columns, given, source.name)
    if not {"model", "correct"} <= columns.keys():
        tells = one_of_several and not {"model", "correct"} & columns.keys()
        if answers and not tells:
            role = "correct" if "model" in columns else "model"
            raise missing_column(role, source.columns, source.name)
        columns = {role: column for role, column in columns.items() if role not in _ANSWERS}
    wanted = _wanted(source, columns)
    read = read_columns(source, list(wanted.values()), _FIX)
    found = dict(zip(wanted, read, strict=True))
    item = found["item"] if "item" in found else found["text"]
    if answers and not len(item.codes):
        raise DataError(
            f"no row in {source.name} but the names of its columns",
            expected="a row or more",
            fix="look at what wrote the file",
        )
    nobody = Coded([], np.full(len(item.codes), UNKNOWN, dtype=np.int32))
    model, correct = found.get("model", nobody), found.get("correct", nobody)
    values = np.array([*correct.values, UNKNOWN], dtype=np.int8)[correct.codes]
    _require_models(model.codes, values, source)
    unknown = int(np.count_nonzero((model.codes != UNKNOWN) & (values == UNKNOWN)))
    return Cells(
        models=model.values,
        ids=item.values,
        texts=_of_questions("text", item, found.get("text", nobody), source),
        categories=_of_questions("category", item, found.get("category", nobody), source),
        model=model.codes,
        question=item.codes,
        correct=values,
        left_out=_left_out(unknown, source),
    )


def _wanted(source: Source, columns: Mapping[str, str]) -> dict[str, WantedColumn]:
    """What is read of the columns that are there, by role."""
    names = source.class_names.get(columns.get("category", ""), ())

    def category_of(value: object) -> str | None:
        """A category's name; where the source has numbers, what these stand for."""
        return class_name(value, names) if names and isinstance(value, int) else label_of(value)

    readers = {
        "model": label_of,
        "item": label_of,
        "category": category_of,
        "correct": _known_correct,
    }
    wanted = {
        role: WantedColumn((columns[role],), read, required=role == "item")
        for role, read in readers.items()
        if role in columns
    }
    if "text" in columns:
        wanted["text"] = _wanted_text(columns)
    return wanted


def _wanted_text(columns: Mapping[str, str]) -> WantedColumn:
    """The text, with the context and the options that stand in columns of their own."""
    roles = [role for role in ("text", "context", "options") if role in columns]

    def read(*values: object) -> str | None:
        by_role = dict(zip(roles, values, strict=True))
        context, options = written_of(by_role.get("context")), options_of(by_role.get("options"))
        return whole_text(written_of(by_role["text"]), context, options)

    return WantedColumn(tuple(columns[role] for role in roles), read, "item" not in columns)


def _known_correct(value: object) -> int | None:
    found = correct_of(value)
    return None if found == UNKNOWN else found


def _left_out(unknown: int, source: Source) -> tuple[str, ...]:
    if not unknown:
        return ()
    found = f"{counted(unknown, 'row')} of {source.name}"
    return (f"{found} left out, for whether the answer is right is not said",)


def _require_models(model: Codes, correct: NDArray[np.int8], source: Source) -> None:
    nobody = np.flatnonzero((model == UNKNOWN) & (correct != UNKNOWN))
    if len(nobody):
        raise DataError(
            f"{counted(len(nobody), 'answer')} in {source.name} without the name of a model, "
            f"the first in row {nobody[0]} (counted from 0, without a header)",
            expected="the model's name in every row",
            fix="fix the rows, or name another column: --column model=NAME",
        )


def _of_questions(role: str, item: Coded, values: Coded, source: Source) -> Sequence[str | None]:
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
            f"{source.name}: {one!r:.80} and {two!r:.80}",
            expected=f"one {role} for all rows of a question",
            fix=f"fix the ids, or name another column: --column item=NAME, --column {role}=none",
        )
    return [None if code == UNKNOWN else values.values[code] for code in found.tolist()]


def choose_matrix_columns(
    columns: Sequence[str], given: Mapping[str, str], name: str
) -> dict[str, str]:
    """The columns by role: those that were named for it, and else those of usual names.

    Parameters
    ----------
    columns
        All columns of the table called ``name``.
    given
        Columns by role; ``none`` where none is to be read.

    Raises
    ------
    SpecError
        When there is no such role.
    DataError
        When there is no such column, or none that tells a question from others.

    Examples
    --------
    >>> choose_matrix_columns(["Model", "prompt", "score", "y"], {"correct": "y"}, "a.csv")
    {'model': 'Model', 'text': 'prompt', 'correct': 'y'}
    """
    given = by_role(given)
    for role, column in given.items():
        if column not in (*columns, NONE):
            raise DataError(
                f"no column `{column}` in {name}",
                expected=f"one of its columns: {listed(columns)}",
                fix=f"name another column: --column {role}=NAME",
            )
    free = [column for column in columns if column not in given.values()]
    found = {role: given.get(role) or first_of(names, free) for role, names in NAMES.items()}
    chosen = {
        role: column
        for role, column in found.items()
        if column is not None and (column != NONE or NONE in columns)
    }
    if not {"item", "text"} & chosen.keys():
        raise missing_column("item", columns, name, "or the question's text")
    return chosen


def answer_keys(specs: Sequence[str], given: Mapping[str, str]) -> dict[str, AnswerKey]:
    """The right answers of tables with a question a row, by the question's id and by its text.

    Tables with models and their answers have none.
    """
    keys: dict[str, AnswerKey] = {}
    for spec in specs:
        source = open_source(spec)
        columns = choose_matrix_columns(source.columns, given, source.name)
        if "gold" not in columns or {"model", "correct"} & columns.keys():
            continue
        renamed = {"id" if role == "item" else role: column for role, column in columns.items()}
        for fields in read_rows(source, renamed):
            try:
                options = options_of(fields.values.get("options"))
            except UnreadableError as error:
                raise fields.wrong(error.found, error.expected) from error
            key = AnswerKey(gold_of(fields.values["gold"]), options)
            names = (fields.id, fields.text("text") or None)
            keys |= {name.strip(): key for name in names if name is not None}
    return keys


def missing_column(role: str, columns: Sequence[str], name: str, rest: str = "") -> DataError:
    """What to raise where a table has no column of a role that is needed."""
    usual = ", ".join(NAMES[role])
    return DataError(
        f"no column for {role} in {name}; its columns are {listed(columns)}",
        expected=f"one of the names {usual}{', ' if rest else ''}{rest}",
        fix=f"name the column: --column {role}=NAME",
    )


def by_role(given: Mapping[str, str]) -> dict[str, str]:
    """Columns by the role's own name, where another one may have been given."""
    found: dict[str, str] = {}
    for name, column in given.items():
        role = ALIASES.get(name, name)
        if role not in NAMES:
            raise SpecError(
                f"no column has the role `{name}`",
                expected=f"one of the roles {', '.join((*NAMES, *ALIASES))}",
                fix=did_you_mean(name, (*NAMES, *ALIASES), "use one of them"),
            )
        if role in found:
            raise SpecError(
                f"two columns for {role}: `{found[role]}` and `{column}`",
                expected="one column a role",
                fix="leave one of them out",
            )
        found[role] = column
    return found
