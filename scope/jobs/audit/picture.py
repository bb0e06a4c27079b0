"""An audit in one picture for the page, and in one small table for the terminal."""

from __future__ import annotations

import math
from collections.abc import Iterator

from reports.blocks import Block, Column, Row, Table, note
from reports.builders.estimates import short_name
from reports.charts import SmallStrip
from reports.prose import Span, Text, prose, written
from reports.wording import short
from scope.records import AuditResult, Estimate, Undefined, marked

MOST_COLUMNS = 5
"""Models in the table of the terminal; more would not fit into 80 columns."""

_ONE_LINE = 3
"""Models up to which a number and its interval stand in one line there."""


def picture(result: AuditResult) -> Iterator[Block]:
    """Agreement and, a capability each, concordance of all models; without it Hard-SCoPE."""
    groups = [
        (capability, estimates_of_models(result, metric, capability))
        for metric, capability in _keys(result)
    ]
    found = [one for _, of in groups for one in of.values() if isinstance(one, Estimate)]
    if not found:
        return
    low = math.floor(10 * min(one.low for one in found)) / 10
    ends = (low, max(1.0, *(one.high for one in found)))
    yield Table(
        columns=(
            Column("Model", "name"),
            Column(f"{low:g} to {ends[1]:g}", "strip"),
            Column("Value and interval", "number"),
        ),
        rows=tuple(row for one in groups for row in _rows(result, *one, ends)),
    )
    yield _ABOUT if result.candidate_outcomes else _ABOUT_KEPT


_ABOUT = note(
    "Agreement: how often a model gives the label of the reference. Concordance: how often two "
    "random changes of a text move a model in the order in which they move the reference; ½ is a "
    "model that never moves or moves at random, and independent models lie above it. The solid "
    "line is the baseline, the dotted one the floor, where there are such models."
)
_ABOUT_KEPT = note(
    "Hard-SCoPE: of the changed texts that leave the reference’s label, the share that leaves the "
    "model’s, too; a model that never moves has 1."
)


def _keys(result: AuditResult) -> Iterator[tuple[str, str | None]]:
    """The metric and the capability of each group."""
    yield "iid_agreement", None
    for card in result.manifest.capabilities:
        yield _main_metric(result), card.name


def _main_metric(result: AuditResult) -> str:
    return "concordance" if result.candidate_outcomes else "hard_scope"


def estimates_of_models(
    result: AuditResult, metric: str, capability: str | None
) -> dict[str, Estimate | Undefined]:
    """Each model's number on all texts of a capability, or on the unchanged texts."""
    measured = {
        one.target: one.estimate
        for one in result.measurements
        if (one.metric, one.capability, one.subset) == (metric, capability, None)
    }
    names = [card.name for card in result.manifest.targets]
    return {name: measured[name] for name in names if name in measured}


def _rows(
    result: AuditResult,
    capability: str | None,
    of_models: dict[str, Estimate | Undefined],
    ends: tuple[float, float],
) -> Iterator[Row]:
    """The title of a group with its n, then a row a model."""
    roles = {card.name: card.role for card in result.manifest.targets}
    levels = tuple(
        (estimate.value, roles[name] == "floor")
        for name, estimate in of_models.items()
        if roles[name] in ("baseline", "floor") and isinstance(estimate, Estimate)
    )
    counts = sorted({one.n for one in of_models.values() if isinstance(one, Estimate)})
    texts = " to ".join(f"{one:,}" for one in dict.fromkeys((*counts[:1], *counts[-1:])))
    title = prose("Agreement on unchanged texts")
    if capability is not None:
        metric = short_name(_main_metric(result))
        title = prose(f"{metric} on {{capability}}", capability=capability)
    if of_models:
        yield Row(cells=(title, None, f"{texts} texts" if texts else ""), chosen=True)
    for name, estimate in of_models.items():
        remark = f" ({roles[name]})" if roles[name] != "target" else ""
        model = (*written(marked(name, result.answer_shares)), Span(remark))
        if isinstance(estimate, Undefined):
            why = Span(estimate.reason, "note", foreign=True)
            yield Row(cells=((*model, why), None, "undefined"), detail=True)
            continue
        value = short(estimate)
        strip = SmallStrip.of(f"{name}: {value}", estimate, ends, levels)
        yield Row(cells=(model, strip, value), detail=True)


def small_table(result: AuditResult) -> Table:
    """A row a number, a column a model."""
    rows = [
        (capability or "agreement", estimates_of_models(result, metric, capability))
        for metric, capability in _keys(result)
    ]
    if result.verdicts:
        gaps = {
            verdict.target: one.estimate
            for verdict in result.verdicts
            for one in verdict.endpoints
            if one.name == "accuracy"
        }
        rows.insert(0, ("accuracy difference", gaps))
    names = [card.name for card in result.manifest.targets]
    more = f"; {len(names) - MOST_COLUMNS} more models: --verbose" if names[MOST_COLUMNS:] else ""
    names = names[:MOST_COLUMNS]
    return Table(
        columns=(
            Column("", "name"),
            *(Column(written(marked(name, result.answer_shares)), "number") for name in names),
        ),
        rows=tuple(
            Row(cells=(title, *(in_little_room(of.get(name), len(names)) for name in names)))
            for title, of in rows
            if of
        ),
        caption=prose(
            f"{short_name(_main_metric(result))} by capability, after unchanged texts{more}"
        ),
        close=True,
    )


def in_little_room(estimate: Estimate | Undefined | None, columns: int) -> Text:
    """A number with its interval in one line, or below each other beside many columns."""
    if not isinstance(estimate, Estimate):
        return prose("–")
    if columns <= _ONE_LINE:
        return (Span(short(estimate)),)
    return (Span(short(estimate, narrow=True).replace(" ", "\n", 1)),)
