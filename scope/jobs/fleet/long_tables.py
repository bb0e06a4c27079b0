"""Tables with one row per answer, or with one row per question and no answers.

A column is detected by its usual names, of which the first match counts, or named as ``ROLE=NAME``.
So the files of EmbedLLM, with ``prompt_id, model_id, category_id, label, prompt, model_name,
category``, need no options.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

from scope.data.columns import WantedColumn, read_columns
from scope.data.fields import (
    UnreadableError,
    class_name,
    first_of,
    is_missing,
    label_of,
    plain_label,
    read_rows,
    storable,
)
from scope.data.sources import Source
from scope.data.specs import open_source
from scope.errors import DataError, SpecError
from scope.printing import counted, did_you_mean, listed

if TYPE_CHECKING:
    import pandas

NAMES: Final[Mapping[str, Sequence[str]]] = {
    "model": ("model", "model_name", "model_id"),
    "item": ("item", "id", "item_id", "question_id", "prompt_id"),
    "text": ("text", "question", "prompt"),
    "category": ("category", "benchmark", "subject", "dataset", "category_id"),
    "correct": ("correct", "is_correct", "right", "label", "score"),
    "context": ("context", "passage"),
    "options": ("options", "choices"),
    "gold": ("gold", "answer", "answerkey"),
}
"""The usual column names of each role, in any case."""

NONE = "none"
"""The column name of a role that is not read."""

COLUMNS = ("model", "id", "text", "category", "correct")
"""The columns of every data frame of answers."""

_FIX = "fix the row, or name another column: --column ROLE=NAME"
_RIGHT: Final[Mapping[str, int | None]] = (
    dict.fromkeys(("1", "true", "right"), 1)
    | dict.fromkeys(("0", "false", "wrong"), 0)
    | dict.fromkeys(("", "nan"))
)


class LongTable(NamedTuple):
    """Answers in long format with the columns `COLUMNS`, and remarks on what was left out."""

    rows: pandas.DataFrame
    notes: tuple[str, ...] = ()


class AnswerKey(NamedTuple):
    """The right answers of a question, empty if unknown, and its options."""

    gold: tuple[object, ...]
    options: tuple[str, ...] = ()


def read_long(
    spec: str, named: Mapping[str, str], *, answers: bool, one_of_several: bool = False
) -> LongTable:
    """Read a table; ``answers`` requires answers, unless it is one of several and has none.

    Raises
    ------
    DataError
        When a column or value is missing or cannot be read.
    """
    source = open_source(spec)
    columns = choose_matrix_columns(source.columns, named, source.name)
    if not {"model", "correct"} <= columns.keys():
        if answers and not (one_of_several and not {"model", "correct"} & columns.keys()):
            role = "correct" if "model" in columns else "model"
            raise missing_column(role, source.columns, source.name)
        columns = {role: name for role, name in columns.items() if role not in ("model", "correct")}
    rows = _frame(source, columns)
    nobody = (rows["model"].isna() & rows["correct"].notna()).to_numpy().nonzero()[0]
    if len(nobody):
        raise DataError(
            f"{counted(len(nobody), 'answer')} in {source.name} without the name of a model, "
            f"the first in row {nobody[0]} (counted from 0, without a header)",
            expected="the model's name in every row",
            fix="fix the rows, or name another column: --column model=NAME",
        )
    unknown = int((rows["model"].notna() & rows["correct"].isna()).sum())
    note = (
        f"{counted(unknown, 'row')} of {source.name} left out, for whether the answer is right is "
        "not said"
    )
    return LongTable(rows, (note,) if unknown else ())


def _frame(source: Source, columns: Mapping[str, str]) -> pandas.DataFrame:
    import pandas

    wanted = _wanted(source, columns)
    read = read_columns(source, list(wanted.values()), _FIX)
    rows = pandas.DataFrame(
        {
            role: pandas.Categorical.from_codes(column.codes, pandas.Index(column.values))
            for role, column in zip(wanted, read, strict=True)
        }
    )
    rows["id"] = rows["item" if "item" in rows else "text"]
    rows = rows.reindex(columns=list(COLUMNS))
    return rows.assign(correct=rows["correct"].astype("float32"))


def _wanted(source: Source, columns: Mapping[str, str]) -> dict[str, WantedColumn]:
    """The columns to read, by role; the text includes columns of context and options."""
    names = source.class_names.get(columns.get("category", ""), ())

    def category_of(value: object) -> str | None:
        return class_name(value, names) if names and isinstance(value, int) else label_of(value)

    readers = {"model": label_of, "item": label_of, "category": category_of, "correct": correct_of}
    wanted = {
        role: WantedColumn((columns[role],), read, required=role == "item")
        for role, read in readers.items()
        if role in columns
    }
    roles = [role for role in ("text", "context", "options") if role in columns]

    def read(*values: object) -> str | None:
        by_role = dict(zip(roles, values, strict=True))
        context, options = written_of(by_role.get("context")), options_of(by_role.get("options"))
        return whole_text(written_of(by_role["text"]), context, options)

    if "text" in columns:
        required = "item" not in columns
        wanted["text"] = WantedColumn(tuple(columns[role] for role in roles), read, required)
    return wanted


def choose_matrix_columns(
    columns: Sequence[str], named: Mapping[str, str], name: str
) -> dict[str, str]:
    """The column of each role: the named one, otherwise the first with a usual name.

    Parameters
    ----------
    columns
        All columns of the table called ``name``.
    named
        Columns by role; ``none`` for a role that is not read.

    Raises
    ------
    SpecError
        When a role is unknown.
    DataError
        When a named column is missing, or no column identifies a question.

    Examples
    --------
    >>> choose_matrix_columns(["Model", "prompt", "score", "y"], {"correct": "y"}, "a.csv")
    {'model': 'Model', 'text': 'prompt', 'correct': 'y'}
    """
    named = by_role(named)
    for role, column in named.items():
        if column not in (*columns, NONE):
            raise DataError(
                f"no column `{column}` in {name}",
                expected=f"one of its columns: {listed(columns)}",
                fix=f"name another column: --column {role}=NAME",
            )
    free = [column for column in columns if column not in named.values()]
    by_name = {role: named.get(role) or first_of(names, free) for role, names in NAMES.items()}
    chosen = {role: column for role, column in by_name.items() if column not in (None, NONE)}
    if not {"item", "text"} & chosen.keys():
        raise missing_column("item", columns, name, "or the question's text")
    return chosen


def missing_column(role: str, columns: Sequence[str], name: str, rest: str = "") -> DataError:
    """The error for a table without a column of a role that is needed."""
    usual = ", ".join((*NAMES[role], *([rest] if rest else [])))
    return DataError(
        f"no column for {role} in {name}; its columns are {listed(columns)}",
        expected=f"one of the names {usual}",
        fix=f"name the column: --column {role}=NAME",
    )


def by_role(named: Mapping[str, str]) -> dict[str, str]:
    """Columns by the role's own name; ``question`` is another name of ``text``."""
    columns: dict[str, str] = {}
    for name, column in named.items():
        role = "text" if name == "question" else name
        if role not in NAMES:
            raise SpecError(
                f"no column has the role `{name}`",
                expected=f"one of the roles {', '.join((*NAMES, 'question'))}",
                fix=did_you_mean(name, (*NAMES, "question"), "use one of them"),
            )
        if role in columns:
            raise SpecError(
                f"two columns for {role}: `{columns[role]}` and `{column}`",
                expected="one column a role",
                fix="leave one of them out",
            )
        columns[role] = column
    return columns


def answer_keys(specs: Iterable[str], named: Mapping[str, str]) -> dict[str, AnswerKey]:
    """The right answers by question id and by text, from tables with one row per question."""
    keys: dict[str, AnswerKey] = {}
    for spec in specs:
        source = open_source(spec)
        columns = choose_matrix_columns(source.columns, named, source.name)
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


def written_of(value: object) -> str | None:
    """The value as a text; None if missing or blank.

    Raises
    ------
    UnreadableError
        When it is no text.
    """
    if is_missing(value):
        return None
    if not isinstance(value, str | int | float):
        raise UnreadableError(f"{value!r:.60}", "a text")
    return storable(str(value)) if str(value).strip() else None


def correct_of(value: object) -> int | None:
    """Whether an answer is right: 1 or 0, or None if unknown.

    Raises
    ------
    UnreadableError
        When it is neither 0 or 1, nor true or false, nor right or wrong.

    Examples
    --------
    >>> correct_of("Right"), correct_of(False), correct_of(1.0), correct_of(None), correct_of("NaN")
    (1, 0, 1, None, None)
    """
    spelling = "" if is_missing(value) else plain_label(str(value)).casefold()
    if spelling not in _RIGHT:
        raise UnreadableError(
            f"{value!r:.60} for whether the answer is right",
            "0 or 1, true or false, right or wrong, or nothing where it is not known",
        )
    return _RIGHT[spelling]


def gold_of(value: object) -> tuple[object, ...]:
    """The right answers; empty if unknown.

    Examples
    --------
    >>> gold_of(["Ann", "Anna"]), gold_of("B"), gold_of(None)
    (('Ann', 'Anna'), ('B',), ())
    """
    if isinstance(value, list):
        return tuple(value)
    return () if is_missing(value) or value == "" else (value,)


def options_of(value: object) -> tuple[str, ...]:
    """The options of a question: a list of texts, ``{"text": […], …}`` as on the hub, or a text.

    Raises
    ------
    UnreadableError
        When it is none of these.

    Examples
    --------
    >>> options_of(["Ann", "Bob"]), options_of("A) Ann"), options_of(None)
    (('Ann', 'Bob'), ('A) Ann',), ())
    """
    options = value.get("text") if isinstance(value, Mapping) else value
    if is_missing(options) or isinstance(options, str):
        text = written_of(options)
        return () if text is None else (text,)
    if not isinstance(options, list | tuple) or not all(isinstance(x, str) for x in options):
        raise UnreadableError(f"{value!r:.60} as the options", "a list of texts")
    return tuple(map(storable, options))


def whole_text(question: str | None, context: str | None, options: Sequence[str]) -> str | None:
    """A question with its context and options on separate lines.

    Examples
    --------
    >>> whole_text("Who?", None, ("Ann", "Bob"))
    'Who?\\nAnn\\nBob'
    """
    if question is None:
        return None
    return "\n".join([question, *([context] if context else []), *options])
