"""The section with the null distribution: the suspect's rank among the controls."""

from __future__ import annotations

from dataclasses import dataclass

from reports.view import wording
from reports.view.reuse_strips import at_least, strip_dot, threshold
from reports.view.reuse_words import rate_of_one
from scope.records import ModelScore, PairedTest, Verdict
from scope.sections.charts import StripChart

OPEN_ROWS = 28
"""A longer table is folded."""


@dataclass(frozen=True, kw_only=True)
class StandingRow:
    """One model's joint statistic; ``suspect`` is true for the suspect."""

    model: str
    value: str
    suspect: bool


@dataclass(frozen=True, kw_only=True)
class Paired:
    """The suspect against one control; ``at_threshold`` is true if it is at the threshold."""

    control: str
    at_threshold: bool
    more: bool
    cell: wording.Cell
    p_more: str
    p_less: str


@dataclass(frozen=True, kw_only=True)
class SuspectPlace:
    """The rank of the suspect of one verdict; ``rate`` is the p-value that decides it.

    ``above`` counts the controls at least as similar to the reference, None if the suspect has no
    joint statistic; ``smallest`` is the smallest possible p-value with these controls.
    """

    reference: str
    chart: StripChart | None
    rows: tuple[StandingRow, ...]
    folded: bool
    controls: int
    above: int | None
    rate: str
    smallest: str
    needed: int
    paired: Paired | None


def places(verdicts: tuple[Verdict, ...]) -> tuple[SuspectPlace, ...]:
    """The null distribution of every verdict."""
    return tuple(_place(verdict, rate_of_one(verdicts)) for verdict in verdicts)


def _place(verdict: Verdict, rate: float) -> SuspectPlace:
    controls = [one for one in verdict.standings if one.model != verdict.suspect]
    suspect = next((one for one in verdict.standings if one.model == verdict.suspect), None)
    above = None if suspect is None else at_least(suspect.value, controls)
    return SuspectPlace(
        reference=verdict.reference,
        chart=_chart(suspect, controls, rate),
        rows=tuple(
            StandingRow(model=one.model, value=wording.number(one.value), suspect=one is suspect)
            # Of equals the suspect is last, as in its p-value.
            for one in sorted(verdict.standings, key=lambda one: (-one.value, one is suspect))
        ),
        folded=len(verdict.standings) > OPEN_ROWS,
        controls=len(controls),
        above=above,
        rate=f"{rate:.3g}",
        smallest=wording.p_value(1 / (len(controls) + 1)),
        needed=verdict.controls_needed,
        paired=None if verdict.paired is None else _paired(verdict.paired, controls, rate),
    )


def _chart(
    suspect: ModelScore | None, controls: list[ModelScore], rate: float
) -> StripChart | None:
    if not controls:
        return None
    values = [control.value for control in controls]
    spread = f"{wording.number(min(values))} to {wording.number(max(values))}"
    rank = "the suspect has none"
    if suspect is not None:
        above = at_least(suspect.value, controls)
        rank = (
            f"the suspect at {wording.number(suspect.value)}, where {above} controls are at least "
            "as similar to the reference"
        )
    return StripChart(
        label=f"Joint statistic: {len(controls)} controls from {spread}; {rank}; "
        "the numbers are in the table",
        x_title="joint statistic: the further right, the more similar to the reference",
        controls=tuple(map(strip_dot, controls)),
        suspect=None if suspect is None else strip_dot(suspect),
        threshold=threshold(rate, controls),
        rate=f"{rate:.3g}",
    )


def _paired(test: PairedTest, controls: list[ModelScore], rate: float) -> Paired:
    decisive = threshold(rate, controls)
    return Paired(
        control=test.control,
        at_threshold=any(one.model == test.control and one.value == decisive for one in controls),
        more=test.difference.value > 0,
        cell=wording.cell(test.difference, signed=True),
        p_more=_equation(test.p_more),
        p_less=_equation(test.p_less),
    )


def _equation(p_value: float) -> str:
    """A p-value with the sign before it.

    >>> _equation(0.25), _equation(0.0001)
    ('= 0.250', '< 0.001')
    """
    written = wording.p_value(p_value)
    return written if written.startswith("<") else f"= {written}"
