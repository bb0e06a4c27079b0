"""What a verdict is made of: who answered what, and how alike the answers are, kind by kind."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from scope.estimation.pairs import InvariantPairs
from scope.evidence.answers import AnswerMatrix, Scores
from scope.records import Estimate, Undefined


class Probe(NamedTuple):
    """One question to all models, in words, with what the reference and the suspect answered.

    ``unit`` names the example that it belongs to; an answer that was not given is empty.
    """

    id: str
    unit: str
    text: str
    gold: str | None
    reference: str
    suspect: str


@dataclass(frozen=True, kw_only=True, eq=False)
class Case:
    """One suspect, one reference, the controls, and what they answered to the same probes.

    ``answers`` has the reference in row 0, the suspect in row 1 and the controls after them;
    ``pairs`` are the perturbations of the reference, a capability each, with the suspect and the
    controls as their targets. ``turned`` are perturbations of the suspect, with the reference and
    the controls as theirs, where the suspect was searched. ``hash`` is that of the probes,
    ``queries`` counts what the suspect was asked. Of the probes the first ``representative`` were
    drawn whatever the reference answers to them; None where all were.
    """

    reference: str
    suspect: str
    controls: tuple[str, ...]
    probes: Sequence[Probe]
    answers: AnswerMatrix
    pairs: tuple[InvariantPairs, ...] = ()
    turned: tuple[InvariantPairs, ...] = ()
    hash: str
    queries: int
    representative: int | None = None

    @property
    def sample(self) -> AnswerMatrix:
        """The answers to the representative probes alone, which show a model's skill."""
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
        """The examples of the probes, in the order in which they first come."""
        return tuple(dict.fromkeys(probe.unit for probe in self.probes))


@dataclass(frozen=True, kw_only=True, eq=False)
class Kind:
    """One kind of evidence on all models; ``copy`` is the value that the reference itself has.

    ``most`` is the greatest value there can be; ``suspect`` the suspect's with its interval, where
    that is known better than from the parts of its value.
    """

    name: str
    capability: str | None = None
    scores: Scores
    copy: float
    most: float = math.inf
    suspect: Estimate | Undefined | None = None
    decides: bool
