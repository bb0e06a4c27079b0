"""What is asked: texts to label, questions with their right answers, pairs that people scored."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from scope.records.result import SPARSE_FIELD

BLANK = "____"
"""The blank of a cloze question."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Example:
    """One text of a data set, with its gold label where it is known.

    ``slices`` names its part of the texts by each column that was asked for, as ``column: value``.
    """

    id: str
    text: str
    label: str | None = None
    slices: tuple[str, ...] = field(default=(), metadata=SPARSE_FIELD)

    def __post_init__(self) -> None:
        if not self.text.strip():
            raise ValueError(f"example {self.id!r} has an empty text")


@dataclass(frozen=True, kw_only=True, slots=True)
class Question:
    """A question of a task, the same for every model; it does not contain the right answer.

    ``text`` is the question; of a cloze, the sentence with one ``BLANK``. ``context`` is the
    passage that the answer is to be taken from, and ``options`` are the answers to choose from.
    ``row`` is the number, from 0, of the data's row that it was made of, for answers that are saved
    by row; what a comparison keeps of a question does without it.
    """

    id: str
    text: str
    context: str | None = None
    options: tuple[str, ...] = ()
    row: int | None = None

    def __post_init__(self) -> None:
        if not self.text.strip():
            raise ValueError(f"question {self.id!r} has an empty text")


@dataclass(frozen=True, kw_only=True, slots=True)
class Item:
    """A question with what is known of its right answer.

    ``gold`` holds the answers that count as right, an empty text among them where the question
    cannot be answered; it is empty where no answer is known. ``right`` is the index of the right
    option. ``category`` is the part of the data that the item belongs to.
    """

    question: Question
    gold: tuple[str, ...] = ()
    right: int | None = None
    category: str | None = None

    def __post_init__(self) -> None:
        options = len(self.question.options)
        if self.right is not None and not 0 <= self.right < options:
            raise ValueError(f"item {self.question.id!r}: option {self.right} of {options}")


@dataclass(frozen=True, kw_only=True, slots=True)
class ScoredPair:
    """Two texts, and their human similarity score, in the unit of their data."""

    id: str
    first: str
    second: str
    score: float

    def __post_init__(self) -> None:
        if not (self.first.strip() and self.second.strip()):
            raise ValueError(f"pair {self.id!r} has an empty text")
        if not math.isfinite(self.score):
            raise ValueError(f"pair {self.id!r} has the score {self.score}")
