"""Multiple-choice questions, one per row: JSON lines, parquet, or a data set of the hub.

A row has ``question``, ``options`` (or ``choices``) and, where it is known, ``answer``; it may have
``id``, ``context`` and ``category`` (or ``subject``). Options stand as a list of texts, or as some
data sets of the hub have them, ``{"text": […], "label": […]}``.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType

from scope.data.fields import Fields, read_fields
from scope.data.items import Draft
from scope.data.options import LETTERS, option_index
from scope.data.specs import open_source
from scope.records import Item, Question

NAMES: Mapping[str, Sequence[str]] = MappingProxyType(
    {
        "id": ("id",),
        "question": ("question", "question_stem", "text"),
        "options": ("options", "choices"),
        "answer": ("answer", "answerkey"),
        "context": ("context", "passage"),
        "category": ("category", "subject"),
    }
)
"""Column names by meaning; the first that a source has is read."""


def read_choices(spec: str) -> Iterator[Draft]:
    """Every row as an item; a row without a question makes none.

    Raises
    ------
    DataError
        When a row has too few or too many options, or an answer that is none of them.
    """
    for fields in read_fields(open_source(spec), NAMES, required=("question", "options")):
        yield Draft(fields.id, _item(fields))


def _item(fields: Fields) -> Item | None:
    question = fields.text("question")
    if not question.strip():
        return None
    options, labels = _options(fields)
    right = _right(fields, options, labels)
    return Item(
        question=Question(
            id="", text=question, context=fields.text("context") or None, options=options
        ),
        gold=() if right is None else (options[right],),
        right=right,
        category=fields.name("category"),
    )


def _options(fields: Fields) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The options, and the labels that they bear if they do."""
    value = fields.values["options"]
    labels: tuple[str, ...] = ()
    if isinstance(value, Mapping):
        labels = fields.texts("options", value.get("label", []))
        value = value.get("text")
    options = fields.texts("options", value)
    if not 2 <= len(options) <= len(LETTERS):
        raise fields.wrong(
            f"{len(options)} option{'' if len(options) == 1 else 's'}",
            f"2 to {len(LETTERS)} options to choose from",
        )
    if not all(option.strip() for option in options):
        raise fields.wrong(f"an empty option among {list(options)}", "options with a text each")
    return options, labels


def _right(fields: Fields, options: Sequence[str], labels: Sequence[str]) -> int | None:
    answer = fields.values.get("answer")
    # Hidden answers are written as an empty text, and gaps in tables of numbers as NaN.
    if answer is None or answer == "" or (isinstance(answer, float) and math.isnan(answer)):
        return None
    try:
        return option_index(answer, options, labels)
    except ValueError as error:
        raise fields.wrong(
            f"the answer is {error}",
            f"a number from 0 to {len(options) - 1}, a letter from A to "
            f"{LETTERS[len(options) - 1]}, or the text of an option",
        ) from error
