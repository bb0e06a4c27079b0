"""Where a target differs: slices of the texts, and capabilities of one target."""

from __future__ import annotations

from collections.abc import Iterator

from scope.jobs.sections.estimates import CLEAN, short_name
from scope.records import AuditResult, CapabilityDifference, marked
from scope.sections.blocks import Block, Bullets, Column, Row, Table, note
from scope.sections.prose import Text, prose
from scope.sections.wording import Cell, p_value

_LEVEL = 0.05
_FEW = 6


def slice_blocks(result: AuditResult) -> Iterator[Block]:
    """The tests of slices and the differences between capabilities, each with its sentences."""
    if result.slice_tests:
        yield Bullets(tuple(_slices(result)), findings=True)
        yield _tests(result)
        yield note(
            "p is that of a permutation of the texts over the slices, corrected for all rows "
            "(Benjamini and Hochberg). Of g slices the worst has an interval at the level "
            "1 − 0.05 / g."
        )
    if result.between_capabilities:
        yield Bullets(tuple(_capabilities(result)), findings=True)
        yield _differences(result)


def _slices(result: AuditResult) -> Iterator[Text]:
    """One sentence a grouping whose slices differ."""
    judged = _judged(result)
    tests = [one for one in result.slice_tests if one.target in judged]
    for one in (clear := [one for one in tests if one.p_adjusted < _LEVEL]):
        cell = Cell.of(one.estimate)
        yield prose(
            "On **{part}**, {metric} of **{target}** differs by {grouping} (p\u00a0{p}, "
            "corrected): it is lowest on **{worst}**, **{value}** {interval} (n\u00a0=\u00a0{n}).",
            part=one.capability or CLEAN,
            metric=short_name(one.metric),
            target=one.target,
            grouping=one.grouping,
            p=_compared(one.p_adjusted),
            worst=one.worst,
            value=cell.value,
            interval=cell.interval,
            n=cell.n,
        )
    if not clear:
        yield prose("No slice of the texts is shown to differ from the others.")


def _compared(p: float) -> str:
    shown = p_value(p)
    return shown if shown.startswith("<") else f"= {shown}"


def _tests(result: AuditResult) -> Table:
    return Table(
        columns=(
            Column("On", "name"),
            Column("Metric"),
            Column("Target"),
            Column("Slices"),
            Column("Worst slice"),
            Column("Value there", "estimate"),
            Column("p, adjusted", "number"),
        ),
        rows=tuple(
            Row(
                cells=(
                    one.capability or CLEAN,
                    short_name(one.metric),
                    marked(one.target, result.answer_shares),
                    one.grouping,
                    one.worst,
                    Cell.of(one.estimate),
                    p_value(one.p_adjusted),
                )
            )
            for one in result.slice_tests
        ),
        caption=prose("Do slices of the texts differ?"),
    )


def _judged(result: AuditResult) -> set[str]:
    """The targets but for baseline and floor."""
    return {card.name for card in result.manifest.targets if card.role == "target"}


def _capabilities(result: AuditResult) -> Iterator[Text]:
    """One sentence a difference, if they are few, or else a clear difference."""
    judged, baseline = _judged(result), result.manifest.baseline
    against = None if baseline is None else baseline.name
    rows = [
        one
        for one in result.between_capabilities
        if one.target in judged and one.against == against
    ]
    clear = [one for one in rows if one.estimate.side != "unclear"]
    yield from map(_costs, rows if len(rows) <= _FEW else clear)
    if len(rows) > _FEW and not clear:
        yield prose("No target is shown to follow the reference less on one capability.")


def _costs(one: CapabilityDifference) -> Text:
    """On which of two capabilities a target follows the reference less."""
    cell, clear = Cell.of(one.estimate, signed=True), one.estimate.side != "unclear"
    less, more = (one.second, one.first) if one.estimate.value > 0 else (one.first, one.second)
    return (
        *prose("" if clear else "It is not shown that "),
        *prose(
            "**{target}** follows the reference less on **{less}** than on **{more}**",
            target=one.target,
            less=less,
            more=more,
        ),
        *(
            prose(", beyond the same difference of the baseline **{other}**", other=one.against)
            if one.against
            else ()
        ),
        *prose(
            ": concordance on {first} minus {second} **{value}** {interval} (n\u00a0=\u00a0{n}).",
            first=one.first,
            second=one.second,
            value=cell.value,
            interval=cell.interval,
            n=cell.n,
        ),
    )


def _differences(result: AuditResult) -> Table:
    return Table(
        columns=(
            Column("Target", "name"),
            Column("First"),
            Column("Second"),
            Column("Minus the same of"),
            Column("First − second", "estimate"),
        ),
        rows=tuple(
            Row(
                cells=(
                    marked(one.target, result.answer_shares),
                    one.first,
                    one.second,
                    one.against or "",
                    Cell.of(one.estimate, signed=True),
                )
            )
            for one in result.between_capabilities
        ),
        caption=prose("Concordance on one capability minus that on another"),
    )
