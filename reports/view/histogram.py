"""How SemScores are distributed: cosines below 0.9, and all scores of a probe."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

from reports.view.task_numbers import TaskEstimates
from scope.records import Measurement
from scope.sections.charts import Histogram

BELOW = 9
"""The paper's histogram of cosines ends here, in tenths."""

MOST_SERIES = 6
"""More bars than this are indistinguishable; then only the models against gold are shown."""

BINS = ("below 0", *(f"{step / 10:.1f}–{(step + 1) / 10:.1f}" for step in range(10)))


def histogram(numbers: TaskEstimates, *, cosines: bool = True) -> Histogram | None:
    """The histogram of each model against gold and of each pair; None where nothing is known.

    That of cosines ends at 0.9, where the paper's does. What a score of 0.9 means with another
    measure is not known, so that the histogram of its scores has all of them.
    """
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
    counts = [bin_counts(row.values, below=BELOW if cosines else 10) for _, row in series]
    title = "SemScores below 0.9" if cosines else "SemScores"
    # Without negative cosines their bin would only take room.
    first = 0 if any(row[0] for row in counts) else 1
    return Histogram(
        title=title,
        label=f"{title}, {numbers.task}; the numbers are in the table",
        bins=BINS[first : len(counts[0])],
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


def bin_counts(values: Sequence[float], *, below: int = BELOW) -> tuple[int, ...]:
    """How many values lie below 0, and in each tenth up to ``below``; bins hold their start.

    The tenth that ends at 1 holds 1, too.

    >>> bin_counts([-0.2, 0.0, 0.05, 0.3, 0.89, 0.9, 1.0])
    (1, 2, 0, 0, 1, 0, 0, 0, 0, 1)
    >>> bin_counts([0.3, 0.9, 1.0], below=10)
    (0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 2)
    """
    # Stored values are rounded, and 0.3 * 10 may fall short of 3 by the last bit.
    tenths = Counter(min(9, max(-1, math.floor(value * 10 + 1e-9))) for value in values)
    return tuple(tenths[step] for step in range(-1, below))
