"""*similarity*: how alike in meaning do people find two sentences?

The question of the STS benchmark, which *FREEZE* asks of a frozen model's layers. People gave each
pair a grade, and the score is the mean of several grades:

- 5: they mean the same
- 4: they mean nearly the same; what differs does not matter
- 3: they mean roughly the same; something that matters differs or is missing
- 2: they share some details, and do not mean the same
- 1: they are on the same topic, and share nothing else
- 0: they are on different topics

A model is not asked. A light probe of its layers learns to follow the scores, and what it then
forecasts for unseen pairs shows how much of the meaning the layers hold, and in which of
them. It shows neither what the model would say of the sentences nor whether it uses what it holds,
and two models whose probes are equally good need not hold the same.

Likeness has no direction, so this is not whether one sentence follows from the other. Nor is it
how many words they share: sentences that differ in one word may be on different topics, and
what *FREEZE* names as its failures are pairs of that kind, and a pair that differs in a full stop.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Literal

from scope.data.items import WantedPairs, gather_pairs
from scope.errors import SpecError
from scope.protocols import PairData, Part
from scope.records import Setting


@dataclass(frozen=True, kw_only=True)
class Similarity:
    """Pairs of sentences with the scores that people gave them.

    Parameters
    ----------
    low, high
        The least and the greatest score that people could give; 0 and 5 in the STS benchmark.
    """

    name: ClassVar[str] = "similarity"
    question: ClassVar[str] = "How similar in meaning do people judge two sentences?"
    role: ClassVar[Literal["latent_reader"]] = "latent_reader"

    low: float = 0.0
    high: float = 5.0

    def __post_init__(self) -> None:
        if not (self.low < self.high and math.isfinite(self.high - self.low)):
            raise SpecError(
                f"scores from {self.low} to {self.high}",
                expected="two finite numbers, the first below the second",
                fix="write for example --low 0 --high 5",
            )

    def settings(self) -> Mapping[str, Setting]:
        """The range of the scores."""
        return {"low": float(self.low), "high": float(self.high)}

    def load_pairs(self, data: str, *, part: Part | None, n: int | None, seed: int) -> PairData:
        """The pairs of a table with two columns of sentences, ``score`` and maybe ``split``."""
        wanted = WantedPairs(task=self.name, low=self.low, high=self.high, part=part)
        return gather_pairs(data, wanted, n=n, seed=seed)
