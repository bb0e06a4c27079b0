"""Questions on passages: SQuAD's own JSON, or rows with the same fields.

A row has ``question``, ``context`` and ``answers``: a list of texts, or SQuAD's ``{"text": […],
"answer_start": […]}``. No answers in a list, or ``is_impossible``, says that the question cannot
be answered from its passage; no list at all, that the right answer is not known.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

from scope.data.fields import Fields, read_fields
from scope.data.items import Draft
from scope.data.lines import read_whole, reading
from scope.data.specs import missing_file, open_source
from scope.errors import DataError
from scope.paths import expanded
from scope.printing import unstorable
from scope.records import Item, Question

NAMES: Mapping[str, Sequence[str]] = MappingProxyType(
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


def read_squad(spec: str, *, unanswerable: bool) -> Iterator[Draft]:
    """Every question as an item, in order; a row without a question or a passage makes none.

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
    json_file = spec.casefold().endswith((".json", ".json.gz")) and not spec.startswith("hf:")
    for draft in read_squad_json(expanded(spec)) if json_file else _rows(spec):
        if unanswerable or draft.item is None or draft.item.gold != ("",):
            yield draft


def _rows(spec: str) -> Iterator[Draft]:
    for fields in read_fields(open_source(spec), NAMES, required=("question", "context")):
        yield Draft(fields.id, _item(fields))


def _item(fields: Fields) -> Item | None:
    question, context = fields.text("question"), fields.text("context")
    if not question.strip() or not context.strip():
        return None
    return Item(
        question=Question(id="", text=question, context=context),
        gold=_gold(fields),
        category=fields.name("category"),
    )


def _gold(fields: Fields) -> tuple[str, ...]:
    if fields.values.get("impossible") is True:
        return ("",)
    value: Any = fields.values.get("answers")
    if value is None:
        return ()
    if isinstance(value, Mapping):
        value = value.get("text")
    if isinstance(value, list) and all(isinstance(one, Mapping) for one in value):
        value = [one.get("text") for one in value]
    if isinstance(value, str):
        value = [value]
    return tuple(dict.fromkeys(fields.texts("answers", value))) or ("",)


def read_squad_json(path: Path) -> Iterator[Draft]:
    """Every question of a file of SQuAD 1.1 or 2.0, with its article's title as the category.

    Raises
    ------
    DataError
        When there is no such file, or it is cut off, or not built as SQuAD is.
    """
    with reading(str(path)):
        if not path.is_file():
            raise missing_file(path)
    whole = _Part(_parse(path), path.name)
    for article in whole.parts("data", "article"):
        title = article.text("title", needed=False)
        for paragraph in article.parts("paragraphs", "paragraph"):
            context = paragraph.text("context")
            for entry in paragraph.parts("qas", "question"):
                yield Draft(entry.text("id", needed=False), _item_of_entry(entry, context, title))


def _item_of_entry(entry: _Part, context: str | None, title: str | None) -> Item | None:
    question = entry.text("question")
    if question is None or context is None:
        return None
    return Item(
        question=Question(id="", text=question, context=context),
        gold=_gold_of_entry(entry),
        category=title,
    )


def _gold_of_entry(entry: _Part) -> tuple[str, ...]:
    if entry.value.get("is_impossible") is True:
        return ("",)
    # Files of questions that are still to be answered hold no answers at all.
    if "answers" not in entry.value:
        return ()
    answers = [answer.text("text") for answer in entry.parts("answers", "answer")]
    return tuple(dict.fromkeys(answer or "" for answer in answers)) or ("",)


class _Part:
    """An object somewhere in the file, with the words that say where."""

    def __init__(self, value: Any, place: str) -> None:
        self._place = place
        if not isinstance(value, dict):
            raise self._wrong(f"{value!r:.60}", "an object")
        self.value: dict[str, Any] = value

    def parts(self, key: str, name: str) -> Iterator[_Part]:
        """The objects in the list under a key, which count from 0."""
        found = self.value.get(key)
        if not isinstance(found, list):
            raise self._wrong(f"{_shown(found)} as `{key}`", f"a list `{key}`, as SQuAD has it")
        for number, value in enumerate(found):
            yield _Part(value, f"{name} {number} of {self._place}")

    def text(self, key: str, *, needed: bool = True) -> str | None:
        """The text under a key; None where it is blank, or missing and not needed."""
        found = self.value.get(key)
        if found is None and not needed:
            return None
        if not isinstance(found, str):
            raise self._wrong(f"{_shown(found)} as `{key}`", f"a text `{key}`, as SQuAD has it")
        if why := unstorable(found):
            raise self._wrong(f"{why} in `{key}`", "text that can be written as UTF-8")
        return found if found.strip() else None

    def _wrong(self, found: str, expected: str) -> DataError:
        return DataError(
            f"{self._place}: {found}",
            expected=expected,
            fix="fix the file, or save the questions as rows of a .jsonl file",
        )


def _parse(path: Path) -> Any:
    try:
        return json.loads(read_whole(path))
    except (ValueError, RecursionError) as error:
        raise DataError(
            f"{path.name} is not JSON, or is cut off: {error}",
            expected="a complete SQuAD file",
            fix="download the file again",
        ) from error


def _shown(found: object) -> str:
    return "nothing" if found is None else f"{found!r:.60}"
