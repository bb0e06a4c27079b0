"""Gates: conditions on the results, which let a command fail.

A gate on a number is judged by the conservative end of its interval.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

from scope.core.options import OUTPUT, option
from scope.core.request import Gates, Request, refuse_unused
from scope.errors import SpecError
from scope.progress import remark
from scope.records.estimates import GOLD, Estimate

if TYPE_CHECKING:
    from scope.records import MeasuredResult, Measurement, Result, ReuseResult
    from scope.records.result import VerdictLine

JudgedOn = Literal["interval", "value"]
"""Whether the worse end of the interval decides, or the value alone."""

NOT_JUDGED = ("reference", "baseline", "floor")
"""The parts of models that are no targets."""

_GATE = re.compile(
    r"\s*(?P<metric>\w+\s*(?:\([^()]*\))?)\s*(?:\[(?P<only>[^\[\]]*)\])?"
    r"\s*(?P<relation>>=|<=|=)\s*(?P<bound>.+?)\s*"
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Gate:
    """One condition.

    Parameters
    ----------
    text
        As written.
    metric
        The metric's spelling with all its parameters, or its key for any.
    only
        Names of capabilities, tasks or models that a judged measurement must have.
    at_least
        Whether the bound is a lower bound.
    bound
        A value of the metric.
    """

    text: str
    metric: str
    only: tuple[str, ...] = ()
    at_least: bool = True
    bound: float


def parse_gate(
    text: str, measured_in: Literal["audits", "tasks"] = "audits", *, fail_under: bool = False
) -> Gate:
    """Read ``METRIC[CAPABILITY,TARGET]>=VALUE``.

    The brackets and either name in them are optional. ``<=`` sets an upper bound. ``METRIC=VALUE``
    is read as ``>=`` if ``fail_under`` is true, except for a metric for which lower is better.

    Raises
    ------
    SpecError
        When it cannot be parsed, the metric is unknown, or no value of it can meet the bound.

    Examples
    --------
    >>> gate = parse_gate("hard_scope[typo,student]>=0.9")
    >>> gate.only, gate.at_least, gate.bound
    (('typo', 'student'), True, 0.9)
    """
    from scope.metrics.catalog import known_metrics, parse_metric

    match, metrics = _GATE.fullmatch(text), known_metrics(measured_in)
    if match is None or (match["relation"] == "=" and not fail_under):
        meant = next((key for key in metrics if text.startswith(key)), metrics[0])
        raise SpecError(
            f"the gate `{text}`",
            expected=f"METRIC>=VALUE or METRIC<=VALUE, or METRIC[NAMES]>=VALUE, with a metric of "
            f"{', '.join(metrics)}",
            fix=f"write for example '{meant}>=0.9'",
        )
    metric = parse_metric(match["metric"], measured_in)
    try:
        bound = float(match["bound"])
    except ValueError:
        bound = math.nan
    if match["relation"] == "=" and metric.more_similar == "lower":
        bound = math.nan
    if metric.measured_in != measured_in or not metric.low <= bound <= metric.high:
        of_audits = measured_in == "audits"
        example = "hard_scope[typo,student]>=0.9" if of_audits else "agreement>=0.9"
        raise SpecError(
            f"the gate `{text}`",
            expected=f"a metric of {', '.join(metrics)}, and a value from {metric.low:g} to "
            f"{metric.high:g}",
            fix=f"write for example '{example}'",
        )
    return Gate(
        text=text,
        metric=str(metric) if "(" in match["metric"] else metric.key,
        only=tuple(filter(None, map(str.strip, (match["only"] or "").split(",")))),
        at_least=match["relation"] != "<=",
        bound=bound,
    )


def require_names(
    only: Collection[str],
    gate: str,
    known: Collection[str],
    *,
    expected: str = "a capability or a target of this audit",
    fix: str = "check the name, or name the capability with --capability",
) -> None:
    """Check that the names in a gate's brackets will be measured, before any model is asked.

    ``known`` are the names that are measured; ``expected`` is their kind, for the message.

    Raises
    ------
    SpecError
        When a name is unknown.
    """
    for name in only:
        if name not in known:
            raise SpecError(
                f"`{name}` in the brackets of the gate `{gate}`",
                expected=f"{expected}: {', '.join(known)}",
                fix=fix,
            )


def failed_gates(
    comparison: MeasuredResult, gates: Sequence[str], *, judged_on: JudgedOn = "interval"
) -> tuple[str, ...]:
    """Why gates fail, as in ``scope audit --gate`` and ``scope compare --gate``.

    Parameters
    ----------
    comparison
        The result of an audit or of a comparison.
    gates
        Such as ``hard_scope[typo,student]>=0.9``; see `parse_gate`.
    judged_on
        The worse end of the ``interval``, or the ``value`` alone.

    Returns
    -------
    A line for each number that does not meet a gate; empty if all are met.

    Raises
    ------
    SpecError
        When a gate cannot be parsed, or names what the result does not have.
    """
    parsed = [parse_gate(text, comparison.measured_in) for text in gates]
    return tuple(failures(comparison, parsed, judged_on))


def failures(
    comparison: MeasuredResult, gates: Sequence[Gate], judged_on: JudgedOn = "interval"
) -> Iterator[str]:
    """Why gates fail, one line each; nothing if all are met.

    A lower bound must be below the whole interval and an upper bound above it, unless values are
    judged. Undefined numbers, those of degenerate models, and what failed do not pass. The
    reference and the baseline are judged where a gate names them. Of several references each is
    judged; of two models that a gate of an audit names, the second is the reference.
    """
    no_targets = {card.name for card in comparison.manifest.models if card.role in NOT_JUDGED}
    names = _names(comparison)
    for gate in gates:
        require_names(
            gate.only,
            gate.text,
            names,
            expected="a name of this result",
            fix="check the name, or judge a run that has it",
        )
        unnamed = no_targets - set(gate.only)
        judged = [
            row
            for row in comparison.judged
            if _concerns(gate, row, directed=comparison.measured_in == "audits")
            and row.target not in unnamed
            # The base rate of a reference on its own pairs is no target's.
            and row.target != row.against
        ]
        if not judged or any(row.capability for row in judged):
            yield from _unmeasured(comparison, gate)
        if not judged:
            measured = ", ".join(dict.fromkeys(row.metric for row in comparison.judged))
            lacks = "all the names in the brackets" if gate.only else "this metric"
            yield (
                f"{gate.text}: no measurement has {lacks}; there is {measured or 'no metric'}, of "
                f"{', '.join(names) or 'nothing'}"
            )
        for row in judged:
            if reason := comparison.degenerate(row) or comparison.untested(row):
                yield f"{_named(row)}: {reason}"
            elif failure := _failure(gate, row, judged_on):
                yield failure


def _names(comparison: MeasuredResult) -> list[str]:
    """The capabilities or tasks of a result, and its models."""
    manifest, rows = comparison.manifest, comparison.judged
    named = [card.name for card in manifest.capabilities]
    named += [card.name for card in manifest.models]
    measured = (name for row in rows for name in (row.capability, row.target, row.against))
    gold = [GOLD] if comparison.measured_in == "tasks" else []
    return list(dict.fromkeys((*named, *filter(None, measured), *gold)))


_WITHOUT_NUMBER = {"failed": "failed", "not applicable": "is not applicable to any text"}
"""The outcomes of which there is nothing to judge, in words."""


def _unmeasured(comparison: MeasuredResult, gate: Gate) -> Iterator[str]:
    """A line for each capability or task that has no number which could be judged."""
    for audit in getattr(comparison, "audits", ()) or (comparison,):
        named = {outcome.capability for outcome in audit.outcomes} & set(gate.only)
        for outcome in audit.outcomes:
            what = _WITHOUT_NUMBER.get(outcome.status)
            if what and (not named or outcome.capability in named):
                yield f"{gate.text}: {outcome.capability} {what} and has no number"


def _concerns(gate: Gate, row: Measurement, *, directed: bool) -> bool:
    """Whether a gate judges a measurement.

    If the metric is ``directed``, the first model that the gate names is the target and the next
    its reference.
    """
    models = [name for name in gate.only if name in (row.target, row.against)]
    return (
        row.subset is None
        and gate.metric in (row.metric, row.metric.partition("(")[0])
        and {row.capability, row.target, row.against}.issuperset(gate.only)
        and (not directed or not models or models[0] == row.target)
    )


def _named(row: Measurement) -> str:
    from scope.metrics.catalog import parse_metric

    directed = parse_metric(row.metric).measured_in == "audits"
    with_model = f" against {row.against}" if directed else f" ~ {row.against}"
    against = {None: "", GOLD: " against gold"}.get(row.against, with_model)
    where = f" on {row.capability}" if row.capability else ""
    return f"{row.metric} of {row.target}{against}{where}"


def _failure(gate: Gate, row: Measurement, judged_on: JudgedOn) -> str | None:
    """Why this number does not meet the gate."""
    what, estimate = _named(row), row.estimate
    side = "at least" if gate.at_least else "at most"
    if not isinstance(estimate, Estimate):
        return f"{what} is {estimate}, not {side} {gate.bound:g}"
    end, worst = ("lower", estimate.low) if gate.at_least else ("upper", estimate.high)
    sign = 1 if gate.at_least else -1
    if sign * (worst if judged_on == "interval" else estimate.value) >= sign * gate.bound:
        return None
    failure = f"{what} is {estimate}, n={estimate.n}, not {side} {gate.bound:g}"
    near = sign * estimate.value >= sign * gate.bound
    return f"{failure} by its {end} bound" if near else failure


def below_base_rate(comparison: MeasuredResult, gates: Sequence[Gate]) -> Iterator[str]:
    """A line for each gate on Hard-SCoPE that a target's own base rate would meet."""
    no_targets = {card.name for card in comparison.manifest.models if card.role in NOT_JUDGED}
    rates = {
        (row.capability, row.target): row.estimate.value
        for row in comparison.judged
        if row.metric == "base_rate" and isinstance(row.estimate, Estimate)
        if row.target not in no_targets
    }
    for gate in gates:
        if gate.metric != "hard_scope" or not gate.at_least:
            continue
        for (capability, target), rate in rates.items():
            if rate >= gate.bound and {capability, target}.issuperset(gate.only):
                yield (
                    f"{gate.text} is weak: {target} keeps its answer under {rate:.3f} of all "
                    f"random changes on {capability}, whatever the reference does"
                )


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
