"""The answers of one model to the unchanged inputs: their frequencies and accuracy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from scope.records.estimates import Estimate, Undefined
from scope.records.task_shares import TaskShares

FEWEST_TEXTS = 5
"""With fewer texts no model is called degenerate, and one that gives one answer passes no gate."""


@dataclass(frozen=True, kw_only=True, slots=True)
class AnswerShares:
    """Which answers a model gives to the unchanged texts, and how many are right.

    ``counts`` holds the number of texts a label, or next token, the most frequent first.
    ``degenerate`` says why its answers carry no evidence, such as one answer to all texts, and is
    None where nothing is wrong with them: a gate on such a model fails.
    """

    model: str
    counts: Mapping[str, int]
    accuracy: Estimate | Undefined
    degenerate: str | None = None

    @property
    def n(self) -> int:
        """The number of texts."""
        return sum(self.counts.values())

    def in_words(self, most: int = 4) -> str:
        """The most frequent answers with their shares, and how many others there are.

        Examples
        --------
        >>> counts = {"bad": 1, "good": 3}
        >>> AnswerShares(model="m", counts=counts, accuracy=Undefined(reason="")).in_words()
        'good 75 %, bad 25 %'
        """
        # JSON has its keys in the order of the alphabet.
        ordered = sorted(self.counts.items(), key=lambda one: -one[1])
        listed = [f"{one} {100 * count / self.n:.0f} %" for one, count in ordered[:most]]
        others = len(self.counts) - len(listed)
        return ", ".join(listed) + (f", {others} others" if others else "")


def marked(model: str, shares: Sequence[AnswerShares | TaskShares]) -> str:
    """The model's name, with a remark where its answers carry no evidence.

    Examples
    --------
    >>> gone = AnswerShares(model="m", counts={}, accuracy=Undefined(reason=""), degenerate="why")
    >>> marked("m", [gone]), marked("other", [gone])
    ('m (degenerate)', 'other')
    """
    degenerate = any(one.model == model and one.degenerate is not None for one in shares)
    return f"{model} (degenerate)" if degenerate else model
