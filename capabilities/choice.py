"""*choice*: which of the options does the model choose?

The question of *Great models think alike* (arXiv 2502.04313): where two models err, do they err
alike? A question has 2 to 26 options, and the numbers may differ from one to the next. What
counts is the option chosen and, for CAPA, the probability of each.

Where the right answer is not known, items still show how far models agree. A question that stands
twice in the data with the same options is asked once.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Literal

from scope.data.items import Wanted, gather, read_choices
from scope.protocols import TaskData
from scope.records import Setting


@dataclass(frozen=True, kw_only=True)
class Choice:
    """Asks questions with options to choose from."""

    name: ClassVar[str] = "choice"
    question: ClassVar[str] = "Which of the options answers the question?"
    role: ClassVar[Literal["choice_scorer"]] = "choice_scorer"

    def settings(self) -> Mapping[str, Setting]:
        """Nothing: the data alone decide what is asked."""
        return {}

    def load(self, data: str, *, n: int | None, seed: int, cluster: str | None = None) -> TaskData:
        """The questions of a table with ``question``, ``options`` and maybe ``answer``.

        An answer is the option's number from 0, its letter, or its text.
        """
        wanted = Wanted(task=self.name, rows="questions", unfit="without words")
        return gather(read_choices(data, cluster), wanted, spec=data, n=n, seed=seed)
