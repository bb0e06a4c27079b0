"""What a number is held against: the same of another target, or of an earlier run."""

from __future__ import annotations

from pathlib import Path

from scope.records import Comparison, Estimate, Measurement, Undefined
from scope.statistics import paired_difference
from scope.store import RunFolder


def difference_from(
    comparison: Comparison, name: str, one: Measurement
) -> Estimate | Undefined | str:
    """A number minus the other's, paired by example, or in words why there is no other.

    Parameters
    ----------
    comparison
        The result that the number is of.
    name
        Another target of it, or the folder of an earlier run with the same reference, data and
        settings.
    one
        The number.
    """
    other = _of_other(comparison, name, one)
    if isinstance(other, str):
        return other
    mine, others = _means(one), _means(other)
    both = sorted(mine.keys() & others.keys())
    return paired_difference(
        [mine[example] for example in both],
        [others[example] for example in both],
        both,
        empty="no example is in both",
    )


def _of_other(comparison: Comparison, name: str, one: Measurement) -> Measurement | str:
    """The same number of another target or of an earlier run, or why there is none."""
    if one.metric.startswith("iid_accuracy_gap"):
        return "a gap is no mean over examples, and cannot be paired with another"
    other = comparison
    named = name
    if name not in {candidate.target for candidate in comparison.measurements}:
        earlier = RunFolder(Path(name)).read_comparison()
        if earlier is None:
            return f"no target and no finished run `{name}`"
        if _asked(earlier) != _asked(comparison):
            return f"the run `{name}` has another reference, other data or other settings"
        if earlier.measurements == comparison.measurements:
            return f"the run `{name}` is this very one"
        other, named = earlier, one.target
    found = [
        candidate
        for candidate in other.measurements
        if (candidate.metric, candidate.capability, candidate.subset, candidate.against)
        == (one.metric, one.capability, None, one.against)
    ]
    same = [candidate for candidate in found if candidate.target == named]
    if other is not comparison and not same and len({one.target for one in found}) == 1:
        same = found
    if not same:
        return f"`{name}` has no such number"
    return _why_dead(other, same[0].target) or same[0]


def _why_dead(comparison: Comparison, target: str) -> str | None:
    """Why nothing can be held against this target: its answers carry no evidence."""
    reasons = {one.model: one.degenerate for one in comparison.answer_shares}
    reason = reasons.get(target)
    return None if reason is None else f"{target} is degenerate: {reason}"


def _asked(comparison: Comparison) -> tuple[object, ...]:
    """What must be the same for two runs to be held against each other."""
    manifest = comparison.manifest
    references = [card.fingerprint for card in manifest.models if card.role == "reference"]
    data = [card.fingerprint for card in manifest.data]
    return manifest.job, references, data, manifest.capabilities, dict(manifest.settings)


def _means(one: Measurement) -> dict[str, float]:
    """The mean over each example's pairs."""
    values: dict[str, list[float]] = {}
    for example, value in zip(one.example_ids, one.values, strict=True):
        values.setdefault(example, []).append(value)
    return {example: sum(every) / len(every) for example, every in values.items()}
