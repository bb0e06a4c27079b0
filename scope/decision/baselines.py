"""The baseline of a gate: the same number of another target, or of an earlier run.

An earlier run is comparable only if it has the same reference, which is checked by its fingerprint
or by its answers.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from scope.errors import SpecError
from scope.estimation import metric_width
from scope.evidence.sameness import CANARIES, DRIFT, difference_of_predictions
from scope.models.loading import split_spec
from scope.printing import counted
from scope.records import (
    AuditResult,
    Estimate,
    MeasuredResult,
    Measurement,
    ModelCard,
    Prediction,
    Result,
    Undefined,
)
from scope.statistics import paired_difference
from scope.store import RunFolder

NOT_JUDGED = ("reference", "ceiling")
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


def drifts_of_earlier_runs(
    comparison: MeasuredResult, names: Iterable[str], runs: Path = Path("runs")
) -> Iterator[str]:
    """The drift of the reference's answers from those of each earlier run that gates name.

    Parameters
    ----------
    comparison
        The new result.
    names
        Targets of it, which are skipped, or earlier runs.
    runs
        The folder of runs.
    """
    targets = {card.name for card in comparison.manifest.targets}
    for name in dict.fromkeys(names):
        earlier = None if name in targets else earlier_run(name, runs)
        if earlier is None or _why_not_comparable(earlier, comparison):
            continue
        if drift := recognise_reference(earlier, comparison).drift:
            yield f"the run `{name}` {drift}"


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
        if unfit := _why_not_comparable(earlier, comparison):
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


def _why_not_comparable(earlier: MeasuredResult, comparison: MeasuredResult) -> str:
    """Why an earlier run cannot be compared; empty if it can."""
    before, now = _configuration(earlier), _configuration(comparison)
    either = dict.fromkeys((*now, *before))
    if different := [part for part in either if before.get(part) != now.get(part)]:
        return f"differs in {', '.join(different)}"
    if different_reference := recognise_reference(earlier, comparison).different:
        return different_reference
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


class Recognised(NamedTuple):
    """Why the two references are different models; if they are the same, its drift.

    Both are empty if there is neither.
    """

    different: str = ""
    drift: str = ""


def recognise_reference(earlier: Result, now: Result) -> Recognised:
    """Compare the references of two audits; other jobs have none.

    The fingerprint of a `python:` model is the hash of its source file, which a comment changes.
    Such a model is identified by its spec, its labels and its answers to the texts of both runs,
    of which there must be at least eight if the source has changed. Equal choices, with
    probabilities within `DRIFT`, are those of the same model.
    """
    if not (isinstance(earlier, AuditResult) and isinstance(now, AuditResult)):
        return Recognised()
    if earlier.audits or now.audits:
        return _recognise_references(earlier, now)
    return _recognise_reference(earlier, now)


def _recognise_reference(earlier: AuditResult, now: AuditResult) -> Recognised:
    before, after = earlier.manifest.reference, now.manifest.reference
    changed = before.fingerprint != after.fingerprint
    if changed and not (_of_python(after) and _named_alike(before, after)):
        return Recognised(different="differs in the reference")
    differences = _differences(earlier, now)
    greatest = max(differences, default=0.0)
    if greatest > DRIFT:
        return Recognised(different="has a reference that gives other answers to the same texts")
    if changed and len(differences) < CANARIES:
        return Recognised(
            different=f"differs in the code of the reference, and has its answers to only "
            f"{counted(len(differences), 'text')} of this run: {CANARIES} are needed to identify "
            "the model"
        )
    if not changed and (greatest == 0 or not _of_python(after)):
        return Recognised()
    code = "different code" if changed else "the same code"
    by = f"with probabilities that differ by up to {greatest:.2g}" if greatest else "all alike"
    return Recognised(
        drift=f"has answers of the reference `{after.spec}` with {code}; it answers "
        f"{counted(len(differences), 'text')} of both runs with the same choices, {by} (at most "
        f"{DRIFT:g} is drift, not another model)"
    )


def _recognise_references(earlier: AuditResult, now: AuditResult) -> Recognised:
    """The same of several references, each by its name."""
    before = {one.manifest.reference.name: one for one in earlier.audits}
    after = {one.manifest.reference.name: one for one in now.audits}
    if before.keys() != after.keys():
        return Recognised(different="differs in the references")
    found = [_recognise_reference(before[name], after[name]) for name in after]
    different = next((one.different for one in found if one.different), "")
    drift = "; it ".join(one.drift for one in found if one.drift)
    return Recognised(different=different, drift="" if different else drift)


def _of_python(card: ModelCard) -> bool:
    return split_spec(card.spec)[0] == "python"


def _named_alike(before: ModelCard, after: ModelCard) -> bool:
    parts = ((one.spec, one.labels, dict(one.prompts), dict(one.words)) for one in (before, after))
    return len({repr(one) for one in parts}) == 1


def _differences(earlier: AuditResult, now: AuditResult) -> list[float]:
    """The difference of the reference's two answers to each text that both runs have."""
    known = _answers(earlier)
    return [
        difference_of_predictions(known[text], given)
        for text, given in _answers(now).items()
        if text in known
    ]


def _answers(comparison: AuditResult) -> dict[str, Prediction]:
    """The reference's answers to original and changed texts."""
    changed = {
        one.perturbation.text: one.reference
        for one in comparison.perturbations
        if one.perturbation.text is not None and one.reference is not None
    }
    return {**changed, **{one.example.text: one.reference for one in comparison.examples}}
