"""The options that let a command fail on the measured values."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

from scope.core.options import OUTPUT, option
from scope.core.request import Gates, Request, refuse_unused
from scope.errors import SpecError
from scope.progress import remark

if TYPE_CHECKING:
    from scope.core.gates import Gate
    from scope.records import Result, ReuseResult
    from scope.records.result import VerdictLine


@dataclass(frozen=True, kw_only=True)
class ReplacementGates(Gates):
    """A gate on verdicts: may the models replace the first one?"""

    fail_on: Annotated[
        Literal["beyond", "not-shown"] | None, option(OUTPUT, metavar="beyond|not-shown")
    ] = None
    """Exit with 1 if a verdict is *may not replace* (beyond), or also if it is too early to say
    (not-shown)."""

    def judged(self, request: Request, result: Result) -> Mapping[str, Sequence[str]]:
        """Whether the command fails on each verdict on a model in place of the first one."""
        from scope.records import PairResult

        if self.fail_on is None:
            return {}
        passing = ("may replace",) if self.fail_on == "not-shown" else ("may replace", "not shown")
        parts: Sequence[Result] = [result]
        if isinstance(result, PairResult):
            first = result.manifest.models[0].spec
            forth = [audit for audit in result.audits if audit.manifest.reference.spec == first]
            parts = [*forth, *result.comparisons]
        lines = [line for part in parts for line in part.verdict_lines()]
        of_verdicts = _of_verdicts(lines, lambda decision: decision in passing)
        return of_verdicts or {"--fail-on": ("no verdict was reached",)}


@dataclass(frozen=True, kw_only=True)
class TaskGates(ReplacementGates):
    """Gates on what a comparison measures, and on its verdicts."""

    gate: Annotated[Sequence[str], option(OUTPUT, metavar="METRIC[TASK,MODEL]>=VALUE")] = ()
    """Exit with 1 unless this holds, such as 'agreement[choice,student]>=0.9'; may be repeated.
    Brackets are optional. <= sets an upper bound. Undefined
    values and degenerate models fail."""

    gate_on: Annotated[Literal["interval", "value"], option(OUTPUT)] = "interval"
    """What a gate compares: the worse bound of the interval, or the value."""

    fail_under: Annotated[Sequence[str], option(OUTPUT, metavar="METRIC=VALUE")] = ()
    """Alias of --gate 'METRIC>=VALUE'."""

    measured_in: ClassVar[Literal["audits", "tasks"]] = "tasks"

    def __post_init__(self) -> None:
        if not self.parsed():
            refuse_unused(self, ("gate_on",), "without a gate", "a gate", instead="add --gate")

    def parsed(self) -> tuple[Gate, ...]:
        """The gates of both options.

        Raises
        ------
        SpecError
            When one cannot be read.
        """
        if not self.gate and not self.fail_under:
            return ()
        from scope.core.gates import parse_gate

        return (
            *(parse_gate(text, self.measured_in) for text in self.gate),
            *(parse_gate(text, self.measured_in, fail_under=True) for text in self.fail_under),
        )

    def checked(self, request: Any) -> Any:
        """The request with its gates, whose names are known once the models are loaded."""
        return replace(request, gates=self.parsed())

    def judged(self, request: Request, result: Any) -> Mapping[str, Sequence[str]]:
        """The verdicts and numbers that do not meet each gate, a line each."""
        of_verdicts = super().judged(request, result)
        if not (gates := self.parsed()):
            return of_verdicts
        from scope.core.gates import below_base_rate, failures

        for line in below_base_rate(result, gates):
            remark(request.progress, line)
        of_numbers = {gate.text: tuple(failures(result, [gate], self.gate_on)) for gate in gates}
        return {**of_verdicts, **of_numbers}


@dataclass(frozen=True, kw_only=True)
class AuditGates(TaskGates):
    """Gates on what an audit measures."""

    gate: Annotated[Sequence[str], option(OUTPUT, metavar="METRIC[CAPABILITY,TARGET]>=VALUE")] = ()
    """Exit with 1 unless this holds, such as 'hard_scope[typo,student]>=0.9'; may be repeated.
    Brackets are optional. <= sets an upper bound. Undefined
    values and degenerate models fail. With several references
    METRIC[CAPABILITY,TARGET,REFERENCE] names one direction."""

    measured_in: ClassVar[Literal["audits", "tasks"]] = "audits"

    def checked(self, request: Any) -> Any:
        """Check the names in gates before any model is loaded.

        That is their metrics, and the names in their brackets.

        Raises
        ------
        SpecError
            When one is unknown, or the audit leaves a metric out.
        """
        gates = self.parsed()
        if self.fail_on is not None and not request.candidates:
            raise SpecError(
                f"--fail-on {self.fail_on} in an audit without verdicts",
                expected="random candidates, on which verdicts rest",
                fix="leave out --candidates 0, or use --gate",
            )
        for gate in gates:
            from scope.core.gates import require_names

            _require_measured(gate, request)
            require_names(gate.only, gate.text, (*request.capabilities, *request.names()))
        return request


def _require_measured(gate: Gate, request: Any) -> None:
    """Refuse a gate on a metric that this audit leaves out."""
    from scope.estimation.pairs import ON_CANDIDATES
    from scope.jobs.perturbing import soft_scope_metric
    from scope.metrics.catalog import METRICS, parse_metric

    always = {
        metric.key: str(metric) for metric in METRICS.values() if metric.measured_in == "audits"
    }
    always["soft_scope"] = str(soft_scope_metric(request.tolerance, request.cutoff))
    left_out = () if request.candidates else ON_CANDIDATES
    spellings = [spelling for key, spelling in always.items() if key not in left_out]
    spellings += [str(parse_metric(metric, "audits")) for metric in request.metrics]
    if gate.metric in (*spellings, *(spelling.partition("(")[0] for spelling in spellings)):
        return
    raise SpecError(
        f"the gate `{gate.text}` on a metric that this audit leaves out",
        expected=f"one of {', '.join(spellings)}",
        fix="leave out --candidates 0"
        if gate.metric in left_out
        else f"add --metric '{gate.metric}'",
    )


@dataclass(frozen=True, kw_only=True)
class VerdictGates(Gates):
    """Gates on the verdicts of `scope reuse`."""

    fail_on: Annotated[
        Sequence[Literal["related", "undecided"]], option(OUTPUT, metavar="VERDICT")
    ] = ()
    """Exit with 1 if this is a verdict; may be repeated. undecided includes `of neither kind`."""

    def judged(self, request: Any, result: ReuseResult) -> Mapping[str, Sequence[str]]:
        """Whether the command fails on each verdict."""
        if not self.fail_on:
            return {}
        neither = ("of neither kind",) if "undecided" in self.fail_on else ()
        failing = (*self.fail_on, *neither)
        return _of_verdicts(result.verdict_lines(), lambda decision: decision not in failing)


def _of_verdicts(
    lines: Sequence[VerdictLine], passes: Callable[[str], bool]
) -> Mapping[str, Sequence[str]]:
    """The failures of a gate on each verdict: its decision, or none."""
    failures: dict[str, tuple[str, ...]] = {line.subject: () for line in lines}
    for line in lines:
        if not passes(line.decision):
            words = line.decision.replace("not shown", "too early to say")
            failures[line.subject] += (f"{line.subject}: {words}",)
    return failures
