"""Decides which column is the text, which the label and which the id."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from scope.data.sources import Source
from scope.errors import DataError
from scope.printing import listed

TEXT_NAMES = (
    "text",
    "sentence",
    "content",
    "review",
    "question",
    "comment",
    "tweet",
    "message",
    "body",
)
NO_LABELS = "none"
"""Stands for the label column where gold labels are to be left out."""

LABEL_NAMES = ("label", "labels", "sentiment", "category", "class")


class Columns(NamedTuple):
    """The columns that are read; a source need have neither label nor id."""

    text: str
    label: str | None
    id: str | None


def choose_columns(source: Source, *, text: str | None, label: str | None) -> Columns:
    """The columns named by the caller, or else found by their usual names.

    Raises
    ------
    DataError
        When a named column is missing, both are the same, or no column can be the text.

    Examples
    --------
    >>> columns = ("id", "Review", "sentiment")
    >>> choose_columns(
    ...     Source(
    ...         name="a.csv",
    ...         unit="line",
    ...         columns=columns,
    ...         string_columns=columns,
    ...         read=lambda _: iter(()),
    ...     ),
    ...     text=None,
    ...     label=None,
    ... )
    Columns(text='Review', label='sentiment', id='id')
    """
    for role, name in (("text", text), ("label", label)):
        if name not in (None, *source.columns) and (role, name) != ("label", NO_LABELS):
            raise DataError(
                f"no column `{name}` in {source.name}",
                expected=f"one of its columns: {listed(source.columns)}",
                fix=f"choose another {role} column",
            )
    if text is not None and text == label:
        raise DataError(
            f"`{text}` named as both the text and the label column",
            expected=f"two of the columns of {source.name}: {listed(source.columns)}",
            fix="choose another label column",
        )
    free = [column for column in source.columns if column not in (text, label)]
    found_label = label or first_of(LABEL_NAMES, free)
    declined = found_label == NO_LABELS and NO_LABELS not in source.columns
    return Columns(
        text=text
        or _find_text(source, label=first_of(LABEL_NAMES, free) if declined else found_label),
        label=None if declined else found_label,
        id=first_of(("id",), free),
    )


def _find_text(source: Source, *, label: str | None) -> str:
    """A column of a usual name, or else the only one that holds strings and has no other role."""
    free = [column for column in source.columns if column != label]
    by_name = first_of(TEXT_NAMES, free)
    if by_name is not None:
        return by_name
    strings = [
        column for column in free if column in source.string_columns and column.casefold() != "id"
    ]
    if len(strings) == 1:
        return strings[0]
    raise DataError(
        f"no text column in {source.name}; its columns are {listed(source.columns)}",
        expected=f"one of the names {', '.join(TEXT_NAMES)}, or a single column of strings",
        fix="name the text column",
    )


def first_of(names: Iterable[str], columns: Iterable[str]) -> str | None:
    """The column that matches the earliest of the names, whatever its case."""
    by_name: dict[str, str] = {}
    for column in columns:
        by_name.setdefault(column.casefold(), column)
    return next((by_name[name] for name in names if name in by_name), None)
