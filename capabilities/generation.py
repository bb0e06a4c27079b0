"""*generation*: what does the model answer, in its own words, to a question without a passage?

As GSM8K and MATH ask. An answer is right where it has the words of the item's right answer. In logs
of other tools an answer that the tool scores as right counts as the right answer, so accuracy is
the tool's.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

from scope.data.fields import Fields, read_fields, texts_of
from scope.data.items import Draft, Wanted, gather
from scope.data.sampling import usable
from scope.data.specs import open_source
from scope.errors import DataError
from scope.protocols import TaskData
from scope.records import Item, Question, Setting

NAMES: Mapping[str, Sequence[str]] = {
    "id": ("id",),
    "question": ("question", "problem"),
    "answer": ("answer",),
    "category": ("category", "subject"),
}
_OF_OTHER_TASKS = ("options", "choices", "context", "passage")


@dataclass(frozen=True, kw_only=True)
class Generation:
    """Asks questions that are answered in words."""

    name: ClassVar[str] = "generation"
    question: ClassVar[str] = "What does the model answer to the question?"
    role: ClassVar[Literal["answerer"]] = "answerer"

    def settings(self) -> Mapping[str, Setting]:
        """Nothing: the data alone decide what is asked."""
        return {}

    def load(self, data: str, *, n: int | None, seed: int, cluster: str | None = None) -> TaskData:
        """The questions of a table with ``question`` and ``answer``."""
        wanted = Wanted(task=self.name, rows="questions", unfit="without words")
        return gather(_read(data, cluster), wanted, spec=data, n=n, seed=seed)


def _read(data: str, cluster: str | None) -> Iterator[Draft]:
    source = open_source(data)
    if other := next(
        (column for column in source.columns if column.casefold() in _OF_OTHER_TASKS), None
    ):
        raise DataError(
            f"a column `{other}` in {source.name}",
            expected="questions without options and passage",
            fix="choose the task choice for options, extractive_qa for passages",
        )
    required = "question", "answer"
    return usable(read_fields(source, NAMES, required=required, cluster=cluster), _draft)


def _draft(fields: Fields) -> Draft:
    text, value = fields.text("question"), fields.values["answer"]
    if not text.strip():
        return Draft(fields.id, None)
    if not isinstance(value, list):
        name = fields.text("answer") if isinstance(value, str) else fields.name("answer")
        value = [name] if name else []
    item = Item(
        question=Question(id="", text=text),
        gold=fields.read("answer", lambda _: texts_of(value)) or (),
        category=fields.name("category"),
    )
    return Draft(fields.id, item)
