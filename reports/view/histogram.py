"""How the SemScores below 0.9 are distributed."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from reports.view.task_numbers import TaskNumbers
from scope.records import Measurement

BELOW = 9
"""The paper's histogram ends here, in tenths."""

MOST_SERIES = 6
"""More bars than this cannot be told apart; then the models against gold stand alone."""

BINS = ("below 0", *(f"{step / 10:.1f}–{(step + 1) / 10:.1f}" for step in range(BELOW)))


@dataclass(frozen=True, kw_only=True)
class Histogram:
    """Counts of answers by SemScore, one row of counts for each series, in the order of bins.

    ``drawn`` says how many of the series, from the first on, stand in the chart.
    """

    label: str
    bins: tuple[str, ...]
    names: tuple[str, ...]
    counts: tuple[tuple[int, ...], ...]
    drawn: int

    @property
    def series(self) -> tuple[str, ...]:
        """The names of those that are drawn."""
        return self.names[: self.drawn]


def histogram(numbers: TaskNumbers) -> Histogram | None:
    """The histogram of each model against gold and of each pair; None where nothing is known."""
    gold = [
        (f"{model} against gold", row)
        for model, row in numbers.against_gold("sem_score").items()
        if row.values
    ]
    between = [
        (f"{one} ~ {two}", row)
        for (one, two), row in numbers.between("sem_score").items()
        if row.values
    ]
    series = [*gold, *between]
    if not series:
        return None
    counts = [bin_counts(row.values) for _, row in series]
    # Without negative cosines their bin would only take room.
    first = 0 if any(row[0] for row in counts) else 1
    return Histogram(
        label=f"SemScores below 0.9, {numbers.task}; the numbers stand in the table",
        bins=BINS[first:],
        names=tuple(name for name, _ in series),
        counts=tuple(row[first:] for row in counts),
        drawn=_drawn(gold, series),
    )


def _drawn(
    gold: Sequence[tuple[str, Measurement]], series: Sequence[tuple[str, Measurement]]
) -> int:
    if len(series) <= MOST_SERIES:
        return len(series)
    return len(gold) if len(gold) <= MOST_SERIES else 0


def bin_counts(values: Sequence[float]) -> tuple[int, ...]:
    """How many values lie below 0, and in each tenth from 0 up to 0.9; bins hold their start.

    >>> bin_counts([-0.2, 0.0, 0.05, 0.3, 0.89, 0.9, 1.0])
    (1, 2, 0, 0, 1, 0, 0, 0, 0, 1)
    """
    # Stored values are rounded, and 0.3 * 10 may fall short of 3 by the last bit.
    tenths = Counter(max(-1, math.floor(value * 10 + 1e-9)) for value in values)
    return tuple(tenths[step] for step in range(-1, BELOW))
