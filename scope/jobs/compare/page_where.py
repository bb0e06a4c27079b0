"""Where models differ in accuracy: the parts of the questions, the worst first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from reports.blocks import Block, Column, Fold, Table, note
from reports.charts import SmallStrip, Verdict
from reports.prose import Text, prose
from scope.jobs.compare.task_estimates import Part
from scope.records import Estimate

MOST_PARTS = 9
"""Parts on the first screen; the others are folded."""


def in_points(gap: Estimate) -> str:
    """A difference with its interval in whole points, which is as much as a part of them shows.

    >>> in_points(Estimate(value=-0.14, low=-0.251, high=0.004, n=93, method="Tango"))
    '−14 [−25, 0]'
    """
    value, low, high = (
        f"{round(100 * number):+d}".replace("+0", "0") for number in (gap.value, gap.low, gap.high)
    )
    return f"{value} [{low}, {high}]".replace("-", "−")


def worst(parts: Sequence[Part]) -> Text:
    """The part in which the second model loses most, and whether this may be chance."""
    part, count = parts[0], len(parts)
    words = "Least gain: {part}, {points} points on {n} questions."
    if part.gap.value < 0:
        chance = "more than chance explains" if part.surely else "which may be chance"
        words = (
            f"**Look at {{part}}**: {{points}} points on {{n}} questions, the worst of {count}, "
        )
        words += f"{chance}."
    return prose(words, part=part.name, points=in_points(part.gap), n=part.gap.n)


def where_table(
    parts: Sequence[Part], whole: tuple[Part, float] | None, names: Sequence[str]
) -> Iterator[Block]:
    """Each part's difference on zones of red and green, below that of all questions."""
    limit = whole[1] if whole else None
    ends = (min(part.gap.low for part in parts), max(part.gap.high for part in parts))

    def row(part: Part) -> tuple[Text, SmallStrip, str, str]:
        verdict: Verdict = "open"
        if limit is None:
            verdict = "pale"
        elif part.gap.low >= limit:
            verdict = "good"
        elif part.surely and part.gap.high < limit:
            verdict = "bad"
        words = in_points(part.gap)
        strip = SmallStrip(f"{part.name}: {words}", part.gap, ends, least=limit, verdict=verdict)
        name = prose("{part} ({n})", part=part.name, n=part.gap.n)
        return name, strip, words, part.counts

    rows = list(map(row, [*([whole[0]] if whole else []), *parts]))
    head = "points" if limit is None else f"limit {100 * limit:g}".replace("-", "−")
    numbers = (Column("Difference, points", "number"), Column("Lost : won", "number"))
    columns = (Column("Questions", "name"), Column(head, "strip"), *numbers)
    yield Table.with_columns(columns, rows[:MOST_PARTS], close=True)
    words = "Lost: only {first} is right; won: only {second} is. Each row has its own 95\u00a0% "
    yield note(f"{words}interval.", first=names[0], second=names[1])
    if others := rows[MOST_PARTS:]:
        title = prose("The other {n}, where it loses less", n=len(others))
        yield Fold(title, (Table.with_columns(columns, others, close=True),))
