"""Gates: conditions on the results, judged by the conservative end of their intervals."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from scope.decision.other_target import difference_from
from scope.errors import SpecError
from scope.metrics import known_metrics, parse_metric
from scope.records import GOLD, Estimate, MeasuredResult, Measurement, Undefined

JudgedOn = Literal["interval", "value"]
"""Whether the worse end of the interval decides, or the value alone."""

EXAMPLE = "hard_scope[typo,student]>=0.9"

NOT_JUDGED = ("reference", "baseline", "floor")
"""The parts of models that are no targets."""

_UNPAIRED = "iid_accuracy_gap"

_GATE = re.compile(
    r"\s*(?P<metric>\w+\s*(?:\([^()]*\))?)\s*(?:\[(?P<only>[^\[\]]*)\])?"
    r"\s*(?P<relation>>=|<=|=)\s*(?P<bound>.+?)\s*"
)
_RELATIVE = re.compile(
    r"(?P<other>.+?)\s*(?P<sign>[-+])\s*(?P<margin>(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)"
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
        A value of the metric; with ``other``, a difference.
    other
        Another target, whose value is subtracted, paired by example.
    after
        The text after the sign, as written.
    """

    text: str
    metric: str
    only: tuple[str, ...] = ()
    at_least: bool = True
    bound: float
    other: str | None = None
    after: str = ""


def parse_gate(
    text: str, measured_in: Literal["audits", "tasks"] = "audits", *, fail_under: bool = False
) -> Gate:
    """Read ``METRIC[CAPABILITY,TARGET]>=VALUE`` or, of an audit, ``...>=OTHER-MARGIN``.

    The brackets and either name in them are optional. ``<=`` sets an upper bound, with
    ``OTHER+MARGIN``.
    ``METRIC=VALUE`` is read as ``>=`` if ``fail_under`` is true, except for a metric for which
    lower is better.

    Raises
    ------
    SpecError
        When it cannot be parsed, the metric is unknown, or none of its values can meet the bound.

    Examples
    --------
    >>> gate = parse_gate("hard_scope[typo,student]>=0.9")
    >>> gate.only, gate.at_least, gate.bound
    (('typo', 'student'), True, 0.9)
    >>> gate = parse_gate("hard_scope>=other-0.02")
    >>> gate.other, gate.bound
    ('other', -0.02)
    """
    match = _GATE.fullmatch(text)
    if match is None or (match["relation"] == "=" and not fail_under):
        known = known_metrics(measured_in)
        meant = next((one for one in known if text.startswith(one)), known[0])
        raise SpecError(
            f"the gate `{text}`",
            expected=f"METRIC>=VALUE or METRIC<=VALUE, or METRIC[NAMES]>=VALUE, with a metric of "
            f"{', '.join(known)}",
            fix=f"write for example '{meant}>=0.9'",
        )
    metric = parse_metric(match["metric"], measured_in)
    at_least = match["relation"] != "<="
    bound, other = _bound(match["bound"], at_least)
    if match["relation"] == "=" and metric.more_similar == "lower":
        bound = None
    if other is not None:
        _require_paired(metric.key, text)
        margin = metric.high - metric.low
        low, high = (0.0, 0.0) if measured_in == "tasks" else (-margin / 2, margin / 2)
    else:
        low, high = metric.low, metric.high
    if bound is None or metric.measured_in != measured_in or not low <= bound <= high:
        known = known_metrics(measured_in)
        raise SpecError(
            f"the gate `{text}`",
            expected=f"a metric of {', '.join(known)}, and a value from {metric.low:g} to "
            f"{metric.high:g}"
            + (
                " or, with >=, OTHER-MARGIN; with <=, OTHER+MARGIN, of at most half of that range"
                if measured_in == "audits"
                else ""
            ),
            fix=f"write for example '{EXAMPLE if measured_in == 'audits' else 'agreement>=0.9'}'",
        )
    return Gate(
        text=text,
        metric=str(metric) if "(" in match["metric"] else metric.key,
        only=tuple(filter(None, map(str.strip, (match["only"] or "").split(",")))),
        at_least=at_least,
        bound=bound,
        other=other,
        after=match["bound"],
    )


def _bound(text: str, at_least: bool) -> tuple[float | None, str | None]:
    """A number, or the name of another target with the margin by which a value may be worse."""
    try:
        number = float(text)
    except ValueError:
        match = _RELATIVE.fullmatch(text)
        if match is None or (match["sign"] == "-") != at_least:
            return None, None
        margin = float(match["margin"])
        return (-margin if at_least else margin), match["other"]
    return (number if math.isfinite(number) else None), None


def require_names(
    only: Collection[str],
    gate: str,
    known: Collection[str],
    *,
    expected: str = "a capability or a target of this audit",
    fix: str = "check the name, or name the capability with --capability",
) -> None:
    """Check that the names in a gate's brackets will be measured, before any model is asked.

    Parameters
    ----------
    only
        The names in the brackets.
    gate
        The gate as written, for the message.
    known
        The names that are measured, such as the capabilities and the targets.
    expected, fix
        The kind of the names, and how to add one, for the message.

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


def require_other(gate: Gate, targets: Collection[str]) -> None:
    """Check that the target which a gate compares with is one, before any model is asked.

    Raises
    ------
    SpecError
        When it is none of the targets' names.
    """
    if gate.other is not None and gate.other not in targets and gate.after not in targets:
        raise SpecError(
            f"`{gate.other}` in the gate `{gate.text}` is no target",
            expected=f"one of the targets, {', '.join(targets)}",
            fix="check the name, or add the model with --target",
        )


def _require_paired(metric: str, gate: str) -> None:
    if metric == _UNPAIRED:
        raise SpecError(
            f"the gate `{gate}`: a gap is not a mean over examples, so it cannot be paired with "
            "another",
            expected=f"a number as the bound of {_UNPAIRED}",
            fix=f"write for example '{_UNPAIRED}<=0.05', or compare another metric",
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
    read = [parse_gate(text, comparison.measured_in) for text in gates]
    return tuple(failures(comparison, read, judged_on))


def failures(
    comparison: MeasuredResult, gates: Sequence[Gate], judged_on: JudgedOn = "interval"
) -> Iterator[str]:
    """Why gates fail, one line each; nothing if all are met.

    A lower bound must be below the whole interval and an upper bound above it, unless values are
    judged. Undefined numbers, those of degenerate models, and what failed do not pass. The
    reference and the baseline are judged where a gate names them. Of several references each is
    judged; of two models that a gate of an audit names, the second is the reference.
    """
    no_targets = {one.name for one in comparison.manifest.models if one.role in NOT_JUDGED}
    names = _names(comparison)
    for gate in gates:
        require_names(
            gate.only,
            gate.text,
            names,
            expected="a name of this result",
            fix="check the name, or judge a run that has it",
        )
        require_other(gate, names)
        unnamed = no_targets - set(gate.only)
        concerned = [
            one
            for one in comparison.measurements
            if _concerns(gate, one)
            and one.target not in unnamed
            # The base rate of a reference on its own pairs is no target's.
            and one.target != one.against
            and (comparison.measured_in != "audits" or _in_direction(gate, one))
        ]
        baseline = {gate.other} - {None}
        judged = [one for one in concerned if not baseline & {one.target, one.against}]
        if not concerned or any(one.capability for one in concerned):
            yield from _unmeasured(comparison, gate)
        if not concerned:
            yield _nothing_to_judge(comparison, gate)
        elif not judged:
            yield f"{gate.text}: `{gate.other}` is the only target to judge"
        elif gate.after in {one.target for one in comparison.measurements}:
            yield f"{gate.text}: the target `{gate.after}` has no margin after it"
        else:
            for one in judged:
                if reason := comparison.degenerate(one) or comparison.untested(one):
                    yield f"{_named(one)}: {reason}"
                elif failure := _failure(comparison, gate, one, judged_on):
                    yield failure


def _names(comparison: MeasuredResult) -> list[str]:
    """The capabilities or tasks of a result, and its models."""
    manifest, rows = comparison.manifest, comparison.measurements
    named = [one.name for one in manifest.capabilities]
    named += [one.name for one in manifest.models]
    measured = (name for one in rows for name in (one.capability, one.target, one.against))
    gold = [GOLD] if comparison.measured_in == "tasks" else []
    return list(dict.fromkeys((*named, *filter(None, measured), *gold)))


def _unmeasured(comparison: MeasuredResult, gate: Gate) -> Iterator[str]:
    """A line for each capability or task that has no number which could be judged."""
    for one in getattr(comparison, "audits", ()) or (comparison,):
        named = {outcome.capability for outcome in one.outcomes} & set(gate.only)
        missing = {
            outcome.capability: _WITHOUT_NUMBER[outcome.status]
            for outcome in one.outcomes
            if outcome.status in _WITHOUT_NUMBER
        }
        for capability, what in missing.items():
            if capability in (named or missing):
                yield f"{gate.text}: {capability} {what} and has no number"


_WITHOUT_NUMBER = {"failed": "failed", "not applicable": "is not applicable to any text"}
"""The outcomes of which there is nothing to judge, in words."""


def _concerns(gate: Gate, one: Measurement) -> bool:
    names = {one.capability, one.target, one.against}
    return (
        one.subset is None
        and gate.metric in (one.metric, one.metric.partition("(")[0])
        and names.issuperset(gate.only)
    )


def _in_direction(gate: Gate, one: Measurement) -> bool:
    """Whether the first model that the gate names is the target: the next is its reference."""
    named = [name for name in gate.only if name in (one.target, one.against)]
    return not named or named[0] == one.target


def _nothing_to_judge(comparison: MeasuredResult, gate: Gate) -> str:
    measured = ", ".join(dict.fromkeys(one.metric for one in comparison.measurements))
    lacks = "all the names in the brackets" if gate.only else "this metric"
    return (
        f"{gate.text}: no measurement has {lacks}; there is "
        f"{measured or 'no metric'}, of {', '.join(_names(comparison)) or 'nothing'}"
    )


def _failure(
    comparison: MeasuredResult, gate: Gate, one: Measurement, judged_on: JudgedOn
) -> str | None:
    """Why this number does not meet the gate."""
    if gate.other is None:
        return _beyond(gate, _named(one), one.estimate, judged_on)
    difference = difference_from(comparison, gate.other, one)
    if isinstance(difference, str):
        return f"{_named(one)}: {difference}"
    what = f"{_named(one)} minus that of {gate.other}"
    return _beyond(gate, what, difference, judged_on)


def _named(one: Measurement) -> str:
    directed = parse_metric(one.metric).measured_in == "audits"
    with_model = f" against {one.against}" if directed else f" ~ {one.against}"
    against = {None: "", GOLD: " against gold"}.get(one.against, with_model)
    where = f" on {one.capability}" if one.capability else ""
    return f"{one.metric} of {one.target}{against}{where}"


def _beyond(
    gate: Gate, what: str, estimate: Estimate | Undefined, judged_on: JudgedOn
) -> str | None:
    """Why an estimate does not meet the bound."""
    side = "at least" if gate.at_least else "at most"
    if not isinstance(estimate, Estimate):
        return f"{what} is {estimate}, not {side} {gate.bound:g}"
    end, sure = ("lower", estimate.low) if gate.at_least else ("upper", estimate.high)
    sign = 1 if gate.at_least else -1
    if sign * (sure if judged_on == "interval" else estimate.value) >= sign * gate.bound:
        return None
    failure = f"{what} is {estimate}, n={estimate.n}, not {side} {gate.bound:g}"
    near = sign * estimate.value >= sign * gate.bound
    return f"{failure} by its {end} bound" if near else failure


def below_base_rate(comparison: MeasuredResult, gates: Sequence[Gate]) -> Iterator[str]:
    """A line for each gate on Hard-SCoPE that a target's own base rate would meet."""
    no_targets = {one.name for one in comparison.manifest.models if one.role in NOT_JUDGED}
    rates = {
        (one.capability, one.target): one.estimate.value
        for one in comparison.measurements
        if one.metric == "base_rate" and isinstance(one.estimate, Estimate)
        if one.target not in no_targets
    }
    for gate in gates:
        if gate.metric != "hard_scope" or not gate.at_least or gate.other is not None:
            continue
        for (capability, target), rate in rates.items():
            if rate >= gate.bound and {capability, target}.issuperset(gate.only):
                yield (
                    f"{gate.text} is weak: {target} keeps {rate:.3f} of random changes on "
                    f"{capability}, whatever the reference does"
                )
