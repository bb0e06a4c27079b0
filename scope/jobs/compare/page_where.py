"""Where models differ in accuracy: the parts of the questions, the worst first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from reports.blocks import Block, Column, Fold, Table, heading, note
from reports.charts import SmallStrip, Verdict
from reports.prose import Text, prose
from scope.jobs.compare.examples import Filters, Questions
from scope.jobs.compare.task_estimates import Part, TaskEstimates
from scope.records import CompareResult, Endpoint, Estimate, FourCells, Replacement

MOST_PAIRS = 3
"""Pairs of models with their worst part."""

MOST_PARTS = 9
"""Parts on the first screen; the others are folded."""


class Screen(NamedTuple):
    """A task of a result, its questions, and the addresses of those that the page shows."""

    result: CompareResult
    task: TaskEstimates
    questions: Questions
    filters: Filters

    @property
    def verdicts(self) -> dict[str, Replacement]:
        """The verdict on each later model, if a right answer is known."""
        judged = (row for row in self.result.verdicts if any(end.limit for end in row.endpoints))
        return {row.target: row for row in judged}

    @property
    def order(self) -> list[str]:
        """The models as they are compared: with the first, or without verdicts with the best."""
        if self.verdicts or len(self.task.names) == 2:
            return list(self.task.names)
        return list(dict.fromkeys([*self.task.by_accuracy, *self.task.fit, *self.task.names]))

    @property
    def cells(self) -> FourCells | None:
        """Which of the only two models is right."""
        return self.task.cells[0] if len(self.task.names) == 2 and self.task.cells else None

    def end(self, target: str) -> Endpoint | None:
        """What the verdict on a model rests on, or the difference from the first in order."""
        if target in self.verdicts:
            ends = self.verdicts[target].endpoints
            return next((end for end in ends if end.limit is not None), None)
        gap = self.task.gap(self.order[0], target)
        return Endpoint(name="accuracy", estimate=gap) if gap else None


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


def whole_part(screen: Screen) -> tuple[Part, float] | None:
    """The difference of two models on all questions, and its limit, if it has one in points."""
    end, cells = screen.end(screen.order[1]), screen.cells
    if end is None or end.limit is None or end.limit > 0 or not isinstance(end.estimate, Estimate):
        return None
    alone = [cells.count(share) for share in (cells.only_first, cells.only_second)] if cells else []
    counts = " : ".join(f"{count:,}" for count in alone) or "–"
    return Part("all", end.estimate, counts=counts), end.limit


def worst_of_each(screen: Screen) -> Iterator[Block]:
    """The part in which each model is worst, beside the first in order."""
    first, *others = screen.order
    fit = [name for name in others if name in screen.task.fit]
    pairs = [(name, screen.task.parts(first, name)) for name in fit[:MOST_PAIRS]]
    rows = [
        (name, f"{part.name} ({part.gap.n:,})", in_points(part.gap) + "\u00a0✗" * part.surely)
        for name, parts in pairs
        for part in parts[:1]
    ]
    if rows:
        yield heading("Where they differ in accuracy")
        against = Column(prose("Against {first}", first=first), "name")
        columns = (against, Column("Worst in"), Column("Difference, points", "number"))
        yield Table.with_columns(columns, rows, close=True)
        yield note(
            "The worst of {n} parts each, with its number of questions: without ✗ it may be "
            "chance.",
            n=len(pairs[0][1]),
        )
