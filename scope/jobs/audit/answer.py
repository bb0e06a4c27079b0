"""The answer of an audit: the verdict on each target, one picture, and where targets differ."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Literal

from reports.blocks import (
    Beside,
    Block,
    Callout,
    Column,
    Fold,
    Paragraph,
    Row,
    Table,
    note,
    paragraph,
)
from reports.builders.estimates import CLEAN, short_name
from reports.charts import SmallStrip
from reports.prose import Span, Text, prose, written
from reports.wording import Cell, p_value, range_of_counts, short
from scope.estimation.slices import MINUS
from scope.jobs.audit.verdicts import opening
from scope.records import (
    AuditResult,
    Difference,
    Estimate,
    Replacement,
    ReplacementDecision,
    Undefined,
    marked,
)

_FRAMES: Mapping[ReplacementDecision, Literal["good", "bad", "undecided"]] = MappingProxyType(
    {"may replace": "good", "may not": "bad", "not shown": "undecided"}
)
SIGNS: Mapping[ReplacementDecision, str] = MappingProxyType(
    {"may replace": "✓", "may not": "✗", "not shown": "?"}
)
"""The sign of each decision, so that colour is never the only one."""

MOST_COLUMNS, _ONE_LINE = 5, 3
"""Models in the table of a terminal, and those up to which a number and its interval share a line.

More would not fit into 80 columns.
"""

_LEVEL = 0.05


def verdict_sentences(verdicts: Sequence[Replacement], reference: str) -> list[Text]:
    """One for each target; none where no verdict is reached."""
    parts = [_parts(verdict, reference) for verdict in verdicts]
    return [prose("**{head}**: {why}", head=head, why=why) for head, why in parts]


def _parts(verdict: Replacement, reference: str) -> tuple[str, str]:
    """The verdict with its sign, and what carries it."""
    first = opening(verdict, reference)
    more, _, why = verdict.sentence.removeprefix(first).partition(": ")
    return f"{SIGNS[verdict.decision]} {first}{more}", why


def verdict_boxes(verdicts: Sequence[Replacement], reference: str) -> Iterator[Beside]:
    """A box a target: the verdict, its sentence, and its endpoints behind a line."""
    if verdicts:
        yield Beside(tuple((_box(verdict, reference),) for verdict in verdicts))


def _box(verdict: Replacement, reference: str) -> Callout:
    head, why = _parts(verdict, reference)
    endpoints = Table.of(
        {
            **{"Verdict rests on": "name", "Value": "estimate"},
            **{"Limit": "number", "State": "text"},
        },
        (
            (
                *(end.name, Cell.of(end.estimate)),
                "" if end.limit is None else f"{end.limit:g}".replace("-", "−"),
                end.state,
            )
            for end in verdict.endpoints
        ),
        caption=prose(
            "Accuracy is the target’s minus the reference’s; with a baseline, agreement and "
            "concordance are the target’s minus the baseline’s. A state is that of its row "
            "alone; the verdict is corrected over rows and targets"
        ),
    )
    return Callout(
        _FRAMES[verdict.decision],
        (
            Paragraph(prose("**{head}**", head=head), lead=True),
            paragraph("{why}", why=why if verdict.reason else f"{why[:1].upper()}{why[1:]}"),
            Fold(prose("{n} numbers and limits", n=len(verdict.endpoints)), (endpoints,)),
        ),
    )


def picture(result: AuditResult) -> Iterator[Block]:
    """Agreement and, a capability each, concordance of all models; without it Hard-SCoPE."""
    groups = [
        (capability, estimates_of_models(result, metric, capability))
        for metric, capability in _keys(result)
    ]
    defined = [one for _, of in groups for one in of.values() if isinstance(one, Estimate)]
    if not defined:
        return
    low = math.floor(10 * min(one.low for one in defined)) / 10
    ends = (low, max(1.0, *(one.high for one in defined)))
    yield Table(
        columns=(
            Column("Model", "name"),
            Column(f"{low:g} to {ends[1]:g}", "strip"),
            Column("Value and interval", "number"),
        ),
        rows=tuple(row for group in groups for row in _rows(result, *group, ends)),
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


def _keys(result: AuditResult) -> list[tuple[str, str | None]]:
    """The metric and the capability of each group."""
    main, capabilities = _main_metric(result), result.manifest.capabilities
    return [("iid_agreement", None), *((main, card.name) for card in capabilities)]


def _main_metric(result: AuditResult) -> str:
    return "concordance" if result.candidate_outcomes else "hard_scope"


def estimates_of_models(
    result: AuditResult, metric: str, capability: str | None
) -> dict[str, Estimate | Undefined]:
    """Each model's number on all texts of a capability, or on the unchanged texts."""
    measured = {
        row.target: row.estimate
        for row in result.measurements
        if (row.metric, row.capability, row.subset) == (metric, capability, None)
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
    defined = {name: one for name, one in of_models.items() if isinstance(one, Estimate)}
    levels = tuple(
        (estimate.value, roles[name] == "floor")
        for name, estimate in defined.items()
        if roles[name] in ("baseline", "floor")
    )
    texts = range_of_counts(defined.values())
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
        strip = SmallStrip(f"{name}: {value}", estimate, ends, levels)
        yield Row(cells=(model, strip, value), detail=True)


def small_table(result: AuditResult) -> Table:
    """A row a number, a column a model."""
    rows = [
        (capability or "agreement", estimates_of_models(result, metric, capability))
        for metric, capability in _keys(result)
    ]
    if result.verdicts:
        gaps = {
            verdict.target: end.estimate
            for verdict in result.verdicts
            for end in verdict.endpoints
            if end.name == "accuracy"
        }
        rows.insert(0, ("accuracy difference", gaps))
    names = [card.name for card in result.manifest.targets]
    more = f"; {len(names) - MOST_COLUMNS} more models: --verbose" if names[MOST_COLUMNS:] else ""
    names = names[:MOST_COLUMNS]
    heads = (written(marked(name, result.answer_shares)) for name in names)
    return Table.with_columns(
        (Column("", "name"), *(Column(head, "number") for head in heads)),
        (
            (title, *(in_little_room(of.get(name), len(names)) for name in names))
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


def where_targets_differ(result: AuditResult) -> Iterator[Text]:
    """The slices that differ, and the capabilities on which a target follows the reference less.

    Baseline and floor have no sentence; with a baseline a difference is what lies beyond its own.
    """
    judged = {card.name for card in result.manifest.targets if card.role == "target"}
    tests = [test for test in result.slice_tests if test.worst.target in judged]
    clear = [test for test in tests if test.p_adjusted < _LEVEL]
    for test in clear:
        worst = test.worst
        metric = short_name(worst.metric).removeprefix("IID ").capitalize()
        yield prose(
            f"{metric} of **{{target}}** on {{part}} differs by {{grouping}}: it is lowest on "
            "**{worst}**, {estimate} ({n} texts; corrected p {p}).",
            target=worst.target,
            part=worst.capability or CLEAN,
            grouping=test.grouping,
            worst=str(worst.subset),
            estimate=short(worst.estimate),
            n=worst.estimate.n,
            p=p_value(test.p_adjusted),
        )
    if tests and not clear:
        yield prose("No slice of the texts is shown to differ from the others.")
    other = (result.manifest.baseline or result.manifest.reference).name
    pairs = [
        difference
        for difference in result.differences
        if MINUS in str(difference.capability)
        and difference.first in judged
        and difference.second == other
    ]
    sentences = [text for pair in pairs for text in _on_capabilities(pair, result)]
    yield from sentences
    if pairs and not sentences:
        yield prose("No target is shown to differ between two capabilities.")


def _on_capabilities(difference: Difference, result: AuditResult) -> Iterator[Text]:
    """On which of two capabilities a target clearly follows the reference less."""
    estimate = difference.estimate
    if isinstance(estimate, Undefined) or estimate.side == "unclear":
        return
    less, more = str(difference.capability).split(MINUS)[:: -1 if estimate.value > 0 else 1]
    lead: Text = ()
    less_on = "follows the reference less on"
    if result.manifest.baseline:
        lead = prose("Compared with the baseline {name}, ", name=difference.second)
        less_on = "loses more on"
    sentence = prose(
        f"**{{target}}** {less_on} **{{less}}** than on **{{more}}**: "
        "concordance on {difference} {estimate} ({n} texts), not corrected over targets.",
        target=difference.first,
        less=less,
        more=more,
        difference=str(difference.capability),
        estimate=short(estimate),
        n=estimate.n,
    )
    yield (*lead, *sentence)
