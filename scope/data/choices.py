"""Multiple-choice questions, one per row: JSON lines, parquet, or a data set of the hub.

A row has ``question``, ``options`` (or ``choices``) and, where it is known, ``answer``; it may have
``id``, ``context`` and ``category`` (or ``subject``). Options stand as a list of texts, or as some
data sets of the hub have them, ``{"text": […], "label": […]}``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType

from scope.data.fields import Fields, is_missing, read_fields
from scope.data.items import Draft
from scope.data.specs import open_source
from scope.records import Item, Question

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
"""Of the options, in order; a question has no more of them than there are letters."""

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
    if is_missing(answer) or answer == "":
        return None
    try:
        return option_index(answer, options, labels)
    except ValueError as error:
        raise fields.wrong(
            f"the answer is {error}",
            f"a number from 0 to {len(options) - 1}, a letter from A to "
            f"{LETTERS[len(options) - 1]}, or the text of an option",
        ) from error


def option_index(answer: object, options: Sequence[str], labels: Sequence[str] = ()) -> int:
    """The index of the option that is named by a number, a letter or its text.

    A number counts from 0. A text is, in this order, one of the labels that the options bear in
    their source, the letter of an option, or the text of an option, space around it aside: so
    ``B`` is the second of the options C, B and A, and the first of two options that read the same
    stands for both.

    Raises
    ------
    ValueError
        When none is named; the message says in words what was found.

    Examples
    --------
    >>> option_index(1, ["yes", "no"]), option_index("B", ["yes", "no"])
    (1, 1)
    >>> option_index("no ", ["yes", "no"]), option_index("2", ["yes", "no"], labels=["1", "2"])
    (1, 1)
    >>> option_index(2, ["yes", "no"])
    Traceback (most recent call last):
        ...
    ValueError: the option 2, counted from 0, of 2 options
    """
    if isinstance(answer, float) and answer.is_integer():
        # Tables write whole numbers so where a column has gaps.
        answer = int(answer)
    if isinstance(answer, int) and not isinstance(answer, bool):
        if not 0 <= answer < len(options):
            raise ValueError(f"the option {answer}, counted from 0, of {len(options)} options")
        return answer
    if not isinstance(answer, str):
        raise ValueError(f"{answer!r:.60}")
    named = answer.strip()
    for names in (labels, LETTERS[: len(options)], [option.strip() for option in options]):
        if named in list(names):
            return list(names).index(named)
    if len(named) == 1 and named in LETTERS:
        raise ValueError(f"the option {named} of {len(options)} options")
    raise ValueError(f"{named[:60]!r}, which is not one of the options")
