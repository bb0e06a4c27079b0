"""Rows become a task's items: choice questions, questions on passages; named, counted, sampled.

A choice question has ``question``, ``options`` (or ``choices``) and, where it is known,
``answer``; it may have ``id``, ``context`` and ``category`` (or ``subject``). Options are a list
of texts, or as some data sets of the hub have them, ``{"text": […], "label": […]}``.

A question on a passage has ``question``, ``context`` and ``answers``: a list of texts, or SQuAD's
``{"text": […], "answer_start": […]}``. An empty list, or ``is_impossible``, says that the passage
does not answer the question; without a list the right answer is not known. SQuAD's own JSON is
read, too.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

from scope.data.fields import Fields, is_missing, read_fields
from scope.data.sampling import Candidate, Repeats, Selection, content_key, fingerprint_of
from scope.data.sources import Source, guarded_source, read_whole, table_source
from scope.data.specs import open_source, require_file
from scope.errors import DataError
from scope.paths import expanded
from scope.printing import counted, first_line
from scope.protocols import TaskData
from scope.records import Item, Question

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
"""Of the options, in order; a question has no more of them than there are letters."""

CHOICE_NAMES: Mapping[str, Sequence[str]] = MappingProxyType(
    {
        "id": ("id",),
        "question": ("question", "question_stem", "text"),
        "options": ("options", "choices"),
        "answer": ("answer", "answerkey"),
        "context": ("context", "passage"),
        "category": ("category", "subject"),
    }
)
PASSAGE_NAMES: Mapping[str, Sequence[str]] = MappingProxyType(
    {
        "id": ("id",),
        "question": ("question",),
        "context": ("context", "passage"),
        "answers": ("answers", "answer"),
        "impossible": ("is_impossible",),
        "category": ("title", "category"),
    }
)
"""Column names by meaning; the first that a source has is read."""

Draft = Candidate[Item]
"""A row's content: its own id, if any, and an unnamed item, if the row has one."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Wanted:
    """The kind of items that a task makes, with words for messages.

    Parameters
    ----------
    task
        The task's name.
    rows
        What a row of the data is called, such as ``sentences``.
    unfit
        What is wrong with a row that makes no item.
    once
        Whether an item that asks the same words as an earlier one is left out. Texts repeat by
        accident; a benchmark's rows are its own, and count in its scores as often as they stand.
    """

    task: str
    rows: str
    unfit: str
    once: bool = False


def gather(
    drafts: Iterable[Draft], wanted: Wanted, spec: str, n: int | None, seed: int
) -> TaskData:
    """Make at most ``n`` items of drafts, in their order, and count what is left out.

    Left out are rows that make no item, counted as empty, and, where items are wanted once, all
    but one of those that ask the same words, options included. An item's id is that of its row
    where every row has one of its own, and otherwise the row's number from 0. Every question holds
    that number, so that answers that were saved by row can be looked up. The sample does not
    depend on the order of the rows.

    Raises
    ------
    DataError
        When no item is left, or the sample makes no sense.
    """
    repeats = Repeats()

    def key(own_id: str | None, item: Item) -> tuple[bytes, tuple[bool, bytes]]:
        words = item.question.text, item.question.context, item.question.options
        whole = (*words, item.gold, item.right, item.category, own_id)
        same = content_key(*words) if wanted.once else repeats.key(*whole)
        return same, (not item.gold, content_key(*whole))

    chosen = Selection(drafts, key, n, seed)
    if not chosen.drawn:
        raise DataError(
            f"no item in {spec}: {chosen.rows} {wanted.rows}, {chosen.empty} of them "
            f"{wanted.unfit}",
            expected=f"at least one item for the task {wanted.task}",
            fix="check the data, or choose other data",
        )
    items = tuple(
        replace(
            row.item,
            question=replace(row.item.question, id=row.id or str(row.row), row=row.row),
        )
        for row in chosen.drawn
    )
    labelled = sum(bool(item.gold) for item in items)
    card = chosen.card(spec, item_fingerprint(items), labelled, wanted.task)
    return TaskData(items=items, card=card)


def item_fingerprint(items: Iterable[Item]) -> str:
    """Sixteen hexadecimal digits that change with anything in any item, or their order.

    Examples
    --------
    >>> from scope.records import Question
    >>> item_fingerprint([Item(question=Question(id="0", text="Who?"), gold=("Ann",))])
    '3716ef94deccae10'
    """
    return fingerprint_of(
        [asked.id, asked.text, asked.context, asked.options, item.gold, item.right, item.category]
        for item in items
        for asked in [item.question]
    )


def read_choices(spec: str) -> Iterator[Draft]:
    """Every row as an item with options; a row without a question makes none.

    Raises
    ------
    DataError
        When a row has too few or too many options, or an answer that is not an option.
    """
    rows = read_fields(open_source(spec), CHOICE_NAMES, required=("question", "options"))
    for fields in rows:
        if fields.row.unusable:
            yield Draft(fields.id, None, *fields.row.unusable)
            continue
        if not fields.text("question").strip():
            yield Draft(fields.id, None)
            continue
        options, labels = _options(fields)
        right = _right(fields, options, labels)
        gold = () if right is None else (options[right],)
        yield Draft(fields.id, _item(fields, gold, options, right))


def _item(
    fields: Fields, gold: tuple[str, ...], options: tuple[str, ...] = (), right: int | None = None
) -> Item:
    question, context = fields.text("question"), fields.text("context") or None
    return Item(
        question=Question(id="", text=question, context=context, options=options),
        gold=gold,
        right=right,
        category=fields.name("category"),
    )


def _options(fields: Fields) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The options, and their labels if they have any."""
    value = fields.values["options"]
    labels: tuple[str, ...] = ()
    if isinstance(value, Mapping):
        labels = fields.texts("options", value.get("label", []))
        value = value.get("text", value)
    options = fields.texts("options", value)
    if not 2 <= len(options) <= len(LETTERS):
        expected = f"2 to {len(LETTERS)} options to choose from"
        raise fields.wrong(counted(len(options), "option"), expected)
    if not all(option.strip() for option in options):
        raise fields.wrong(f"an empty option among {list(options)}", "options with a text each")
    return options, labels


def _right(fields: Fields, options: Sequence[str], labels: Sequence[str]) -> int | None:
    answer = fields.values.get("answer")
    # Hidden answers are an empty text, gaps in tables of numbers NaN.
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

    A number counts from 0. A text is, in this order, a label that the options have in their
    source, the letter of an option, or the text of an option without the space around it: so ``B``
    is the second of the options C, B and A. Of two options that read the same the first counts.

    Raises
    ------
    ValueError
        When none is named, with what was found in words.

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
        # A column with gaps holds whole numbers as floats.
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


def read_squad(spec: str, *, unanswerable: bool) -> Iterator[Draft]:
    """Every question on a passage as an item; a row without either makes none.

    Parameters
    ----------
    spec
        A file of SQuAD 1.1 or 2.0 (.json, .json.gz), or any source of rows.
    unanswerable
        Whether questions that cannot be answered are among them.

    Raises
    ------
    DataError
        When the file is cut off or is no SQuAD, or a row lacks a field.
    """
    is_json = spec.casefold().endswith((".json", ".json.gz")) and not spec.startswith("hf:")
    source = _open_squad(expanded(spec)) if is_json else open_source(spec)
    for fields in read_fields(source, PASSAGE_NAMES, required=("question", "context")):
        if not fields.text("question").strip() or not fields.text("context").strip():
            yield Draft(fields.id, None)
        elif (gold := _gold(fields)) != ("",) or unanswerable:
            yield Draft(fields.id, _item(fields, gold))


def _gold(fields: Fields) -> tuple[str, ...]:
    if fields.values.get("impossible") is True:
        return ("",)
    value: Any = fields.values.get("answers")
    if value is None:
        return ()
    if isinstance(value, Mapping):
        value = value.get("text", value)
    if isinstance(value, list) and all(isinstance(answer, Mapping) for answer in value):
        value = [answer.get("text") for answer in value]
    if isinstance(value, str):
        value = [value]
    return tuple(dict.fromkeys(fields.texts("answers", value))) or ("",)


def _open_squad(path: Path) -> Source:
    """A file of SQuAD as a table of questions; the category is the title of the article."""
    require_file(path)
    names = ("title", "context", "question", "id", "answers", "is_impossible")
    try:
        rows = [
            entry | {"title": article.get("title"), "context": paragraph["context"]}
            for article in json.loads(read_whole(path))["data"]
            for paragraph in article["paragraphs"]
            for entry in paragraph["qas"]
        ]
        columns = {name: [row.get(name) for row in rows] for name in names}
    except (ValueError, RecursionError, LookupError, TypeError, AttributeError) as error:
        raise DataError(
            f"{path.name} is no complete SQuAD file: {first_line(error)}",
            expected="data, a list of articles with paragraphs, each with a context and qas",
            fix="download the file again, or save the questions as rows of a .jsonl file",
        ) from error
    return guarded_source(table_source(path.name, columns))
