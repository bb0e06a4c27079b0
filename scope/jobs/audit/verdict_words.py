"""A verdict in words: its reason, and how many texts would decide."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from statistics import fmean
from typing import NamedTuple

from reports.wording import comma_list, in_percent, points, rounded_up
from scope.jobs.audit.assessed import not_assessed
from scope.printing import counted
from scope.records import (
    AuditResult,
    Endpoint,
    Estimate,
    Replacement,
    TextsNeeded,
    Undefined,
)
from scope.verdicts.endpoints import texts_lacking
from scope.verdicts.plan import MOST_TEXTS

WORDS = {
    "agreement": "same answers",
    "keeps": "keeps its answer",
    "concordance": "same reaction",
    "reach": "strength of reaction",
}
"""What people read in place of a measure's key."""

_ORDER = ("agreement", "accuracy", "recovery", "recall", "keeps", "concordance", "reach")
"""What a person cares about first."""

FAILS_ALONE = "beyond its limit before, not after, correction for several limits"

_IN_ALL = 4
"""In how much a target may replace the reference where all is judged."""

_SAME = 0.95
"""The share of pairs from which a target reacts alike."""

_PLURAL = ("typo", "synonym", "contraction", "inflection", "paraphrase")


class VerdictWords(NamedTuple):
    """A verdict in sentences without a full stop: the verdict, its reason, and further sentences.

    ``more`` is the number of texts that would decide, and ``options`` are those of a run on as
    many; both are empty for a decided verdict.
    """

    opening: str
    why: str
    more: str = ""
    notes: tuple[str, ...] = ()
    options: str = ""

    def __str__(self) -> str:
        more = ": ".join(filter(None, (self.more, self.options)))
        parts = (f"{self.opening}: {self.why}", more, *self.notes)
        return ". ".join(filter(None, parts)) + "."


def opening(verdict: Replacement, reference: str) -> str:
    """The first words of a verdict's sentence: the verdict itself."""
    early = "" if verdict.decision != "not shown" else "It is too early to say whether "
    may = "may not" if verdict.decision == "may not" else "may"
    some = verdict.may_replace_in if len(verdict.may_replace_in) < _IN_ALL else ()
    return f"{early}{verdict.target} {may} replace {reference}" + (
        f" in {comma_list(some)}" if some else ""
    )


def in_words(verdict: Replacement, result: AuditResult) -> VerdictWords:
    """The verdict for a reader who reads nothing else."""
    opens, why = opening(verdict, result.manifest.reference.name), verdict.reason or ""
    more = options = ""
    if not why and verdict.decision == "may replace":
        why = _as_good(verdict, result)
    elif not why and verdict.decision == "may not":
        first, *others = whole(carrying(verdict))
        why = "; ".join(finding(end, verdict, result) for end in (first, *others[-1:]))
    elif not why:
        why = _open(verdict, result)
        more, options = _more_texts(verdict, result)
    return VerdictWords(opens, why, more, tuple(_notes(verdict, result)), options)


def _notes(verdict: Replacement, result: AuditResult) -> Iterator[str]:
    """What is not judged, and why."""
    for name in verdict.not_judged:
        estimate = next(end.estimate for end in verdict.endpoints if end.name == name)
        if isinstance(estimate, Undefined):
            yield f"{in_plain_words(name).capitalize()} is not judged: {estimate.reason}"
    few = not_assessed(result, "base_rate")
    if "no capability is assessed" not in (verdict.reason or ""):
        for capability, reason in few.items():
            yield f"{capability} is not assessed: {reason}"
    judged = [end for end in verdict.endpoints if end.measure == "concordance" and end.limit]
    for capability, reason in not_assessed(result, "concordance").items() if judged else ():
        if capability not in few:
            yield f"Same reaction to {_changes(capability)} is not assessed: {reason}"
    used, planned = result.manifest.data[0].used, result.planned_texts
    if used < planned:
        yield f"Decided at look {result.look}, on {used:,} of {planned:,} planned texts"
    for run in result.combined_with:
        yield (
            f"Judged on the texts of {run}, too; a model just beyond a limit gets a ✓ in about 3 "
            "of 100 such pairs of runs"
        )


def carrying(verdict: Replacement) -> list[Endpoint]:
    """The endpoints that carry the verdict, in the order of what a person cares about.

    For an open verdict they are the open ones, for *may replace* all that are judged.
    """
    names = {"may not": verdict.beyond, "not shown": verdict.open}.get(verdict.decision)
    ends = [end for end in verdict.endpoints if end.limit is not None]
    return _by_importance([end for end in ends if not names or end.name in names])


def _by_importance(endpoints: Sequence[Endpoint]) -> list[Endpoint]:
    return sorted(endpoints, key=lambda end: (_ORDER.index(end.measure), end.p_beyond))


def whole(endpoints: Sequence[Endpoint]) -> list[Endpoint]:
    """Without a capability beside the number over all capabilities, nor those shown alone."""
    names = {end.name for end in endpoints}
    ends = [end for end in endpoints if "changed texts" not in end.name]
    return [end for end in ends if end.name == end.measure or end.measure not in names]


def _open(verdict: Replacement, result: AuditResult) -> str:
    """How many limits are met, on all capabilities, and what is open."""
    judged = {limit_key(end) for end in verdict.endpoints if end.limit is not None}
    ends = carrying(verdict)
    names = []
    for end in whole(ends):
        needed = texts_lacking(end)
        few = f"{end.estimate.n:,} texts, at least {needed:,} are needed"
        remark = few if needed else FAILS_ALONE * (end.state == "fails alone")
        names.append(in_plain_words(end.name) + (f" ({remark})" if remark else ""))
    if names == [in_plain_words(ends[0].name)]:
        names = [finding(ends[0], verdict, result)]
    met = len(judged) - len(set(map(limit_key, ends)))
    return f"{met} of {counted(len(judged), 'limit')} met; open: {', '.join(names)}"


def limit_key(endpoint: Endpoint) -> str:
    """What is limited: the measure, or the class of a recall."""
    return endpoint.name if endpoint.measure == "recall" else endpoint.measure


def _as_good(verdict: Replacement, result: AuditResult) -> str:
    """On how many texts the answers are the same, and how the target reacts to random changes."""
    judged = {end.measure: end for end in whole(verdict.endpoints) if end.limit is not None}
    same = measured(result, verdict.target, "iid_agreement")
    parts = []
    if isinstance(same, Estimate):
        parts.append(f"same answer on {round(same.value * same.n):,} of {same.n:,} texts")
    if end := judged.get("concordance"):
        share = own_number(end, verdict, verdict.target, result) or 0.0
        changes, card = changes_of(end), result.manifest.baseline
        close = f" as close as {card.name}'s" if card else " as required"
        alike = share >= _SAME
        parts.append(f"{'same ' * alike}reaction to {changes}{close * (not alike)}")
    elif end := judged.get("keeps"):
        parts.append(finding(end, verdict, result))
    return ", ".join(parts)


def in_plain_words(name: str) -> str:
    """The name of an endpoint as people read it.

    >>> in_plain_words("concordance on typo"), in_plain_words("keeps on keyboard")
    ('same reaction to typos', 'keeps its answer under keyboard changes')
    """
    measure, on, capability = name.partition(" on ")
    to = {"concordance": " to ", "reach": " to ", "keeps": " under "}.get(measure)
    if capability and to:
        on, capability = to, _changes(capability)
    return f"{WORDS.get(measure, measure)}{on}{capability}"


def changes_of(endpoint: Endpoint) -> str:
    """What changes the texts of an endpoint.

    >>> changes_of(Endpoint(name="reach", estimate=Undefined(reason="no text")))
    'random changes'
    """
    return _changes(endpoint.name.partition(" on ")[2] or "random")


def _changes(capability: str) -> str:
    return f"{capability}s" if capability in _PLURAL else f"{capability} changes"


def measured(
    result: AuditResult, model: str, metric: str, capability: str | None = None
) -> Estimate | Undefined | None:
    """A model's number on all texts of a capability, or on the unchanged texts."""
    key = (metric, model, capability, None)
    rows = (
        row.estimate
        for row in result.measurements
        if (row.metric, row.target, row.capability, row.subset) == key
    )
    return next(rows, None)


_METRICS = {
    "accuracy": "iid_accuracy_gap",
    "agreement": "iid_agreement",
    "keeps": "base_rate",
    "concordance": "concordance",
    "reach": "reach",
}


def own_number(
    endpoint: Endpoint, verdict: Replacement, model: str, result: AuditResult
) -> float | None:
    """A model's own number, where an endpoint is a difference of two: the mean over capabilities.

    Of accuracy it is the difference from the reference's. None where it is not measured.
    """
    ends = verdict.endpoints if endpoint.name == endpoint.measure else [endpoint]
    parts = {
        end.name.partition(" on ")[2] or None for end in ends if end.measure == endpoint.measure
    }
    means = [
        fmean(row.values) if row.values else row.estimate.value
        for row in result.measurements
        if (row.metric, row.target) == (_METRICS.get(endpoint.measure), model)
        and row.subset is None
        and row.capability in parts
        and isinstance(row.estimate, Estimate)
    ]
    return fmean(means) if means else None


_FINDINGS = {
    "accuracy": "{name} {lower}",
    "recall": "{name} {lower}",
    "recovery": "{share} of {reference}'s accuracy",
    "agreement": "other answer on {otherwise} of texts",
    "keeps": "keeps its answer under {changes} {less}",
    "concordance": "same reaction in {pairs} of 100 pairs of {changes}",
    "reach": "{share} as strong a reaction{to}",
}


def finding(endpoint: Endpoint, verdict: Replacement, result: AuditResult) -> str:
    """An endpoint's number in plain words, with its limit, or with the yardstick's number."""
    estimate, measure, least = endpoint.estimate, endpoint.measure, endpoint.limit
    if isinstance(estimate, Undefined):
        return f"{in_plain_words(endpoint.name)} is {estimate}"
    value, card, allowed = estimate.value, result.manifest.baseline, ""
    if least is not None and least < 0:
        allowed = f"at most {-100 * least:.3g}{' lower' * (value >= 0)}"
    if allowed and card and measure in ("agreement", "concordance"):
        ours, usual = (
            own_number(endpoint, verdict, name, result) for name in (verdict.target, card.name)
        )
        if result.combined_with or ours is None or usual is None:
            lower = _by(value, "lower than", "higher than", "the same as")
            return f"{in_plain_words(endpoint.name)} {lower} {card.name}'s ({allowed})"
        value = ours
        allowed = f"{card.name} {_share(1 - usual) if measure == 'agreement' else _of_100(usual)}"
    words = _FINDINGS[measure].format(
        name=endpoint.name,
        reference=result.manifest.reference.name,
        changes=changes_of(endpoint),
        to=f" to {changes_of(endpoint)}" * (" on " in endpoint.name),
        lower=_by(value, "lower", "higher", "the same"),
        less=_by(value, "less often", "more often", "as often"),
        share=_share(value),
        otherwise=_share(1 - value),
        pairs=_of_100(value),
    )
    if not allowed and least is not None:
        limits = {
            "agreement": f"at most {_share(1 - least)}",
            "concordance": f"{_of_100(least)} needed",
        }
        allowed = limits.get(measure, f"{_share(least)} needed")
        if endpoint.most and value > 1:
            allowed = f"at most {_share(endpoint.most)}"
    return f"{words} ({allowed})" if allowed else words


def _of_100(share: float) -> str:
    return f"{100 * share:.3g}" if share > 0.99 else f"{100 * share:.0f}"


def _by(value: float, below: str, above: str, equal: str) -> str:
    by = points(value).lstrip("+−")
    return equal if by == "0.0" else f"{by} points {below if value < 0 else above}"


def _share(value: float) -> str:
    return f"{in_percent(value)[0].removesuffix('.0')}\u00a0%"


def _more_texts(verdict: Replacement, result: AuditResult) -> tuple[str, str]:
    """How many texts decide in 4 runs of 5, as seen, too, and the options of a run on as many."""
    manifest, target, seen = result.manifest, verdict.target, verdict.if_as_seen
    card, needed = manifest.data[0], verdict.if_equal or seen
    if needed is None:
        # Same answers as a share, and not in comparison with a baseline's.
        same = [end for end in carrying(verdict) if end.name == "agreement" and not card.labelled]
        if not same or not isinstance(same[0].estimate, Estimate) or (same[0].limit or 0) < 0:
            return "", ""
        differ = round((1 - same[0].estimate.value) * same[0].estimate.n)
        texts = "text that differs" if differ == 1 else "texts that differ"
        return f"Gold labels are needed on the {differ:,} {texts}" * bool(differ), ""
    numbers = {"n": needed.changed, "n-unchanged": needed.unchanged}
    options = [f"--{name} {rounded_up(n)}" for name, n in numbers.items() if n is not None]
    rows, most = card.rows - card.duplicates - card.empty, max(filter(None, numbers.values()))
    have = f" (these data have {rows:,}: add texts)" if rows < most else ""
    case, as_seen = f"{target} differs as much as here", ""
    if verdict.if_equal:
        reference, yardstick = manifest.reference.name, manifest.baseline
        close = f"close to {reference} as {yardstick.name}" if yardstick else f"good as {reference}"
        case = f"{target} is as {close}"
        if verdict.if_equal != seen:
            takes = (
                f"it takes {_texts(seen)} texts"
                if seen
                else f"not even {MOST_TEXTS:,} texts decide"
            )
            as_seen, case = f"If {target} differs as much as here, {takes}. ", f"it is as {close}"
    alone = result.earlier_looks or result.combined_with or manifest.settings.get("cluster")
    added = "" if alone else ", added to this one,"
    more = f"If {case}, a new run on {_texts(needed)} texts{have}{added} is enough in 4 runs of 5"
    return f"{as_seen}{more}", " ".join(options)


def _texts(needed: TextsNeeded) -> str:
    numbers = ((needed.unchanged, "unchanged"), (needed.changed, "changed"))
    return comma_list([f"{rounded_up(n):,} {kind}" for n, kind in numbers if n is not None])
