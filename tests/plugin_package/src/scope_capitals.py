"""A task of a third party with its own scorer: the capital of a country."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import ClassVar, Literal

import numpy as np

from scope.data.items import Draft, Wanted, gather
from scope.metrics import Metric
from scope.metrics.arrays import Values
from scope.protocols import TaskData
from scope.records import Item, Question, Setting

CAPITALS = {"France": "Paris", "Italy": "Rome", "Japan": "Tokyo", "Kenya": "Nairobi"}


def same_initial_values(answers: Sequence[str], others: Sequence[str]) -> Values:
    """1 where both texts begin with the same letter."""
    return np.array([one[:1] == other[:1] for one, other in zip(answers, others, strict=True)])


SAME_INITIAL = Metric(
    key="same_initial",
    title="Same initial",
    directed=False,
    clean=True,
    measured_in="tasks",
    paper="none: an example to copy",
    explanation="How often two answers begin with the same letter.",
    on_texts=same_initial_values,
)


@dataclass(frozen=True, kw_only=True)
class Capitals:
    """Asks for the capitals of countries."""

    name: ClassVar[str] = "capitals"
    question: ClassVar[str] = "What is the capital of a country?"
    role: ClassVar[Literal["answerer"]] = "answerer"
    scorers: ClassVar[tuple[str, ...]] = ("same_initial",)

    most: int = 4

    def settings(self) -> Mapping[str, Setting]:
        """How many countries there are."""
        return asdict(self)

    def load(self, data: str, *, n: int | None, seed: int) -> TaskData:
        """The questions; the data spec is only a name."""
        wanted = Wanted(task=self.name, rows="countries", unfit="empty")
        return gather(self._items(), wanted, spec=data, n=n, seed=seed)

    def _items(self) -> Iterator[Draft]:
        for country, capital in list(CAPITALS.items())[: self.most]:
            text = f"What is the capital of {country}?"
            question = Question(id="", text=text, context=f"{capital} is in {country}.")
            yield Draft(None, Item(question=question, gold=(capital,)))
