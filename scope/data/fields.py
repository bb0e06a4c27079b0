"""The rows of a table, or its whole columns, by what the columns mean: text, label, id, ..."""

from __future__ import annotations

import ast
import json
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar
from warnings import catch_warnings, simplefilter

from scope.data.sources import UNREADABLE, LeftOutRows, Source, SourceRow, UnusableRowError, reading
from scope.errors import DataError, listed, unstorable
from scope.records.text_parts import SEPARATOR

if TYPE_CHECKING:
    import pandas

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
"""Of the options, in order; a question has no more of them than there are letters."""

Value = TypeVar("Value")

_TEXTS = "text sentence content review question comment tweet message body"
LABEL_NAMES = ("label", "labels", "sentiment", "category", "class")

NONE = "none"
"""In place of the name of a column: none has the role, such as that of gold labels."""

SLICE = "slice "
"""Begins the role of a column whose values are slices."""

CLUSTER = "cluster"
"""The role of a column whose values name the cluster of each row."""

PART = "part "
"""Begins the role of a column that holds one of several parts of a text."""

SHARED = "context"
"""The role of a column whose value several rows may have in common, such as a passage."""

SHARED_NAMES = ("context", "passage", "document", "doc", "article", "premise", "user", "author")
"""Names of such columns; each may end in _id."""

_PRINTED = 1 << 16
"""Most letters of a printed value."""

_TEXT = r"""(?:'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")"""
_OF_NUMPY = re.compile(rf"\[\s*{_TEXT}(?:\s+{_TEXT})*\s*\]")
_ARRAY = re.compile(r"\barray\((\[[^\]]*\]),\s*dtype=(?:object|'<U\d+')\)")
_WHOLE_NUMBER = re.compile(r"(-?\d+)\.0+")


class UnreadableError(ValueError):
    """A value that cannot be read; ``found`` and ``expected`` say why, and the caller where."""

    def __init__(self, found: str, expected: str) -> None:
        super().__init__(found, expected)
        self.found = found
        self.expected = expected


class Fields(NamedTuple):
    """A row: ``columns`` names the column of each meaning that the source has one for."""

    source: Source
    row: SourceRow
    columns: Mapping[str, str]
    cells: Mapping[str, object]

    @property
    def values(self) -> Mapping[str, object]:
        """The values by their meaning.

        Raises
        ------
        UnusableRowError
            When the row has none.
        """
        if self.row.unusable:
            raise self.row.unusable
        return self.cells

    def text(self, meaning: str) -> str:
        """The value as a text; empty where there is none."""
        return self.read(meaning, _text_of) or ""

    def joined(self, meanings: Sequence[str]) -> str:
        """The values as one text; a list holds several parts, which lose the space around them."""
        parts = [part for meaning in meanings for part in self.read(meaning, _parts_of) or ("",)]
        plain = [part.replace(SEPARATOR, " ") for part in parts]
        return plain[0] if len(plain) == 1 else SEPARATOR.join(map(str.strip, plain))

    def name(self, meaning: str) -> str | None:
        """The value as a short name, such as a category; None where there is none."""
        if not (names := self.source.class_names.get(self.columns.get(meaning, ""), ())):
            return self.read(meaning, label_of)
        return self.read(meaning, lambda value: label_of(value, names))

    @property
    def id(self) -> str | None:
        """The row's own id, if it has one that can be used."""
        return self.read("id", _id_of)

    def read(self, meaning: str, read: Callable[..., Value], *others: str) -> Value | None:
        """What the values of these meanings are read as; None without a column of the first."""
        if meaning not in self.columns:
            return None
        values = self.values
        try:
            return read(values[meaning], *[values[other] for other in others])
        except UnreadableError as error:
            columns = " or ".join(f"`{self.columns[name]}`" for name in (meaning, *others))
            problem, reason = f"{error.found} in column {columns}", f"{columns} is not"
            raise self.wrong(problem, error.expected, f"{reason} {error.expected}") from error

    def wrong(self, problem: str, expected: str, reason: str = "") -> UnusableRowError:
        """The error for a row that cannot be used; ``reason`` is the same for all such rows."""
        return UnusableRowError(
            reason or problem, f"{self.source.place(self.row)}: {problem}", expected
        )


def read_rows(source: Source, columns: Mapping[str, str]) -> Iterator[Fields]:
    """Every row of a source, with the column of each meaning."""
    with reading(source.name):
        for row in source.read(list(columns.values())):
            cells = dict(zip(columns, row.values, strict=not row.unusable))
            yield Fields(source, row, columns, cells)


def read_fields(
    source: Source,
    names: Mapping[str, Sequence[str]],
    *,
    required: Sequence[str],
    cluster: str | None = None,
) -> Iterator[Fields]:
    """Every row of a source, with the columns that have one of the names of each meaning.

    ``cluster`` names the column of clusters, if there is one.

    Raises
    ------
    DataError
        When a required meaning has no column.
    """
    if cluster is not None:
        names, required = {**names, CLUSTER: (cluster.casefold(),)}, (*required, CLUSTER)
    matches = {meaning: first_of(known, source.columns) for meaning, known in names.items()}
    columns = {meaning: column for meaning, column in matches.items() if column is not None}
    for meaning in required:
        if meaning not in columns:
            _require_header(source, source.columns if not columns else ())
            raise DataError(
                f"no column for the {meaning} in {source.name}; its columns are "
                f"{listed(source.columns)}",
                expected=f"a column called {' or '.join(names[meaning])}",
                fix="rename the column, or choose other data",
            )
    yield from read_rows(source, columns)


def choose_columns(
    source: Source,
    *,
    text: Sequence[str],
    label: str | None,
    slices: Sequence[str] = (),
    cluster: str | None = None,
) -> dict[str, str]:
    """The columns of text, label and id: named by the caller, or else found by their usual names.

    A source need have neither label nor id. Each column of ``slices`` has a role of its own, and so
    has each of several columns of ``text``, whose last one is the text.

    Raises
    ------
    DataError
        When a named column is missing, or no column can be the text.

    Examples
    --------
    >>> columns = ("id", "Review", "sentiment")
    >>> source = Source("a.csv", columns, columns, lambda _: iter(()), "line")
    >>> choose_columns(source, text=(), label=None)
    {'text': 'Review', 'label': 'sentiment', 'id': 'id'}
    """
    if len(set(text)) < len(text):
        raise DataError(
            f"the text columns {listed(text)} of {source.name}",
            expected="a column of its own for each text",
            fix="name each column once",
        )
    fix = "choose another {} column"
    others = {CLUSTER: cluster, **{f"{SLICE}{name}": name for name in slices}}
    parts = {f"{PART}{name}": name for name in text} if text[1:] else {}
    usual = {
        "text": _TEXTS.split(),
        "label": LABEL_NAMES,
        "id": ("id",),
        SHARED: () if cluster else (*SHARED_NAMES, *(f"{name}_id" for name in SHARED_NAMES)),
    }
    last = text[-1] if text else None
    others |= columns_by_role(source, {}, parts or {"text": last}, "choose another text column")
    columns = columns_by_role(source, usual, {"text": last, "label": label}, fix)
    if "text" not in columns:
        label = columns.get("label") or first_of(LABEL_NAMES, source.columns)
        columns["text"] = _text_column(source, label)
    return columns | columns_by_role(source, {}, others, fix)


def columns_by_role(
    source: Source, usual: Mapping[str, Sequence[str]], named: Mapping[str, str | None], fix: str
) -> dict[str, str]:
    """The column of each role: the named one, otherwise the first free one with a usual name.

    Parameters
    ----------
    usual
        The usual names of each role.
    named
        Columns by role; `NONE`, where no column is called so, for a usual role that is not read.
    fix
        What to do about a named column that is missing, with braces for its role.

    Raises
    ------
    DataError
        When a named column is missing.
    """
    for role, name in named.items():
        if name not in (*source.columns, None, *([NONE] if role in usual else [])):
            raise DataError(
                f"no column `{name}` in {source.name}",
                expected=f"one of its columns: {listed(source.columns)}",
                fix=fix.format(role.partition(" ")[0]),
            )
    free = [column for column in source.columns if column not in named.values()]
    columns = {
        role: named.get(role) or first_of(usual.get(role, ()), free) for role in (*usual, *named)
    }
    return {role: column for role, column in columns.items() if column in source.columns}


def _text_column(source: Source, label: str | None) -> str:
    """The only column of strings but the label; none has a usual name."""
    free = tuple(column for column in source.columns if column != label)
    _require_header(source, free)
    strings = [name for name in free if name in source.string_columns and name.casefold() != "id"]
    if len(strings) == 1:
        return strings[0]
    if len(strings) == 2:
        raise DataError(
            f"two columns of texts in {source.name}: {listed(strings)}",
            expected="the names of those that models read",
            fix=f"name one: --text-column {strings[0]}; or, for models of two texts, both: "
            f"{' '.join(f'--text-column {name}' for name in strings)}",
        )
    raise DataError(
        f"no text column in {source.name}; its columns are {listed(source.columns)}",
        expected=f"one of the names {', '.join(_TEXTS.split())}, or a single column of strings",
        fix="name the text column: --text-column NAME",
    )


def _require_header(source: Source, free: Sequence[str]) -> None:
    """Refuse a table whose columns, none of which has a role, are called like data."""
    if free == source.columns and source.unit == "line" and any(map(_is_content, free)):
        raise DataError(
            f"the first line of {source.name} reads like data: {listed(free)}",
            expected="names of columns, such as text,label or question,A,B,C,D,answer",
            fix="add a line with the names; or, if these are names, --text-column NAME",
        )


def first_of(names: Iterable[str], columns: Iterable[str]) -> str | None:
    """The column that matches the earliest of the names, ignoring case."""
    by_name = {column.casefold(): column for column in reversed(list(columns))}
    return next((by_name[name] for name in names if name in by_name), None)


def column_names(**names: str) -> Mapping[str, Sequence[str]]:
    """The usual names of columns by meaning, of which the first that a source has is read.

    Examples
    --------
    >>> column_names(id="id", options="options choices")
    {'id': ('id',), 'options': ('options', 'choices')}
    """
    return {meaning: tuple(usual.split()) for meaning, usual in names.items()}


def unambiguous(named: Iterable[tuple[str, Value]]) -> dict[str, Value]:
    """The values by name, without the names of two values.

    Examples
    --------
    >>> unambiguous([("a", 1), ("b", 1), ("b", 2), ("a", 1)])
    {'a': 1}
    """
    values: dict[str, Value] = {}
    unclear = {name for name, value in named if values.setdefault(name, value) != value}
    return {name: value for name, value in values.items() if name not in unclear}


def _text_of(value: object) -> str:
    if value is None:
        return ""
    if not isinstance(value, str):
        raise UnreadableError(f"{_kind(value)} as the text, {value!r:.60},", "a string")
    return storable(value)


def _parts_of(value: object) -> tuple[str, ...]:
    return texts_of(value) if isinstance(value, list | tuple) else (_text_of(value),)


def texts_of(values: object) -> tuple[str, ...]:
    """The texts in a list.

    Raises
    ------
    UnreadableError
        When it is no list, or holds anything else.
    """
    if not isinstance(values, list | tuple) or not all(isinstance(v, str) for v in values):
        raise UnreadableError(f"{values!s:.80}", 'a list of texts such as ["red", "blue"]')
    return tuple(map(storable, values))


def label_of(value: object, names: Sequence[str] = ()) -> str | None:
    """A label or short name, as written or as ``names`` has it for a number; None if missing.

    Raises
    ------
    UnreadableError
        When it is neither a text nor a number, or a number without a name.

    Examples
    --------
    >>> label_of(" positive "), label_of(7.0), label_of("7.0"), label_of("v1.0"), label_of("")
    ('positive', '7', '7', 'v1.0', None)
    >>> label_of(1, ("bad", "good")), label_of(-1, ("bad", "good")), label_of("['good']")
    ('good', None, 'good')
    """
    content = unprinted(value)
    value = content[0] if isinstance(content, list) and len(content) == 1 else value
    # Pandas prints a missing label as nan.
    if is_missing(value) or value in ("nan", "NaN"):
        return None
    if names and isinstance(value, int) and not isinstance(value, bool):
        # Data sets with hidden labels, such as the test splits of GLUE, write -1 for all of them.
        if value == -1:
            return None
        if not 0 <= value < len(names):
            expected = f"0 to {len(names) - 1}, for the names {', '.join(names)}"
            raise UnreadableError(f"label {value}", expected)
        return names[value]
    if not isinstance(value, str | int | float):
        raise UnreadableError(
            f"{_kind(value)} as the label or name, {value!r:.60},", "a string or a number"
        )
    return storable(plain_label(str(value))) or None


def _id_of(value: object) -> str | None:
    if not isinstance(value, str | int) or not str(value).strip():
        return None
    return storable(str(value)).strip()


def _is_content(name: str) -> bool:
    """Whether the name of a column is a number or a sentence."""
    try:
        float(name)
    except ValueError:
        return len(name.split()) > 2
    return True


def unprinted(value: object) -> object:
    """The list or mapping that was printed into a cell of a table; any other value as it is.

    Examples
    --------
    >>> unprinted("['red', 'blue']"), unprinted('{"A": 1}'), unprinted("['red' 'blue']")
    (['red', 'blue'], {'A': 1}, ['red', 'blue'])
    """
    if not isinstance(value, str) or value.strip()[:1] not in ("[", "{") or len(value) > _PRINTED:
        return value
    with suppress(ValueError, RecursionError):
        return json.loads(value)
    with suppress(ValueError, SyntaxError, RecursionError, MemoryError), catch_warnings():
        simplefilter("ignore")
        value = _ARRAY.sub(r"\1", value)
        # NumPy prints texts without commas, which Python would read as one.
        if _OF_NUMPY.fullmatch(value.strip()):
            return [ast.literal_eval(text) for text in re.findall(_TEXT, value)]
        content = ast.literal_eval(value.strip())
        if "".join(repr(content).split()) == "".join(value.split()):
            return content
    return value


def is_missing(value: object) -> bool:
    """Whether the value is missing: a null, or NaN in a table of numbers."""
    return value is None or (isinstance(value, float) and math.isnan(value))


def plain_label(text: str) -> str:
    """The label without space around it, and without the `.0` that tables add to integers.

    Examples
    --------
    >>> plain_label(" positive ")
    'positive'
    >>> plain_label("1.0"), plain_label("-1.00"), plain_label("1.5"), plain_label("v1.0")
    ('1', '-1', '1.5', 'v1.0')
    """
    text = text.strip()
    whole = _WHOLE_NUMBER.fullmatch(text)
    return whole[1] if whole else text


def storable(text: str) -> str:
    """The text itself, if it can be written.

    NUL and half surrogate pairs can be escaped in JSON, but break what reads them later.

    Raises
    ------
    UnreadableError
        When it holds one of them.
    """
    if fault := unstorable(text):
        raise UnreadableError(fault, "text that can be written as UTF-8")
    return text


def _kind(value: object) -> str:
    if isinstance(value, bool):
        return "a truth value"
    return "a number" if isinstance(value, int | float) else f"a {type(value).__name__}"


class WantedColumn(NamedTuple):
    """A column to be read, and what makes its values; several columns make one value together.

    ``read`` turns what the cells of a row hold into a value, None where nothing is said, or raises
    an `UnreadableError`.
    """

    columns: tuple[str, ...]
    read: Callable[..., Any]
    required: bool = False

    def value(self, *cells: object) -> Any:
        """The value of a row's cells."""
        value = self.read(*cells)
        if value is None and self.required:
            raise UnreadableError("nothing", "a value")
        return value


def read_columns(
    source: Source, wanted: Mapping[str, WantedColumn]
) -> tuple[pandas.DataFrame, LeftOutRows]:
    """Read columns whole, as categories: millions of rows in some seconds where pyarrow reads them.

    What pyarrow cannot read is read row by row; a row is left out in which a value cannot be read,
    or is not there and required.
    """
    import pandas
    import pyarrow

    left_out = LeftOutRows()
    if source.batches is not None and all(len(column.columns) == 1 for column in wanted.values()):
        with suppress(pyarrow.ArrowException, *UNREADABLE, DataError):
            return pandas.DataFrame(_by_column(source.batches, wanted)), left_out
    rows: dict[str, list[Any]] = {role: [] for role in wanted}
    # Of equal values one is kept.
    known: dict[Any, Any] = {}
    names = {name: name for column in wanted.values() for name in column.columns}
    for fields in read_rows(source, names):
        try:
            values = [
                fields.read(first, column.value, *others)
                for column in wanted.values()
                for first, *others in [column.columns]
            ]
        except UnusableRowError as error:
            left_out.add(error)
            continue
        for kept, value in zip(rows.values(), values, strict=True):
            kept.append(known.setdefault(value, value))
    frame = pandas.DataFrame({role: pandas.Categorical(kept) for role, kept in rows.items()})
    return frame, left_out


def _by_column(
    batches: Callable[[Sequence[str]], Iterator[Any]], wanted: Mapping[str, WantedColumn]
) -> dict[str, pandas.Categorical]:
    """The columns by pyarrow: of each only the distinct values go through Python."""
    import numpy as np
    import pandas
    import pyarrow

    chunks: dict[str, list[Any]] = {column.columns[0]: [] for column in wanted.values()}
    for batch in batches(list(chunks)):
        for name, encoded in chunks.items():
            column = batch.column(name)
            # A dictionary of the file may hold values that no row has.
            if pyarrow.types.is_dictionary(column.type):
                column = column.cast(column.type.value_type)
            encoded.append(column.dictionary_encode())
    columns = {}
    for role, column in wanted.items():
        if not (encoded := chunks[column.columns[0]]):
            return {role: pandas.Categorical([]) for role in wanted}
        parts = pyarrow.chunked_array(encoded).unify_dictionaries().chunks
        places = np.concatenate([part.indices.fill_null(-1).to_numpy() for part in parts])
        # A null's place is -1, where the last value stands.
        cells = [*parts[-1].dictionary.to_pylist(), *([None] if (places < 0).any() else [])]
        codes, values = pandas.factorize(np.array([*map(column.value, cells)], dtype=object))
        columns[role] = pandas.Categorical.from_codes(codes[places], pandas.Index(values))
    return columns
