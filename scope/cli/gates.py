"""The options that set a command's exit code by what was measured."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from scope.cli.output import say

if TYPE_CHECKING:
    from scope.decision.gates import Gate
    from scope.records import Comparison

A_GATE_FAILED = 1


class JudgedOn(StrEnum):
    """What of an estimate a gate looks at."""

    INTERVAL = "interval"
    VALUE = "value"


Gates = Annotated[
    list[str],
    typer.Option(
        "--gate",
        metavar="METRIC[CAPABILITY,TARGET]>=VALUE",
        help="Exit with 1 unless this holds; what is undefined fails, and in an audit what is of a "
        "degenerate model. The brackets may be left out; a name with a comma or a bracket stands "
        "in quotes; <= sets an upper bound. In an audit OTHER-MARGIN as the value holds the target "
        "against another target or an earlier run, by folder or name, paired. Such as "
        "'hard_scope[typo,student]>=0.9'. May be repeated.",
    ),
]
GateOn = Annotated[
    JudgedOn,
    typer.Option(help="What gates look at: the interval's worse bound, or the value alone."),
]
FailUnder = Annotated[
    list[str],
    typer.Option(metavar="METRIC=VALUE", help="The same as --gate 'METRIC>=VALUE'."),
]


def parse_gates(
    gates: Sequence[str],
    fail_under: Sequence[str],
    measured_in: Literal["audits", "tasks"] = "audits",
) -> tuple[Gate, ...]:
    """The gates of both options.

    Raises
    ------
    SpecError
        When one cannot be read.
    """
    if not gates and not fail_under:
        return ()
    from scope.decision.gates import parse_gate

    return (
        *(parse_gate(text, measured_in) for text in gates),
        *(parse_gate(text, measured_in, fail_under=True) for text in fail_under),
    )


def require_others(
    gates: Sequence[Gate],
    reference: str,
    targets: Sequence[str],
    runs: Path,
    own: Path | None = None,
    capabilities: Sequence[str] = (),
) -> None:
    """See that what gates name is there, before any model is loaded.

    That is the targets and runs that they compare with, and the names in their brackets.

    Raises
    ------
    ScopeError
        When one is not, or is the run's ``own`` folder.
    """
    if not any(gate.other or gate.only for gate in gates):
        return
    from scope.decision.baselines import require_names, require_other
    from scope.jobs.identity import model_names
    from scope.models.loading import split_spec

    # Loaded models name their scheme.
    first, *others = (":".join(split_spec(spec)) for spec in (reference, *targets))
    names = model_names(first, others)[1:]
    for gate in gates:
        require_names(gate.only, gate.text, (*capabilities, *names))
        if gate.other is not None and gate.after not in names:
            require_other(gate.other, gate.text, names, runs, own)


def exit_code(
    comparison: Comparison,
    gates: Sequence[Gate],
    judged_on: JudgedOn,
    runs: Path = Path("runs"),
) -> int:
    """0, or 1 when a capability failed or a gate is not met; says which."""
    failed = [
        f"capability {one.capability} failed: {one.reason}"
        for one in comparison.outcomes
        if one.status == "failed"
    ]
    if gates:
        from scope.decision.baselines import drifts_of_earlier_runs
        from scope.decision.gates import failures

        others = [gate.other for gate in gates if gate.other is not None]
        for line in drifts_of_earlier_runs(comparison, others, runs):
            say(f"drift: {line}", err=True)
        failed += failures(comparison, gates, judged_on.value, runs)
    for line in failed:
        say(f"gate: {line}", err=True)
    return A_GATE_FAILED if failed else 0
