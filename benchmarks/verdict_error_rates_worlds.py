"""Made-up worlds in which the true difference of two models, or strength of reaction, is known.

`World`: differences by text over one or several capabilities, counted and not drawn one by one.
Capabilities are nested: the first ``n`` texts of a layout count for each. So all texts that have
the same capabilities are one multinomial draw, and 10,000 data sets take milliseconds.

`slope_errors`: strength of reaction, on moves with heavy tails. A text has four random candidates
and a scale of its own. The reference's moves are Student's t in that scale, with a drift that the
text's candidates share. The target's are a mixture of these and of others like them, times a
strength that may vary between texts, and 0 where it does not move. The limit is the strength
itself, on 400,000 texts; so an error is that of a model at the limit.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from scope.metrics.invariance import Reach, reach
from scope.records import ERROR, Estimate
from scope.statistics.intervals import Discordance, effective, student_estimate
from scope.verdicts.decide import UNEVEN, judge_slope, pooled

Numbers = NDArray[np.float64]
Layout = tuple[int, ...]
"""How many texts count for each capability, falling."""


class World(NamedTuple):
    """A mixture of differences for each capability.

    ``chances`` has the shape (capabilities, 4): of a whole and a small loss, a small and a whole
    gain; the rest is 0. A small one has the ``size``. In the share ``alike`` of the texts, the
    worst of one capability are the worst of all; else they are independent.
    """

    layout: Layout
    chances: ArrayLike
    size: float = 0.25
    alike: float = 0.0

    def draw(self, generator: np.random.Generator, repetitions: int) -> list[Discordance]:
        """Data sets pooled over the capabilities, and of each capability."""
        first = self.layout[0]
        weights = np.array([first / n / len(self.layout) for n in self.layout])
        texts = np.subtract(self.layout, (*self.layout[1:], 0))
        unevenness = float(np.cumsum(weights) ** 2 @ texts / first) ** UNEVEN
        sums = np.zeros((len(self.layout) + 1, 3, repetitions))
        for place, number in enumerate(texts, start=1):
            values, chances = self._joint(place)
            counts = generator.multinomial(number, chances, size=repetitions)
            for row, column in enumerate([values @ weights[:place], *values.T]):
                kinds = (np.maximum(column, 0), np.maximum(-column, 0), column**2)
                sums[row] += [counts @ kind for kind in kinds]
        parts = [effective(a, b, c, n) for (a, b, c), n in zip(sums[1:], self.layout, strict=True)]
        gains, losses, squares = sums[0]
        return [effective(gains, losses, squares, first, unevenness=unevenness), *parts]

    def _joint(self, capabilities: int) -> tuple[Numbers, Numbers]:
        """Each combination of differences with its chance."""
        chances = np.asarray(self.chances)[:capabilities]
        chances = np.insert(chances, 2, np.maximum(1 - chances.sum(axis=1), 0), axis=1)
        highs, rows = np.cumsum(chances, axis=1), np.arange(capabilities)
        places = np.array([*product(range(5), repeat=capabilities)])
        high, chance = highs[rows, places], chances[rows, places]
        overlap = np.maximum(high.min(axis=1) - (high - chance).max(axis=1), 0)
        both = self.alike * overlap + (1 - self.alike) * chance.prod(axis=1)
        return np.array([-1, -self.size, 0, self.size, 1])[places], both / both.sum()


def random_worlds(
    generator: np.random.Generator, layouts: Sequence[Layout], loss: float, most: Sequence[float]
) -> Iterator[World]:
    """Worlds with this mean loss, on all capabilities alike, on the last, or spread at random.

    ``most`` is the greatest chance of a small and of a whole gain. Some of the losses are small,
    unless whole gains alone can be.
    """
    while True:
        layout = layouts[int(generator.integers(len(layouts)))]
        n, size = len(layout), float(generator.choice([0.125, 0.25, 0.5]))
        spread = [np.full(n, 1 / n), np.eye(n)[-1], generator.dirichlet([1] * n)]
        losses = loss * n * spread[generator.integers(3)][:, None]
        gains = generator.choice([0, 0.05, 0.2, 0.5, 1], (n, 2)) * most
        part = generator.choice([0, 0.3, 0.7, 1], (n, 1)) if most[0] or not most[1] else 0
        small = gains[:, :1] + losses * part / size
        chances = np.hstack([gains[:, 1:] + losses * (1 - part), small, gains])
        if (chances.sum(axis=1) <= 1).all():
            yield World(layout, chances.round(4), size, float(generator.choice([0, 0.5, 1])))


SIZES = ((20,), (50,), (100,), (300,), (300, 45))
LIMITS = {"lower": 0.7, "upper": 1 / 0.7, "lower_of_parts": 0.49, "upper_of_parts": 1 / 0.49}


MOVES = {
    "usual": (4.0, 0.8, 0.9, 0.0, 0.0),
    "heavy": (2.5, 1.2, 0.9, 0.0, 0.0),
    "loose": (4.0, 1.6, 0.5, 0.0, 0.0),
    "varied": (4.0, 1.2, 0.9, 0.25, 0.5),
}
"""Degrees of freedom, spread of the logarithms of scales, likeness of the moves, share of changes
without a move, and spread of the logarithms of strengths."""


def reach_of(
    generator: np.random.Generator, texts: int, strength: float, moves: tuple[float, ...]
) -> Reach:
    """The slope of a target on random moves."""
    freedom, scales, alike, still, strengths = moves
    shape, column = (texts, 4), (texts, 1)
    scale = np.exp(generator.normal(0, scales, column)) / 2
    led = (generator.standard_t(freedom, shape) + generator.normal(0, 0.3, column)) * scale
    noise = generator.standard_t(freedom, shape) * scale
    spread = np.exp(generator.normal(0, strengths, column) - strengths**2 / 2)
    followed = strength * (spread * alike * led + np.sqrt(1 - alike**2) * noise)
    followed[generator.random(shape) < still] = 0
    slope = reach(led.ravel(), followed.ravel(), [str(n // 4) for n in range(led.size)])
    assert slope is not None
    return slope


def slope_errors(
    generator: np.random.Generator, repetitions: int, *, texts_for_truth: int = 400_000
) -> dict[str, float]:
    """Both rates of error, and the coverage, of each kind of moves, limit and number of texts."""
    found: dict[str, float] = {}
    for name, moves in MOVES.items():
        for limit, strength in LIMITS.items():
            factor = strength / reach_of(generator, 20_000, 1.0, moves).slope
            truth = reach_of(generator, texts_for_truth, factor, moves).slope
            least, most = (truth, 100.0) if strength < 1 else (-100.0, truth)
            for texts in SIZES:
                shown = np.zeros(3)
                for _ in range(repetitions):
                    slopes = [reach_of(generator, n, factor, moves) for n in texts]
                    parts = [dict(zip(s.example_ids, s.values, strict=True)) for s in slopes]
                    values = pooled(parts, missing=None).values.values()
                    estimate = student_estimate([*values])
                    assert isinstance(estimate, Estimate)
                    end = judge_slope("reach", estimate, least=least, most=most)
                    covered = estimate.low <= truth <= estimate.high
                    shown += [end.p_within < ERROR, end.p_beyond < ERROR, covered]
                key = f"reach_{name}_{limit}_n{'+'.join(map(str, texts))}"
                kinds = (f"{key}_{kind}" for kind in ("may_replace", "may_not", "coverage"))
                found |= dict(zip(kinds, (shown / repetitions).tolist(), strict=True))
    return found
