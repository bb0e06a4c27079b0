"""Tables with one row per answer, or with one row per question and no answers.

A column is detected by its usual names, of which the first match counts, or named as ``ROLE=NAME``.
So the files of EmbedLLM, with ``prompt_id, model_id, category_id, label, prompt, model_name,
category``, need no options.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from scope.data import fields
from scope.data.columns import WantedColumn, read_columns
from scope.data.fields import Fields, UnreadableError, is_missing
from scope.data.items import options_in, right_answers
from scope.data.sources import LeftOutRows, Source, SourceRow, UnusableRowError
from scope.data.specs import open_source
from scope.errors import DataError, SpecError
from scope.jobs.answering_models import notes_on
from scope.printing import counted, did_you_mean, listed

if TYPE_CHECKING:
    import pandas

NAMES: Final[Mapping[str, Sequence[str]]] = {
    "model": ("model", "model_name", "model_id"),
    "item": ("item", "id", "item_id", "question_id", "prompt_id", "sample_id"),
    "text": ("text", "question", "prompt"),
    "category": ("category", "benchmark", "subject", "dataset", "category_id", "eval_name"),
    "correct": ("correct", "is_correct", "right", "label", "score"),
    "context": ("context", "passage"),
    "options": ("options", "choices"),
    "gold": ("gold", "answer", "answerkey"),
}
"""The usual column names of each role, in any case."""

ABOVE = "correct above"
"""In place of a role: the score above which an answer is right."""

NONE = "none"
"""The column name of a role that is not read."""

COLUMNS = ("model", "id", "text", "category", "correct")
"""The columns of every data frame of answers."""

_RIGHT: Final[Mapping[str, int | None]] = (
    dict.fromkeys(("1", "true", "right", "correct", "yes"), 1)
    | dict.fromkeys(("0", "false", "wrong", "incorrect", "no"), 0)
    | dict.fromkeys(("", "nan", "na", "n/a", "<na>", "none", "null"))
)


class LongTable(NamedTuple):
    """Answers in long format with the columns `COLUMNS`, and remarks on what was left out."""

    rows: pandas.DataFrame
    notes: tuple[str, ...] = ()


class AnswerKey(NamedTuple):
    """The right answers of a question, empty if unknown; its options, and their labels."""

    gold: tuple[object, ...] = ()
    options: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()


AnswerKeys = Mapping[str, AnswerKey]
"""By the question's id or text."""


def read_long(
    spec: str, named: Mapping[str, str], most: float, *, answers: bool, alone: bool
) -> LongTable:
    """Read a table; ``answers`` requires answers, unless it has none and is not ``alone``.

    Raises
    ------
    DataError
        When a column is missing, a score is neither 0 nor 1 and no limit is named, or a larger
        share than ``most`` of the rows is unusable.
    """
    source, named = _opened(spec, named)
    columns = choose_matrix_columns(source.columns, named, source.name)
    if not {"model", "correct"} <= columns.keys():
        if answers and (alone or {"model", "correct"} & columns.keys()):
            role = "correct" if "model" in columns else "model"
            raise missing_column(role, source.columns, source.name)
        columns = {role: name for role, name in columns.items() if role not in ("model", "correct")}
    rows, left_out = _frame(source, columns, named.get(ABOVE))
    unusable = notes_on(left_out, len(rows) + left_out.total(), source.name, most)
    nobody = rows["model"].isna() & rows["correct"].notna()
    unknown = rows["model"].notna() & rows["correct"].isna()
    notes = (
        f"{counted(int(mask.sum()), 'row')} of {source.name} left out, {why}"
        for mask, why in (
            (nobody, "an answer without the name of a model"),
            (unknown, "for whether the answer is right is not said"),
        )
        if mask.any()
    )
    return LongTable(rows[~nobody], (*source.notes, *unusable, *notes))


def _opened(spec: str, named: Mapping[str, str]) -> tuple[Source, Mapping[str, str]]:
    """A source with one row per answer, also of a table with a column per model."""
    source = open_source(spec)
    models = named.get("model", "").split(",")
    if len(models) < 2 or not set(models) <= set(source.columns):
        return source, named
    kept = [column for column in source.columns if column not in (*models, "model", "correct")]

    def read(asked: Sequence[str]) -> Iterator[SourceRow]:
        for row in source.read([*kept, *models]):
            values = dict(zip([*kept, *models], row.values, strict=False))
            for model in models[: 1 if row.unusable else None]:
                cells = {**values, "model": model, "correct": values.get(model)}
                yield row._replace(values=tuple(map(cells.get, asked)))

    long = replace(source, columns=(*kept, "model", "correct"), read=read, batches=None)
    return long, {role: name for role, name in named.items() if role not in ("model", "correct")}


def _frame(
    source: Source, columns: Mapping[str, str], above: str | None
) -> tuple[pandas.DataFrame, LeftOutRows]:
    import pandas

    wanted = _wanted(source, columns, None if above is None else float(above))
    coded, left_out = read_columns(source, list(wanted.values()))
    rows = pandas.DataFrame(
        {
            role: pandas.Categorical.from_codes(column.codes, pandas.Index(column.values))
            for role, column in zip(wanted, coded, strict=True)
        }
    )
    rows["id"] = rows["item" if "item" in rows else "text"]
    rows = rows.reindex(columns=list(COLUMNS))
    return rows.assign(correct=rows["correct"].astype("float32")), left_out


def _wanted(
    source: Source, columns: Mapping[str, str], above: float | None
) -> dict[str, WantedColumn]:
    """The columns to read, by role; the text includes columns of context and options."""
    names = source.class_names.get(columns.get("category", ""), ())

    readers: dict[str, Callable[[Any], object]] = {
        "model": fields.label_of,
        "item": fields.label_of,
        "category": partial(fields.label_of, names=names),
        "correct": partial(correct_of, above=above),
    }
    wanted = {
        role: WantedColumn((columns[role],), read, required=role == "item")
        for role, read in readers.items()
        if role in columns
    }
    roles = [role for role in ("text", "context", "options") if role in columns]

    def read(*values: object) -> str | None:
        content = dict(zip(roles, values, strict=True))
        context = written_of(content.get("context"))
        options, _ = options_of(content.get("options"))
        return whole_text(written_of(content["text"]), context, options)

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
    by_name = {
        role: named.get(role) or fields.first_of(names, free) for role, names in NAMES.items()
    }
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
        fix=f"name the column: --column {role}=NAME"
        + "; or the column of each model: --column model=NAME,NAME" * (role == "model"),
    )


def by_role(named: Mapping[str, str]) -> dict[str, str]:
    """Columns by the role's own name; ``question`` is another name of ``text``."""
    columns: dict[str, str] = {}
    for name, column in named.items():
        if name == ABOVE:
            continue
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


def as_fields(columns: Mapping[str, str]) -> dict[str, str]:
    """The columns by the meanings of `Fields`, where the name of a question is its id."""
    return {"id" if role == "item" else role: column for role, column in columns.items()}


def answer_keys(specs: Iterable[str], named: Mapping[str, str]) -> dict[str, AnswerKey]:
    """The right answers by question id and by text, from tables with one row per question.

    An id or text of two questions with other right answers or options identifies neither.
    """
    keys: list[tuple[str, AnswerKey]] = []
    for spec in specs:
        source, roles = _opened(spec, named)
        columns = choose_matrix_columns(source.columns, roles, source.name)
        if "gold" not in columns or {"model", "correct"} & columns.keys():
            continue
        for row in fields.read_rows(source, as_fields(columns)):
            with suppress(UnusableRowError):
                keys += _keys(row)
    return fields.unambiguous(keys)


def _keys(row: Fields) -> list[tuple[str, AnswerKey]]:
    options = row.read("options", options_of) or ()
    key = AnswerKey(tuple(right_answers(row.values["gold"]) or ()), *options)
    return [(name.strip(), key) for name in (row.id, row.text("text")) if name]


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
    return fields.storable(str(value)) if str(value).strip() else None


def correct_of(value: object, above: float | None = None) -> int | None:
    """Whether an answer is right: 1 or 0, or None if unknown.

    A number is right where it is greater than ``above``.

    Raises
    ------
    UnreadableError
        When it is neither 0 or 1, nor true or false, nor right or wrong.
    DataError
        When it is another number, and there is no ``above``.

    Examples
    --------
    >>> correct_of("Right"), correct_of(False), correct_of(1.0), correct_of(None), correct_of("NaN")
    (1, 0, 1, None, None)
    """
    spelling = "" if is_missing(value) else fields.plain_label(str(value)).casefold()
    try:
        score = float(spelling)
    except ValueError:
        score = math.nan
    if above is not None and math.isfinite(score):
        return int(score > above)
    if spelling in _RIGHT:
        return _RIGHT[spelling]
    if math.isfinite(score):
        raise DataError(
            f"{value!r:.60} for whether an answer is right",
            expected="0 or 1, or the score above which an answer is right",
            fix="say which scores are right, such as --correct-above 0.5; or name another "
            "column: --column correct=NAME",
        )
    raise UnreadableError(
        f"{value!r:.60} for whether the answer is right",
        "0 or 1, true or false, right or wrong, or nothing where it is not known",
    )


def options_of(value: object) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The options of a question, in any form that benchmarks have or in one text; and their labels.

    Raises
    ------
    UnreadableError
        When it is none of these.

    Examples
    --------
    >>> options_of(["Ann", "Bob"]), options_of("A) Ann"), options_of(None)
    ((('Ann', 'Bob'), ()), (('A) Ann',), ()), ((), ()))
    """
    if is_missing(value) or isinstance(fields.unprinted(value), str):
        text = written_of(value)
        return ((), ()) if text is None else ((text,), ())
    return options_in(value)


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
