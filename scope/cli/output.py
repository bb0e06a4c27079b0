"""What commands have in common: how a comparison is shown, and when a gate fails."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, overload

import typer

from scope.errors import SpecError
from scope.printing import printable
from scope.records import GOLD, Estimate, Measurement

if TYPE_CHECKING:
    from scope.records import Comparison, DataCard, Outcome

A_GATE_FAILED = 1

Json = Annotated[
    bool, typer.Option("--json", help="Print the whole comparison as JSON on standard output.")
]
Runs = Annotated[Path, typer.Option(help="Folder under which runs are kept.")]
FailUnder = Annotated[
    list[str],
    typer.Option(
        metavar="METRIC=VALUE",
        help="Exit with 1 if this metric lies below the value, or is undefined, for any target and "
        "capability or task; of a comparison for any model against gold and any two models. "
        "Such as hard_scope=0.9. May be repeated.",
    ),
]


@dataclass(frozen=True, kw_only=True, slots=True)
class Gate:
    """A metric, all its parameters or none, and the least value with which all is well."""

    metric: str
    least: float


def parse_gates(
    entries: Sequence[str], measured_in: Literal["audits", "tasks"] = "audits"
) -> tuple[Gate, ...]:
    """Gates from ``METRIC=VALUE``, for the metrics of audits or of tasks.

    Raises
    ------
    SpecError
        When there is no such metric there, or the value is no number in its range.

    Examples
    --------
    >>> parse_gates(["hard_scope=0.9"])
    (Gate(metric='hard_scope', least=0.9),)
    """
    from scope.metrics import METRICS, parse_metric

    gates = []
    for entry in entries:
        match = re.fullmatch(r"\s*(.+?)\s*=\s*([-+0-9.eE]+)\s*", entry)
        try:
            least = float(match[2]) if match else None
        except ValueError:
            least = None
        if match is None or least is None:
            raise SpecError(
                f"the gate `{entry}`",
                expected=f"METRIC=VALUE with a metric of {', '.join(METRICS)}",
                mend="write for example --fail-under hard_scope=0.9",
            )
        metric = parse_metric(match[1])
        known = [str(one) for one in METRICS.values() if one.measured_in == measured_in]
        if metric.measured_in != measured_in or not metric.low <= least <= metric.high:
            raise SpecError(
                f"the gate `{entry}`",
                expected=f"a value from {metric.low:g} to {metric.high:g}, and a metric of "
                f"{', '.join(known)}",
                mend=f"write for example --fail-under {known[0]}=0.9",
            )
        if metric.more_similar == "lower":
            raise SpecError(
                f"the gate `{entry}`",
                expected="a metric that is greater the more alike two models are",
                mend="write for example --fail-under iid_agreement=0.9",
            )
        spelling = str(metric) if "(" in match[1] else metric.key
        gates.append(Gate(metric=spelling, least=least))
    return tuple(gates)


@overload
def run_argument(run: str) -> str | Path: ...


@overload
def run_argument(run: None) -> None: ...


def run_argument(run: str | None) -> str | Path | None:
    """A run as the user wrote it: a path where there is a slash in it, else a name.

    Examples
    --------
    >>> run_argument("sst2"), run_argument("../elsewhere/sst2").name
    ('sst2', 'sst2')
    """
    return Path(run) if run and "/" in run else run


@contextmanager
def results_alone_on_standard_output() -> Iterator[None]:
    """Send what a user's own model prints to standard error, where it cannot spoil JSON."""
    with redirect_stdout(sys.stderr):
        yield


def say(line: str, *, err: bool = False) -> None:
    """Print a line that may hold foreign words."""
    typer.echo(printable(line), err=err)


def show(comparison: Comparison, *, as_json: bool, report: Path | None) -> None:
    """Print a comparison for a person or for a machine, and where its report lies."""
    if as_json:
        typer.echo(comparison.to_json(), nl=False)
    else:
        from rich.console import Console

        from scope.tables import table

        Console().print(table(comparison, None if report is None else report.parent))
        for outcome in () if comparison.verdicts or comparison.fleet else comparison.outcomes:
            told = _answered(outcome) if comparison.tasks else _outcome(outcome)
            say(f"{outcome.capability}: {told}")
        for data in comparison.manifest.data:
            say(f"data{_of_data(comparison, data)}")
        for card in comparison.manifest.models:
            if card.truncated:
                say(f"{card.name}: {card.truncated} texts were cut to its limit")
        if comparison.clock and comparison.clock.damaged:
            say(f"store: {comparison.clock.damaged} damaged rows were asked for again")
    if report is not None:
        say(f"report: {report}", err=True)


def _of_data(comparison: Comparison, card: DataCard) -> str:
    if comparison.probe:
        return f": {_pairs(card)}"
    told = _matrix(card) if comparison.fleet else _data(card)
    return f" of {card.capability}: {told}" if card.capability else f": {told}"


def _outcome(outcome: Outcome) -> str:
    if outcome.status != "measured":
        return f"{outcome.status}: {outcome.reason}"
    return (
        f"{outcome.found} perturbations in {outcome.searched} searches, {outcome.queries} queries"
    )


def _answered(outcome: Outcome) -> str:
    missing = outcome.searched - outcome.found
    return f"{outcome.found} answers" + (f", {missing} questions without one" if missing else "")


def _data(card: DataCard) -> str:
    return (
        f"{card.used} of {card.rows} {'questions' if card.capability else 'texts'}, "
        f"{card.labelled} with a gold {'answer' if card.capability else 'label'}; "
        f"left out: {card.duplicates} repeated, {card.empty} empty"
    )


def _matrix(card: DataCard) -> str:
    """The questions that were read, and of how many some answer is known."""
    return f"{card.spec}: {card.used} of {card.rows} questions, {card.labelled} with an answer"


def _pairs(card: DataCard) -> str:
    """The pairs of a probe that were read, or its sentences without scores, which have no task.

    Pairs that stand twice are kept: people's scores of both count.
    """
    what, repeated = (
        ("pairs", "") if card.capability else ("sentences", f"{card.duplicates} repeated, ")
    )
    return f"{card.spec}: {card.used} of {card.rows} {what}; left out: {repeated}{card.empty} empty"


def exit_code(comparison: Comparison, gates: Sequence[Gate]) -> int:
    """0, or 1 when a capability failed or an estimate lies below its gate; says which."""
    failed = [
        f"capability {one.capability} failed: {one.reason}"
        for one in comparison.outcomes
        if one.status == "failed"
    ]
    failed += [line for gate in gates for line in _below(comparison, gate)]
    for line in failed:
        say(f"gate: {line}", err=True)
    return A_GATE_FAILED if failed else 0


def _against(measured: Measurement) -> str:
    if measured.against is None:
        return ""
    return " against gold" if measured.against == GOLD else f" ~ {measured.against}"


def _below(comparison: Comparison, gate: Gate) -> list[str]:
    """What a gate stops: every estimate that is not as great, or that nothing was measured."""
    judged = [
        one
        for one in comparison.measurements
        if one.subset is None and gate.metric in (one.metric, one.metric.partition("(")[0])
    ]
    if not judged:
        measured = ", ".join(dict.fromkeys(one.metric for one in comparison.measurements))
        return [f"{gate.metric} was not measured, but {measured}"]
    return [
        f"{one.metric} of {one.target}{_against(one)}"
        f"{f' on {one.capability}' if one.capability else ''} "
        f"is {one.estimate}, not at least {gate.least:g}"
        for one in judged
        if not isinstance(one.estimate, Estimate) or one.estimate.value < gate.least
    ]
