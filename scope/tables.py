"""A comparison as rows: for the terminal and for data frames."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from scope.records import GOLD, Comparison, Estimate, Measurement

if TYPE_CHECKING:
    import pandas
    from rich.console import RenderableType
    from rich.table import Table

ALL_TEXTS = "(originals)"

LEADING = ("capa", "capa_discrete", "sem_score", "word_f1")
"""What orders pairs of models: the first of these that most pairs have."""

PAIRS_AT_EITHER_END = 5


class Row(NamedTuple):
    """One estimate, flat; ``reason`` says why there is no value."""

    capability: str
    metric: str
    target: str
    against: str
    subset: str
    value: float | None
    low: float | None
    high: float | None
    n: int
    reason: str


def rows(comparison: Comparison) -> Iterator[Row]:
    """Every measurement of a comparison, in its order."""
    return map(_row, comparison.measurements)


def _row(measurement: Measurement) -> Row:
    estimate = measurement.estimate
    defined = isinstance(estimate, Estimate)
    return Row(
        capability=measurement.capability or "",
        metric=measurement.metric,
        target=measurement.target,
        against=measurement.against or "",
        subset=measurement.subset or "",
        value=estimate.value if isinstance(estimate, Estimate) else None,
        low=estimate.low if isinstance(estimate, Estimate) else None,
        high=estimate.high if isinstance(estimate, Estimate) else None,
        n=estimate.n,
        reason="" if defined else str(estimate),
    )


def to_frame(comparison: Comparison) -> pandas.DataFrame:
    """Every measurement as a row: value, interval, n, and the reason where it is undefined."""
    import pandas as pd

    return pd.DataFrame(list(rows(comparison)), columns=list(Row._fields))


def table(comparison: Comparison) -> RenderableType:
    """The main estimates, each with its n and, below, its interval."""
    from rich.console import Group

    main = [one for one in comparison.measurements if one.subset is None]
    if not comparison.tasks:
        return _against_reference(comparison, main)
    named = [
        (one.task, [row for row in main if row.capability == one.task]) for one in comparison.tasks
    ]
    return Group(*(_of_equals(task, rows) for task, rows in named))


def _against_reference(comparison: Comparison, main: Sequence[Measurement]) -> Table:
    """One row a metric, one column a target."""
    manifest = comparison.manifest
    shown = _titled(f"{manifest.job}: against {manifest.reference.name}", "capability", "metric")
    for card in manifest.targets:
        _add_column(shown, card.name)
    for capability, metric in dict.fromkeys((one.capability, one.metric) for one in main):
        cells = [_cell(one) for one in main if (one.capability, one.metric) == (capability, metric)]
        _add_row(shown, capability or ALL_TEXTS, metric, *cells)
    return shown


def _of_equals(task: str, main: Sequence[Measurement]) -> Table:
    """One row for each model against gold and each two models, one column a metric.

    Of many pairs, the most and the least alike are shown, by the last of the leading metrics
    that was measured; a metric that is undefined throughout has a note instead of a column.
    """
    from rich.text import Text

    shown = _titled(f"compare: {task}", "models")
    pairings, left_out = _worth_showing(main)
    rows = [one for one in main if (one.target, one.against) in pairings]
    metrics = list(dict.fromkeys(row.metric for row in rows if isinstance(row.estimate, Estimate)))
    for metric in metrics:
        _add_column(shown, metric)
    cells = {((row.target, row.against), row.metric): _cell(row) for row in rows}
    for target, against in pairings:
        name = f"{target} against gold" if against == GOLD else f"{target} ~ {against}"
        found = (cells.get(((target, against), metric), "") for metric in metrics)
        _add_row(shown, name, *found)
    notes = [f"{row.metric}: {row.estimate}" for row in rows if row.metric not in metrics]
    if left_out:
        notes.append(f"{left_out} pairs between these are in the report and in --json")
    shown.caption = Text("\n".join(_first_of_each_metric(notes)))
    return shown


def _first_of_each_metric(notes: Sequence[str]) -> list[str]:
    return list({note.partition(":")[0]: note for note in reversed(notes)}.values())[::-1]


Pairing = tuple[str, str | None]
"""A model, and what it is held against: `GOLD`, or another model."""


def _worth_showing(main: Sequence[Measurement]) -> tuple[list[Pairing], int]:
    """Every model against gold, and the pairs, or of many the ends of their order; how many not."""
    of_gold = list(dict.fromkeys((one.target, one.against) for one in main if one.against == GOLD))
    pairs = list(dict.fromkeys((one.target, one.against) for one in main if one.against != GOLD))
    if len(pairs) <= 2 * PAIRS_AT_EITHER_END:
        return of_gold + pairs, 0
    leading = [
        {
            (one.target, one.against): one.estimate.value
            for one in main
            if one.metric == metric and one.against != GOLD and isinstance(one.estimate, Estimate)
        }
        for metric in LEADING
    ]
    values = max(leading, key=len)
    pairs = sorted(values, key=lambda pair: -values[pair])
    ends = pairs[:PAIRS_AT_EITHER_END] + pairs[-PAIRS_AT_EITHER_END:]
    return of_gold + ends, len(pairs) - len(ends)


def _titled(title: str, *headings: str) -> Table:
    from rich.table import Table
    from rich.text import Text

    shown = Table(title=Text(title), title_justify="left", caption_justify="left")
    for heading in headings:
        width = len("soft_scope(tolerance=0.1,") if heading == "metric" else None
        shown.add_column(heading, overflow="fold", min_width=width)
    return shown


def _add_column(shown: Table, name: str) -> None:
    from rich.text import Text

    shown.add_column(Text(name), overflow="fold", min_width=len("[0.000, 0.000]"))


def _add_row(shown: Table, *cells: str) -> None:
    from rich.text import Text

    shown.add_row(*map(Text, cells))


def _cell(measurement: Measurement) -> str:
    estimate = measurement.estimate
    if not isinstance(estimate, Estimate):
        return str(estimate)
    return f"{estimate.value:.3f}  n={estimate.n}\n[{estimate.low:.3f}, {estimate.high:.3f}]"


def to_text(comparison: Comparison, width: int = 120) -> str:
    """The table as plain text."""
    from io import StringIO

    from rich.console import Console

    console = Console(file=StringIO(), width=width, color_system=None)
    console.print(table(comparison))
    return str(console.file.getvalue())  # type: ignore[attr-defined]
