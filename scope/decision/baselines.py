"""The baseline of a gate: the same number of another target, or of an earlier run.

An earlier run is comparable only if it has the same reference, by its fingerprint and its answers.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path

from scope.errors import SpecError
from scope.estimation import metric_width
from scope.evidence.sameness import DRIFT, difference_of_predictions
from scope.records import (
    AuditResult,
    Estimate,
    MeasuredResult,
    Measurement,
    Prediction,
    Result,
    Undefined,
)
from scope.statistics import paired_difference
from scope.store import RunFolder

NOT_JUDGED = ("reference", "baseline", "floor")
"""The parts of models that are no targets."""

UNPAIRED = "iid_accuracy_gap"
NO_PAIR = "a gap is not a mean over examples, so it cannot be paired with another"


def difference_from(
    comparison: MeasuredResult, name: str, one: Measurement, runs: Path = Path("runs")
) -> Estimate | Undefined | str:
    """A number minus its baseline, paired by example, or the reason why there is none.

    All pairs have equal weight and those of an example are one cluster, as in the differences of
    the report. An example with a different number of pairs in the baseline is left out.

    Parameters
    ----------
    comparison
        The result with the number.
    name
        Another target of it, or an earlier run with the same reference, data and settings: its
        folder, or its name under ``runs``.
    one
        The number.
    """
    other = _of_other(comparison, name, one, runs)
    if isinstance(other, str):
        return other
    mine, others = _by_example(one), _by_example(other)
    both = [example for example in mine if len(mine[example]) == len(others.get(example, ()))]
    return paired_difference(
        [value for example in both for value in mine[example]],
        [value for example in both for value in others[example]],
        [example for example in both for _ in mine[example]],
        width=metric_width(one.metric),
        empty="no example is in both",
    )


def earlier_run(name: str, runs: Path = Path("runs")) -> MeasuredResult | None:
    """The result of an earlier run, by its folder or its name under ``runs``.

    None if there is none, or the run has not finished.

    Raises
    ------
    RunError
        When its file is damaged or has another format.
    """
    for folder in _folders(name, runs):
        found = RunFolder(folder).read_result()
        if isinstance(found, MeasuredResult):
            return found
        if found is not None:
            raise SpecError(
                f"the run `{name}` of `scope {found.manifest.job}` in a gate",
                expected="a run of `scope audit` or `scope compare`, which have metrics",
                fix="name another run",
            )
    return None


def require_paired(metric: str, gate: str) -> None:
    """Check that a metric, by its key, can be compared with that of another target or run.

    Raises
    ------
    SpecError
        When it is not a mean over examples.
    """
    if metric == UNPAIRED:
        raise SpecError(
            f"the gate `{gate}`: {NO_PAIR}",
            expected=f"a number as the bound of {UNPAIRED}",
            fix=f"write for example '{UNPAIRED}<=0.05', or compare another metric",
        )


def require_names(
    only: Collection[str],
    gate: str,
    known: Collection[str],
    *,
    expected: str = "a capability or a target of this audit",
    fix: str = "check the name, or name the capability with --capability",
) -> None:
    """Check that the names in a gate's brackets will be measured, before any inference.

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


def _folders(name: str, runs: Path) -> tuple[Path, ...]:
    """The possible folders of a run of this name."""
    return tuple(dict.fromkeys((Path(name), runs / name)))


def require_other(
    name: str, gate: str, targets: Collection[str], runs: Path, own: Path | None = None
) -> None:
    """Check that the baseline of a gate exists, before any inference.

    Parameters
    ----------
    name
        The name in the gate.
    gate
        The gate as written, for the message.
    targets
        The names of the targets.
    runs
        The folder of runs.
    own
        The folder that the new result is written to, if it is known.

    Raises
    ------
    SpecError
        When it is neither a target nor a finished audit, or is the folder of the new result.
    RunError
        When the run is damaged.
    """
    if name in targets:
        return
    if own is not None and own.resolve() in {one.resolve() for one in _folders(name, runs)}:
        raise SpecError(
            f"`{name}` in the gate `{gate}` is the folder of this run",
            expected="an earlier run in a folder of its own",
            fix="choose another name for this run with --run",
        )
    earlier = earlier_run(name, runs)
    if earlier is None or earlier.manifest.job != "audit":
        what = "no target and no finished run" if earlier is None else "a run, but no audit"
        raise SpecError(
            f"`{name}` in the gate `{gate}` is {what}",
            expected=f"one of the targets, {', '.join(targets)}; or a finished audit, by its "
            f"folder or by its name under `{runs}`",
            fix="check the name; see `scope list runs`",
        )


def _of_other(
    comparison: MeasuredResult, name: str, one: Measurement, runs: Path
) -> Measurement | str:
    """The same number of another target or an earlier run, or the reason why there is none."""
    if one.metric == UNPAIRED:
        return NO_PAIR
    other = comparison
    named = name
    if name not in {candidate.target for candidate in comparison.measurements}:
        earlier = earlier_run(name, runs)
        if earlier is None:
            return f"no target and no finished run `{name}`"
        if unfit := why_not_comparable(earlier, comparison):
            return f"the run `{name}` {unfit}"
        other, named = earlier, one.target
    found = [
        candidate
        for candidate in other.measurements
        if (candidate.metric, candidate.capability, candidate.subset, candidate.against)
        == (one.metric, one.capability, None, one.against)
    ]
    same = [candidate for candidate in found if candidate.target == named]
    no_targets = {one.name for one in other.manifest.models if one.role in NOT_JUDGED}
    targets = {one.target for one in found} - no_targets
    if other is not comparison and not same and len(targets) == 1:
        same = [candidate for candidate in found if candidate.target in targets]
    if not same:
        return f"`{name}` has no such number; {_available(other, one)}"
    return other.degenerate(same[0]) or same[0]


def why_not_comparable(earlier: MeasuredResult, comparison: MeasuredResult) -> str:
    """Why an earlier run cannot be compared; empty if it can."""
    before, now = _configuration(earlier), _configuration(comparison)
    either = dict.fromkeys((*now, *before))
    if different := [part for part in either if before.get(part) != now.get(part)]:
        return f"differs in {', '.join(different)}"
    if changed := _why_other_reference(earlier, comparison):
        return changed
    # An unchanged model has the same results in another run: only the clock differs.
    is_this = (earlier.measurements, earlier.clock) == (comparison.measurements, comparison.clock)
    return "is this run itself" if is_this else ""


def _configuration(comparison: MeasuredResult) -> Mapping[str, object]:
    """What must be equal in two runs that are compared, by its name; each setting by itself."""
    manifest = comparison.manifest
    return {
        "its job": manifest.job,
        "the data": [card.fingerprint for card in manifest.data],
        "the capabilities or their settings": manifest.capabilities,
        **{f"the setting `{name}`": value for name, value in manifest.settings.items()},
    }


def _available(comparison: MeasuredResult, one: Measurement) -> str:
    """The targets for which a result has this number, or all its targets."""
    same = (one.metric, one.capability)
    having = [each for each in comparison.measurements if (each.metric, each.capability) == same]
    targets = ", ".join(dict.fromkeys(each.target for each in having or comparison.measurements))
    if not having:
        where = f" on {one.capability}" if one.capability else ""
        return f"{one.metric}{where} was not measured there; its targets are {targets}"
    return f"it has that of {targets}, not of `{one.target}`"


def _by_example(one: Measurement) -> dict[str, list[float]]:
    """The values of each example's pairs, in order."""
    values: dict[str, list[float]] = {}
    for example, value in zip(one.example_ids, one.values, strict=True):
        values.setdefault(example, []).append(value)
    return values


def _why_other_reference(earlier: Result, now: Result) -> str:
    """Why two audits have different references; empty if they do not, and for other jobs.

    The fingerprint of a `python:` model covers the code of its module, not what the module reads:
    its answers to the texts of both runs must be the same, with probabilities within `DRIFT`.
    """
    if not (isinstance(earlier, AuditResult) and isinstance(now, AuditResult)):
        return ""
    if _references(earlier) != _references(now):
        return "differs in the reference"
    before, after = _answers(earlier), _answers(now)
    differences = (
        difference_of_predictions(before[key], after[key]) for key in before if key in after
    )
    if max(differences, default=0.0) > DRIFT:
        return "has a reference that gives other answers to the same texts"
    return ""


def _references(result: AuditResult) -> set[str]:
    return {card.fingerprint for card in result.manifest.references}


def _answers(result: AuditResult) -> dict[tuple[str, str], Prediction]:
    """The answers of the references to original and changed texts, by fingerprint and text."""
    found = {}
    for audit in result.audits or (result,):
        reference = audit.manifest.reference.fingerprint
        for pair in audit.perturbations:
            if pair.perturbation.text is not None and pair.reference is not None:
                found[reference, pair.perturbation.text] = pair.reference
        found |= {(reference, one.example.text): one.reference for one in audit.examples}
    return found
