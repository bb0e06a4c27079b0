"""The input of a verdict: the answers of all models, and the kinds of evidence on them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from scope.estimation.pairs import InvariantPairs
from scope.evidence.answers import AnswerMatrix, Scores
from scope.records import Estimate, Undefined


class CaseItem(NamedTuple):
    """One question to all models, in words, with the answers of the reference and the suspect.

    ``unit`` is the id of the example that it belongs to; a missing answer is empty.
    """

    id: str
    unit: str
    text: str
    gold: str | None
    reference: str
    suspect: str


@dataclass(frozen=True, kw_only=True, eq=False)
class Case:
    """One suspect, one reference, the controls, and their answers to the same questions.

    ``answers`` has the reference in row 0, the suspect in row 1 and the controls after them;
    ``pairs`` are the perturbations of the reference, a capability each, with the suspect and the
    controls as targets. ``hash`` is that of the questions, ``queries`` counts the questions to the
    suspect. The first ``representative`` questions are a random sample, independent of the
    reference's answers; None if all are.
    """

    reference: str
    suspect: str
    controls: tuple[str, ...]
    items: Sequence[CaseItem]
    answers: AnswerMatrix
    pairs: tuple[InvariantPairs, ...] = ()
    hash: str
    queries: int
    representative: int | None = None

    @property
    def sample(self) -> AnswerMatrix:
        """The answers to the representative questions alone, which measure a model's skill."""
        if self.representative is None:
            return self.answers
        first, answers = slice(self.representative), self.answers
        chances = answers.probabilities
        most = int(answers.options[first].max(initial=0))
        return replace(
            answers,
            answers=answers.answers[:, first],
            options=answers.options[first],
            gold=answers.gold[first],
            units=answers.units[first],
            probabilities=None if chances is None else chances[:, first, :most],
        )

    @property
    def units(self) -> tuple[str, ...]:
        """The ids of the examples, in the order of their first question."""
        return tuple(dict.fromkeys(item.unit for item in self.items))


@dataclass(frozen=True, kw_only=True, eq=False)
class Kind:
    """One kind of evidence on all models; ``copy`` is the value of a copy of the reference.

    ``most`` is the greatest possible value. ``suspect`` is the suspect's value with its interval,
    if there is a better one than that of the sum of its parts.
    """

    name: str
    capability: str | None = None
    scores: Scores
    copy: float
    most: float = math.inf
    suspect: Estimate | Undefined | None = None
    decides: bool
