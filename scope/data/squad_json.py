"""SQuAD's own files: articles of paragraphs of questions, in one JSON object."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from scope.data.guard import reading
from scope.data.items import Draft
from scope.data.lines import read_whole
from scope.data.specs import missing_file
from scope.errors import DataError
from scope.printing import unstorable
from scope.records import Item, Question


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
                yield Draft(entry.text("id", needed=False), _item(entry, context, title))


def _item(entry: _Part, context: str | None, title: str | None) -> Item | None:
    question = entry.text("question")
    if question is None or context is None:
        return None
    return Item(
        question=Question(id="", text=question, context=context),
        gold=_gold(entry),
        category=title,
    )


def _gold(entry: _Part) -> tuple[str, ...]:
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
