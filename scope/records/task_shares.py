"""The answers of one model to one task: their frequencies and accuracy."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from scope.records.estimates import Estimate, Undefined

LETTERS_SHOWN = 30

UNANSWERABLE = "(unanswerable)"
"""Stands for the empty answer, which says that the question has none."""


@dataclass(frozen=True, kw_only=True, slots=True)
class TaskShares:
    """Which answers a model gives to a task, how often each, and how many are right.

    ``counts`` holds the number of questions an answer: texts, or for questions with options the
    options' texts where all questions have the same, else their letters; an answer that calls a
    question unanswerable is ``(unanswerable)``. ``asked`` counts the questions, with those that
    were not answered. ``accuracy`` is the exact match with gold where answers are texts.

    ``degenerate`` says why the answers carry no evidence, such as one answer to all questions: a
    gate on the model's numbers on this task fails. ``warning`` says which answer makes up more than
    a tenth. Both are None where there is nothing to say.
    """

    task: str
    model: str
    counts: Mapping[str, int]
    asked: int
    accuracy: Estimate | Undefined
    degenerate: str | None = None
    warning: str | None = None

    @property
    def given(self) -> int:
        """The number of questions that were answered."""
        return sum(self.counts.values())

    def in_words(self, most: int = 4) -> str:
        """The most frequent answers with their shares of all given, and how many others there are.

        Examples
        --------
        >>> counts = {"door": 3, "a": 1}
        >>> accuracy = Undefined(reason="no gold")
        >>> TaskShares(task="t", model="m", counts=counts, asked=5, accuracy=accuracy).in_words()
        'door 75 %, a 25 %; 1 of 5 without an answer'
        """
        # A file holds them in the order of their names.
        ordered = sorted(self.counts.items(), key=lambda one: (-one[1], one[0]))
        listed = [f"{brief(one)} {100 * count / self.given:.0f} %" for one, count in ordered[:most]]
        others = len(ordered) - len(listed)
        missing = self.asked - self.given
        return (
            (", ".join(listed) or "none")
            + (f", {others} others" if others else "")
            + (f"; {missing} of {self.asked} without an answer" if missing else "")
        )


def brief(answer: str) -> str:
    """The beginning of an answer in one line.

    Examples
    --------
    >>> brief("a" * 40) == "a" * 30 + "…", brief("in Paris")
    (True, 'in Paris')
    """
    line = " ".join(answer.split())
    return line if len(line) <= LETTERS_SHOWN else f"{line[:LETTERS_SHOWN]}…"
