"""Verdicts for the terminal: the sentence first, then its evidence."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from statistics import median
from typing import TYPE_CHECKING

from scope.printing import printable
from scope.records import Estimate, Evidence, Verdict

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table

MOST_WARNINGS = 5


def verdicts(given: Sequence[Verdict]) -> RenderableType:
    """Every verdict with its evidence; with several references, the related ones are first."""
    from rich.console import Group
    from rich.text import Text

    parts: list[RenderableType] = []
    if len(given) > 1:
        parts += [Text(printable(_sources(given))), Text("")]
    for one in given:
        parts += [Text(printable(f"{one.decision.upper()}: {one.sentence}")), _table(one)]
        parts += [Text(printable(line)) for line in _lines(one)]
    return Group(*parts)


def _sources(given: Sequence[Verdict]) -> str:
    """The references that are sources, and the undecided ones."""
    related, open_ = (
        [one.reference for one in given if one.decision == decision]
        for decision in ("related", "undecided")
    )
    found = f"sources found: {', '.join(related) or 'none'}"
    return f"{found}; undecided: {', '.join(open_)}" if open_ else found


def _table(verdict: Verdict) -> Table:
    from rich.table import Table
    from rich.text import Text

    shown = Table(title=None, title_justify="left")
    for heading in ("evidence", "suspect", "controls", "p alone"):
        shown.add_column(Text(printable(heading)), overflow="fold")
    for one in verdict.evidence:
        shown.add_row(*(Text(printable(cell)) for cell in _row(one)))
    return shown


def _row(evidence: Evidence) -> tuple[str, ...]:
    name = evidence.kind + (f" on {evidence.capability}" if evidence.capability else "")
    return (
        name if evidence.decides else f"{name} (shown only)",
        _value(evidence),
        _range([one.value for one in evidence.controls]),
        _p(evidence.p_value),
    )


def _value(evidence: Evidence) -> str:
    found = evidence.suspect
    if not isinstance(found, Estimate):
        return str(found)
    return f"{found.value:.3f}  n={found.n}\n[{found.low:.3f}, {found.high:.3f}]"


def _range(values: Sequence[float]) -> str:
    if not values:
        return "none has a value"
    return f"{min(values):.3f} to {max(values):.3f}\nmedian {median(values):.3f}, n={len(values)}"


def _p(value: float | None) -> str:
    return "" if value is None else f"{value:.3f}"


def _deciding(verdict: Verdict) -> Iterator[str]:
    """The p-value of the verdict with its two parts, then the controls."""
    agreement, p_value = verdict.agreement, verdict.p_value
    if p_value is not None and verdict.p_rank is not None and agreement is not None:
        p, rank, agreed = (
            verdict.written(one) for one in (p_value, verdict.p_rank, agreement.p_value)
        )
        yield (
            f"p of the verdict: {p}{_corrected(verdict)} where {verdict.alpha:g} is allowed, the "
            f"greater of {rank} by rank among the controls and {agreed} by agreement; p of one "
            "kind alone is not corrected, and decides nothing"
        )
    worth = f"; they count as {agreement.independent:.1f} independent ones" if agreement else ""
    yield (
        f"controls: {len(verdict.controls)}, of which {_not_ranked(verdict)}{verdict.comparable} "
        f"are comparable with the suspect (at least {verdict.comparable_needed} are needed){worth}"
    )
    if verdict.assume_no_label_training:
        yield "assumed: the suspect was not trained on answers of the reference"


def _not_ranked(verdict: Verdict) -> str:
    """The number of controls without a rank, if there are any."""
    ranked = {one.model for one in verdict.standings}
    left = sum(one.model not in ranked for one in verdict.controls)
    if not left:
        return ""
    return f"{left} {'has' if left == 1 else 'have'} no rank (no usable answers, or guesses) and "


def _corrected(verdict: Verdict) -> str:
    """The corrected p-value, with several references."""
    adjusted = verdict.p_adjusted
    if adjusted is None or adjusted == verdict.p_value:
        return ""
    return f"; after Holm's correction over the references {verdict.written(adjusted)}"


def _lines(verdict: Verdict) -> Iterator[str]:
    yield from _deciding(verdict)
    yield f"asked: {verdict.queries} questions; answered by both: {verdict.shared}"
    if verdict.paired is not None:
        paired = verdict.paired
        yield (
            f"against the control {paired.control}: {paired.difference} on the joint scale, "
            f"p = {paired.p_more:.2g} for more, {paired.p_less:.2g} for less"
        )
    yield from (f"would change it: {one}" for one in verdict.changes)
    yield from (f"warning: {one}" for one in verdict.warnings[:MOST_WARNINGS])
    if len(verdict.warnings) > MOST_WARNINGS:
        yield f"warning: {len(verdict.warnings) - MOST_WARNINGS} more in the report"
