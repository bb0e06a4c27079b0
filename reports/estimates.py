"""Estimates on a page: metrics and differences in tables, dots on one scale, zones of limits.

With the parts of a first screen: where, which texts, and what to do.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any, Literal

from reports.blocks import (
    Beside,
    Block,
    Colour,
    Column,
    Fold,
    Row,
    Section,
    SmallStrip,
    Table,
    Terms,
    heading,
    note,
    paragraph,
)
from reports.prose import Span, Style, Text, Written, prose, written
from reports.wording import Cell, p_value, short, short_points
from scope.metrics.catalog import DRIFT_METRICS, MetricName, metric_name
from scope.records import (
    GOLD,
    AnswerShares,
    Difference,
    Endpoint,
    Estimate,
    Measurement,
    ReplacementDecision,
    Undefined,
    marked,
)
from scope.records.results import State

CLEAN = "original texts"
"""The name in place of a capability for metrics that need no perturbation."""


def meanings(names: Iterable[MetricName]) -> Terms:
    """The name that people read, the key that commands and files have, and the meaning."""
    return Terms(
        tuple(
            (
                prose("{label} (key ``{key}``)", label=name.label, key=name.head),
                prose("{meaning}", meaning=name.meaning),
            )
            for name in names
            if name.meaning
        )
    )


def spelled(name: MetricName) -> Text:
    """A metric's title, with its spelling if it has parameters."""
    if not name.parameters:
        return written(name.label)
    return (*written(name.label), Span(" "), Span(name.spelling, "code", foreign=True))


def short_name(metric: str) -> str:
    """A metric's title for a chart, with its parameters if it has any."""
    name = metric_name(metric)
    values = ", ".join(name.parameters.values())
    return f"{name.label} ({values})" if values else name.label


def differences_section(
    differences: Sequence[Difference],
    shares: Sequence[AnswerShares],
    *,
    of: Literal["target", "model"] = "target",
) -> Section:
    """The paired differences between targets, or models, in the order of the result."""
    if not differences:
        blocks: tuple[Block, ...] = (paragraph(f"A difference needs two measured {of}s."),)
    else:
        blocks = (
            paragraph(
                f"First {of} minus second on the same examples. The adjusted p-values are "
                "corrected for the number of tests (Holm). A row without p was not tested."
                + _LIKENESS
                * any(" ~ " in difference.first for difference in differences)
            ),
            Table.of(
                {
                    **{"Metric": "name", "On": "text", "First": "text", "Second": "text"},
                    **{"Difference": "estimate", "p": "number", "p, adjusted": "number"},
                },
                (
                    (
                        spelled(metric_name(difference.metric)),
                        difference.capability or CLEAN,
                        *(marked(model, shares) for model in (difference.first, difference.second)),
                        Cell.of(difference.estimate, signed=True),
                        *map(p_value, (difference.p_value, difference.p_adjusted)),
                    )
                    for difference in differences
                ),
            ),
        )
    return Section(
        anchor="differences",
        title="Differences",
        heading=f"Differences between {of}s",
        blocks=blocks,
    )


_LIKENESS = (
    " A ~ B: how alike the answers of two models are. A ~ gold: how alike those of one and the "
    "right answers are, on the same questions. These rows have a correction of their own."
)


_ABOUT = note("n is the number of questions.")

MOST_ESTIMATES = 10_000
"""A longer table would make the page too heavy for a browser."""


def numbers_section(
    names: Iterable[MetricName],
    blocks: Iterable[Block],
    *,
    about: Block = _ABOUT,
    anchor: str = "numbers",
) -> Section:
    """The meaning of the metrics, and the tables of all estimates."""
    # Several spellings of one metric differ only in parameters: explain it once.
    explained = meanings({name.head: name for name in names}.values())
    return Section(anchor=anchor, title="All estimates", blocks=(explained, about, *blocks))


def every_estimate(group: str, rows: Sequence[Measurement]) -> Fold:
    """The estimates of one group in their order, folded."""
    shown = rows[:MOST_ESTIMATES]
    parts = any(row.subset for row in shown)
    value = Column("Value", "estimate", method=True)
    columns = (*([Column("Part")] if parts else []), Column("Model"), Column("Against"), value)
    cells: Iterator[tuple[Any, ...]] = (
        (
            metric_name(row.metric).label,
            *([row.subset or "all"] if parts else []),
            *(row.target, _against(row.against), Cell.of(row.estimate)),
        )
        for row in shown
    )
    table = Table.with_columns((Column("Metric", "name"), *columns), cells)
    title = prose(
        "{group}: {shown} of {total} estimates", group=group, shown=len(shown), total=len(rows)
    )
    more = [note("All are in ``result.json``.")] if len(shown) < len(rows) else []
    return Fold(title, (*more, table))


def _against(model: str | None) -> Text:
    """The name of a model; the right answers are called gold."""
    return (Span("gold"),) if model in (None, GOLD) else written(model)


def table_of(
    caption: str,
    heads: Sequence[str],
    rows: Iterable[tuple[Written | None, ...]],
    keys: Iterable[Mapping[str, str]] = (),
    spacious: Collection[str] = (),
    **options: Any,
) -> Table | None:
    """The rows, without the columns in which none has a value; None without rows.

    The first column names a row; the kind of the others follows from their values. ``spacious`` are
    the heads of columns that a terminal leaves out.

    Examples
    --------
    >>> table = table_of("Counts", ("what", "n", "why"), [("a", 1, None), ("b", 2, None)])
    >>> [(column.heading, column.kind) for column in table.columns]
    [('what', 'name'), ('n', 'number')]
    """
    rows = tuple(rows)
    kept = [place for place in range(len(heads)) if any(row[place] for row in rows)]
    if not rows:
        return None
    cells = tuple(tuple(row[place] for place in kept) for row in rows)
    keys = tuple(keys) or ({},) * len(rows)
    columns = [Column(heads[kept[0]], "name")]
    for place in kept[1:]:
        column = Column(heads[place], spacious=heads[place] in spacious)
        if any(isinstance(row[place], Cell) for row in rows):
            column = replace(column, kind="estimate")
        elif any(isinstance(row[place], int) for row in rows):
            column = replace(column, kind="number")
        columns.append(column)
    return Table(
        columns=tuple(columns),
        rows=tuple(Row(cells=row, keys=key) for row, key in zip(cells, keys, strict=True)),
        caption=prose(caption),
        close=True,
        **options,
    )


def strips_table(
    what: str,
    rows: Iterable[tuple[str, Estimate | Undefined]],
    *,
    least: float | None = None,
    write: Callable[[Estimate | Undefined], str] = short,
) -> Table | None:
    """One row per estimate; None if none is defined.

    The scale spans only the drawn intervals, so that close numbers are distinguishable. With
    ``least`` it spans that, too, and is green from there on; ``what`` heads it in a terminal.

    Examples
    --------
    >>> half = Estimate(value=0.5, low=0.42, high=0.61, n=8, method="bootstrap")
    >>> strips_table("Accuracy", [("a", half)]).rows[0].cells[1].ends
    (0.4, 0.65)
    """
    rows = tuple(rows)
    defined = [estimate for _, estimate in rows if isinstance(estimate, Estimate)]
    if not defined:
        return None
    ends = [end for each in defined for end in (each.low, each.high)]
    ends += [] if least is None else [least]
    low, high = math.floor(min(ends) * 20 + 1e-9) / 20, math.ceil(max(ends) * 20 - 1e-9) / 20
    high = max(high, low + 0.05)
    cells: list[tuple[str, SmallStrip | str]] = []
    for name, estimate in rows:
        words = write(estimate)
        if isinstance(estimate, Undefined):
            cells.append((name, words))
            continue
        strip = SmallStrip(f"{name}: {words}", estimate, (low, high), least, words=words)
        if least is not None:
            good, bad = estimate.low > least, estimate.high < least
            strip = replace(strip, verdict="good" if good else "bad" if bad else "open")
        cells.append((name, strip))
    columns = (Column("", "name"), Column("", "strip", short=what))
    return Table.with_columns(columns, cells, close=True)


COLOURS: Mapping[State | ReplacementDecision, Colour] = MappingProxyType(
    {
        "within": "good",
        "beyond": "bad",
        "fails alone": "open",
        "not shown": "open",
        "not judged": "pale",
        "may replace": "good",
        "may not": "bad",
    }
)
"""The colour of each state of a number, and of each decision."""

SIGNS: Mapping[ReplacementDecision, tuple[str, Style]] = MappingProxyType(
    {"may replace": ("✓", "good"), "not shown": ("?", "open"), "may not": ("✗", "alarm")}
)
"""The sign of each decision and its colour, which is never the only mark; in a table's order."""


def by_luck(decisions: Container[str], *, often: str = "1 run of 40") -> str:
    """How often such verdicts are wrong; nothing where none is decided.

    >>> by_luck(["may replace"])
    'A model beyond a limit would get this ✓ by luck in at most 1 run of 40.'
    """
    passes, fails = "may replace" in decisions, "may not" in decisions
    if passes and fails:
        return f"A wrong ✓ or ✗ comes up by luck in at most {often}."
    if passes:
        return f"A model beyond a limit would get this ✓ by luck in at most {often}."
    fail = f"A model within its limits would get this ✗ by bad luck in at most {often}."
    return fail if fails else ""


_MOST_BELOW, _MOST_ABOVE = 8, 6
"""How far a scale reaches below the limit and above equality, in distances between the two."""


def limit_strips(
    endpoints: Sequence[Endpoint | None], name: str, *, in_points: bool = False
) -> list[SmallStrip | str]:
    """One column of limits: each model's number, drawn on one scale with the verdict's interval.

    A number that does not exist is its reason; where nothing was measured there is a dash. A star
    marks a number that is outside by itself, but not once it is corrected for the other limits.

    Examples
    --------
    >>> gap = Estimate(value=-0.01, low=-0.03, high=0.01, n=500, method="Tango")
    >>> (strip,) = limit_strips([Endpoint(name="accuracy", estimate=gap, limit=-0.02)], "Accuracy")
    >>> strip.words, strip.verdict, strip.ends
    ('−0.01 [−0.03, 0.01]', 'open', (-0.04, 0.02))
    """
    write = short_points if in_points else short
    known = [end for end in endpoints if end is not None and isinstance(end.estimate, Estimate)]
    if not known:
        return ["–" if end is None else str(end.estimate) for end in endpoints]
    limit = next((end.limit for end in known if end.limit is not None), None)
    intervals = [end.estimate for end in known if isinstance(end.estimate, Estimate)]
    low, high = min(each.low for each in intervals), max(each.high for each in intervals)
    if limit is None:
        low, high = (min(low, -0.05), max(high, 0.05)) if in_points else (min(low, 0), max(high, 1))
    else:
        equal = 0.0 if limit < 0 else 1.0
        unit = equal - limit
        low = max(min(low, limit - unit), limit - _MOST_BELOW * unit)
        high = min(max(high, equal + unit), equal + _MOST_ABOVE * unit)
    return [
        SmallStrip(
            label=f"{name}: {write(end.estimate)}",
            estimate=end.estimate,
            ends=(low, high),
            least=end.limit,
            most=end.most,
            verdict=COLOURS[end.state],
            words=write(end.estimate) + " *" * (end.state == "fails alone"),
        )
        if end is not None and isinstance(end.estimate, Estimate)
        else "–"
        if end is None
        else str(end.estimate)
        for end in endpoints
    ]


def three_parts(where: Sequence[Block], texts: Sequence[Block], to_do: Sequence[Block]) -> Beside:
    """What stands below the answer: where models differ, examples that show it, what to do."""
    return in_two(
        {"Where they differ": where}, {"Texts that show it": texts}, {"What to do": to_do}
    )


def in_two(*columns: Mapping[str, Sequence[Block]]) -> Beside:
    """Columns of blocks under headings; a heading without blocks is left out.

    >>> len(in_two({"Where": (heading("here"),), "Why": ()}, {"How": ()}).groups)
    1
    """
    return Beside(
        tuple(
            tuple(
                part
                for title, blocks in column.items()
                if blocks
                for part in (heading(title), *blocks)
            )
            for column in columns
            if any(column.values())
        )
    )


DRIFT_KEYS = tuple(metric.key for metric in DRIFT_METRICS)

ABOUT_DRIFT = note(
    "Drift is measured in each place of the first model's answers behind their questions, of a "
    "cloze in each place of its sentences as they stand, of next tokens behind each text. "
    "Intervals are over texts. Less KL divergence does not mean a better model "
    "(arXiv 2606.19558): read it beside the accuracy."
)


def drift_cell(metric: str, estimate: Estimate | Undefined) -> Cell:
    """A number of drift, in as many digits as count; a maximum has no interval."""
    if metric == "same_top_token":
        return Cell.share(estimate)
    cell = (Cell.small if metric.startswith("kl") else Cell.of)(estimate)
    return replace(cell, interval="") if metric == "kl_max" else cell


def drift_blocks(rows: Sequence[Measurement]) -> Iterator[Block]:
    """How far language models drift from the first one, a column each; nothing without any."""
    names = dict.fromkeys((row.target, row.capability or "") for row in rows)
    cells = {
        (row.metric, row.target, row.capability or ""): drift_cell(row.metric, row.estimate)
        for row in rows
    }
    lines = [
        (metric_name(key).label, *(cells.get((key, *name)) for name in names))
        for key in DRIFT_KEYS
        if any((key, *name) in cells for name in names)
    ]
    heads = [written(f"{model} on {task}" if task else model) for model, task in names]
    columns = (Column("Drift", "name"), *(Column(head, "estimate") for head in heads))
    if lines:
        yield from (Table.with_columns(columns, lines), ABOUT_DRIFT)


def drift_section(rows: Sequence[Measurement]) -> Section | None:
    """The same as a section."""
    blocks = tuple(drift_blocks(rows))
    return Section(anchor="drift", title="Drift", blocks=blocks) if blocks else None
