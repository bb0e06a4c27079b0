"""A comparison as rows: for the terminal and for data frames."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from scope.records import Comparison, Estimate, Measurement

if TYPE_CHECKING:
    import pandas
    from rich.table import Table

ALL_TEXTS = "(originals)"


class Row(NamedTuple):
    """One estimate, flat; ``reason`` says why there is no value."""

    capability: str
    metric: str
    target: str
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


def table(comparison: Comparison) -> Table:
    """The main estimates, one column a target, each with its n and, below, its interval."""
    from rich.table import Table
    from rich.text import Text

    manifest = comparison.manifest
    title = f"{manifest.job}: against {manifest.reference.name}"
    shown = Table(title=Text(title), title_justify="left")
    shown.add_column("capability", overflow="fold")
    shown.add_column("metric", overflow="fold", min_width=len("soft_scope(tolerance=0.1,"))
    for card in manifest.targets:
        shown.add_column(Text(card.name), overflow="fold", min_width=len("[0.000, 0.000]"))
    main = [one for one in comparison.measurements if one.subset is None]
    for capability, metric in dict.fromkeys((one.capability, one.metric) for one in main):
        cells = [_cell(one) for one in main if (one.capability, one.metric) == (capability, metric)]
        shown.add_row(*map(Text, (capability or ALL_TEXTS, metric, *cells)))
    return shown


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
