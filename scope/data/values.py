"""Converts the values of a column into texts, labels and ids."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

from scope.data.sources import Row, Source
from scope.errors import DataError
from scope.printing import unstorable

_WHOLE_NUMBER = re.compile(r"(-?\d+)\.0+")


def as_text(value: object, source: Source, row: Row, column: str) -> str:
    """The text of a row; a missing one is empty."""
    if value is None:
        return ""
    if not isinstance(value, str):
        raise DataError(
            f"{_kind(value)} as the text in column `{column}`, {source.place(row)}: {value!r:.60}",
            expected="a string",
            fix="choose another text column, or fix the row",
        )
    require_storable(value, source, row, column)
    return value


def as_label(
    value: object, source: Source, row: Row, column: str, names: Sequence[str]
) -> str | None:
    """The label of a row by name where names are known, as written where not; None if missing."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return None
    if names and isinstance(value, int) and not isinstance(value, bool):
        return _named(value, source, row, column, names)
    if not isinstance(value, str | int | float):
        raise DataError(
            f"{_kind(value)} as the label in column `{column}`, {source.place(row)}: {value!r:.60}",
            expected="a string or a number",
            fix="choose another label column, or fix the row",
        )
    label = plain_label(str(value))
    require_storable(label, source, row, column)
    return label or None


def as_id(value: object, source: Source, row: Row, column: str) -> str | None:
    """The id of a row, or None where it has none that can serve."""
    if value is None or not isinstance(value, str | int) or not str(value).strip():
        return None
    require_storable(str(value), source, row, column)
    return str(value).strip()


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


def _named(number: int, source: Source, row: Row, column: str, names: Sequence[str]) -> str | None:
    # Data sets with hidden labels, such as the test splits of GLUE, write -1 for all of them.
    if number == -1:
        return None
    if not 0 <= number < len(names):
        raise DataError(
            f"label {number} in column `{column}`, {source.place(row)}",
            expected=f"0 to {len(names) - 1}, for the names {', '.join(names)}",
            fix="fix the row, or choose another label column",
        )
    return names[number]


def require_storable(text: str, source: Source, row: Row, column: str) -> None:
    """NUL and half surrogate pairs can be escaped in JSON, but break what reads them later."""
    found = unstorable(text)
    if not found:
        return
    raise DataError(
        f"{found} in column `{column}`, {source.place(row)}",
        expected="text that can be written as UTF-8",
        fix="fix the row",
    )


def _kind(value: object) -> str:
    """What a value is, in words for the message."""
    if isinstance(value, bool):
        return "a truth value"
    if isinstance(value, int | float):
        return "a number"
    return f"a {type(value).__name__}"
