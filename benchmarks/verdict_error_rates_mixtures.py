"""Made-up differences by text over one or several capabilities, counted and not drawn one by one.

Capabilities are nested: the first ``n`` texts of a layout count for each. So all texts that have
the same capabilities are one multinomial draw, and 10,000 data sets take milliseconds.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from scope.statistics.margins import Discordance, effective
from scope.verdicts.endpoints import UNEVEN

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
