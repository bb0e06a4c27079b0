"""Questions on passages: SQuAD's own JSON, or rows with the same fields.

A row has ``question``, ``context`` and ``answers``: a list of texts, or SQuAD's ``{"text": […],
"answer_start": […]}``. No answers in a list, or ``is_impossible``, says that the question cannot
be answered from its passage; no list at all, that the right answer is not known.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from scope.data.fields import Fields, read_fields
from scope.data.items import Draft
from scope.data.specs import open_source
from scope.data.squad_json import read_squad_json
from scope.paths import expanded
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
