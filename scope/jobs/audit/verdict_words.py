"""A verdict in words: its reason, and how many texts would decide."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from statistics import fmean
from types import MappingProxyType
from typing import NamedTuple

from reports.wording import in_percent, points
from scope.jobs.audit.assessed import not_assessed
from scope.printing import counted
from scope.records import (
    AuditResult,
    Endpoint,
    Estimate,
    Manifest,
    Replacement,
    TextsNeeded,
    Undefined,
)
from scope.verdicts import texts_lacking

WORDS = {
    "agreement": "same answers",
    "keeps": "keeps its answer",
    "concordance": "same reaction",
    "reach": "strength of reaction",
}
"""What people read in place of a measure's key."""

_ORDER = ("agreement", "accuracy", "recovery", "recall", "keeps", "concordance", "reach")
"""What a person cares about first."""

_IN_ALL = 4
"""In how much a target may replace the reference where all is judged."""

_HARDLY, _SAME, _NEARLY = 0.2, 0.95, 0.99
"""Strength below which a target hardly reacts, share of pairs from which it reacts alike, and of
same answers from which accuracy need not be named."""

WITHOUT_BASELINE = (
    "Without a yardstick (--baseline), same answers and reactions are shown, not judged. In the "
    "demo an 8-bit copy gives the same answer on 99.8\u00a0% of tweets, the reference trained "
    "again on 96\u00a0%; typos shake them alike in 100 and in 90 of 100 pairs."
)

_PLURAL = ("typo", "synonym", "contraction", "inflection", "paraphrase")


class VerdictWords(NamedTuple):
    """A verdict in sentences without a full stop: the verdict, its reason, and further sentences.

    ``also`` names further limits that are exceeded, or texts in another case. ``more`` is the
    number of texts that would decide, and ``options`` are those of a run on as many; both are empty
    for a decided verdict.
    """

    opening: str
    why: str
    more: str = ""
    notes: tuple[str, ...] = ()
    options: str = ""
    also: str = ""

    def __str__(self) -> str:
        more = ": ".join(filter(None, (self.more, self.options)))
        parts = (f"{self.opening}: {self.why}", more, self.also, *self.notes)
        return ". ".join(filter(None, parts)) + "."


def opening(verdict: Replacement, reference: str) -> str:
    """The first words of a verdict's sentence: the verdict itself."""
    early = "" if verdict.decision != "not shown" else "It is too early to say that "
    may = "may not" if verdict.decision == "may not" else "may"
    some = verdict.may_replace_in if len(verdict.may_replace_in) < _IN_ALL else ()
    return f"{early}{verdict.target} {may} replace {reference}" + (
        f" in {listed(some)}" if some else ""
    )


def in_words(verdict: Replacement, result: AuditResult) -> VerdictWords:
    """The verdict for a reader who reads nothing else."""
    opens, why = opening(verdict, result.manifest.reference.name), verdict.reason or ""
    also = more = options = ""
    if not why and verdict.decision == "may replace":
        why = _as_good(verdict, result)
    elif not why and verdict.decision == "may not":
        why, also = _outside(verdict, result)
    elif not why:
        why = _open(verdict)
        more, options, also = _more_texts(verdict, result.manifest)
    return VerdictWords(opens, why, more, tuple(_notes(verdict, result)), options, also)


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
            yield f"Same reaction on {capability} is not assessed: {reason}"
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


def _outside(verdict: Replacement, result: AuditResult) -> tuple[str, str]:
    """The first limit that is exceeded with the first one of reactions, and the other names."""
    ends = whole(carrying(verdict))
    moves = [end for end in ends[1:] if end.measure in ("reach", "concordance")]
    still = [end for end in moves if _strength(end) < _HARDLY]
    shown = [*ends[:1], *(still or moves or ends[1:])[:1]]
    others = [in_plain_words(end.name) for end in ends if end not in shown]
    also = f"Also outside: {listed(others)}" if others else ""
    first, *more = (finding(end, verdict, result) for end in shown)
    return ", and ".join((first, *(words.removeprefix("it ") for words in more))), also


def _strength(endpoint: Endpoint) -> float:
    """The strength of reaction; 1 for another endpoint."""
    estimate = endpoint.estimate
    return estimate.value if endpoint.measure == "reach" and isinstance(estimate, Estimate) else 1.0


def _open(verdict: Replacement) -> str:
    """How many limits are reached, on all capabilities, and what is open."""
    judged = {_limit(end) for end in verdict.endpoints if end.limit is not None}
    ends = carrying(verdict)
    names = []
    for end in whole(ends):
        needed = texts_lacking(end)
        few = f"{end.estimate.n:,} of {needed:,} texts needed"
        alone = _ALONE if end.state == "fails alone" else ""
        remark = few if needed else alone
        names.append(in_plain_words(end.name) + (f" ({remark})" if remark else ""))
    reached = len(judged) - len(set(map(_limit, ends)))
    are = "is" if len(names) == 1 else "are"
    return f"{reached} of {counted(len(judged), 'limit')} reached; {listed(names)} {are} open"


def _limit(endpoint: Endpoint) -> str:
    return endpoint.name if endpoint.measure == "recall" else endpoint.measure


_ALONE = "outside by itself, not once corrected"


def _as_good(verdict: Replacement, result: AuditResult) -> str:
    """On how many texts the answers are the same, then accuracy, and what random changes do."""
    ends = {_limit(end): end for end in whole(verdict.endpoints)}
    judged = [name for name, end in ends.items() if end.limit is not None]
    same = measured(result, verdict.target, "iid_agreement")
    parts, nearly_same = [], False
    if isinstance(same, Estimate):
        parts.append(f"same answer on {round(same.value * same.n):,} of {same.n:,} texts")
        nearly_same = same.value >= _NEARLY
    if not nearly_same:
        scores = [name for name in judged if name.startswith(("accuracy", "recovery", "recall"))]
        found = (finding(ends[name], verdict, result, limit=False) for name in scores)
        parts += [words.replace("its ", "", 1).replace(" is ", " ", 1) for words in found]
    if "concordance" in judged:
        shares, card = reactions(ends["concordance"], verdict, result), result.manifest.baseline
        to = to_changes(ends["concordance"])
        close = f"as close as {card.name}'s" if card else "as required"
        alike = shares and shares[0] >= _SAME
        parts.append(f"same reaction to {to}" if alike else f"reaction to {to} {close}")
    elif "keeps" in judged:
        kept = finding(ends["keeps"], verdict, result, limit=False)
        parts.append(kept.removeprefix("it "))
    return ", ".join(parts)


def in_plain_words(name: str) -> str:
    """The name of an endpoint as people read it.

    >>> in_plain_words("concordance on typo"), in_plain_words("keeps on keyboard")
    ('same reaction to typos', 'keeps its answer under keyboard changes')
    """
    measure, on, capability = name.partition(" on ")
    to = {"concordance": " to ", "reach": " to ", "keeps": " under "}.get(measure)
    if on and to:
        on, capability = to, changes_of(capability)
    return f"{WORDS.get(measure, measure)}{on}{capability}"


def changes_of(capability: str) -> str:
    """What changes the texts of a capability; random changes without one."""
    if capability in _PLURAL:
        return f"{capability}s"
    return f"{capability} changes" if capability else "random changes"


def to_changes(endpoint: Endpoint) -> str:
    """What changes the texts of an endpoint.

    >>> to_changes(Endpoint(name="reach on typo", estimate=Undefined(reason="no text")))
    'typos'
    """
    return changes_of(endpoint.name.partition(" on ")[2])


def measured(
    result: AuditResult, model: str, metric: str, capability: str | None = None
) -> Estimate | Undefined | None:
    """A model's number on all texts of a capability, or on the unchanged texts."""
    key = (metric, model, capability, None)
    rows = ((row.metric, row.target, row.capability, row.subset) for row in result.measurements)
    place = next((place for place, row in enumerate(rows) if row == key), None)
    return None if place is None else result.measurements[place].estimate


def reactions(endpoint: Endpoint, verdict: Replacement, result: AuditResult) -> list[float]:
    """In which share of pairs the target, then the yardstick if any, reacts as the reference does.

    Over several capabilities it is the mean. Empty where it is judged on the texts of two runs.
    """
    ends = [end for end in verdict.endpoints if end.measure == "concordance"]
    names = [end.name.partition(" on ")[2] for end in ends]
    capability, card = endpoint.name.partition(" on ")[2], result.manifest.baseline
    shares = []
    for model in (verdict.target, *([card.name] if card else [])):
        each = (measured(result, model, "concordance", name) for name in names if name)
        if capability:
            each = iter([measured(result, model, "concordance", capability)])
        values = [estimate.value for estimate in each if isinstance(estimate, Estimate)]
        shares += [fmean(values)] if values and not result.combined_with else []
    return shares


def finding(
    endpoint: Endpoint, verdict: Replacement, result: AuditResult, *, limit: bool = True
) -> str:
    """An endpoint's number in plain words, with its limit."""
    estimate = endpoint.estimate
    if isinstance(estimate, Undefined):
        return f"{in_plain_words(endpoint.name)} is {estimate}"
    words, allowed = _FINDINGS[endpoint.measure](endpoint, estimate.value, verdict, result)
    if endpoint.limit is None or not limit:
        return words
    return f"{words} ({allowed})"


def _accuracy(end: Endpoint, value: float, _: Replacement, __: AuditResult) -> tuple[str, str]:
    lower = _by(value, "lower", "higher", "the same")
    return f"its {end.name} is {lower}", _at_most(end) + " lower" * (value >= 0)


def _recovery(end: Endpoint, value: float, _: Replacement, result: AuditResult) -> tuple[str, str]:
    words = f"it keeps {_share(value)} of {result.manifest.reference.name}'s accuracy"
    return words, f"at least {_share(end.limit or 0)}"


def _keeps(end: Endpoint, value: float, _: Replacement, result: AuditResult) -> tuple[str, str]:
    often = _by(value, "less often than", "more often than", "as often as")
    words = f"it keeps its answer under {to_changes(end)} {often}"
    return f"{words} {result.manifest.reference.name}", _at_most(end)


def _agreement(
    end: Endpoint, value: float, verdict: Replacement, result: AuditResult
) -> tuple[str, str]:
    card = result.manifest.baseline
    if card is None or (end.limit or 0) >= 0:
        most = f"at most {100 * (1 - (end.limit or 0)):.3g}\u00a0%"
        return f"it answers {_share(1 - value)} of texts otherwise", most
    shares = [measured(result, name, "iid_agreement") for name in (verdict.target, card.name)]
    values = [1 - share.value for share in shares if isinstance(share, Estimate)]
    if len(values) < len(shares) or result.combined_with:
        often = _by(value, "less often than", "more often than", "as often as")
        return f"it gives {result.manifest.reference.name}'s answer {often} {card.name}", _at_most(
            end
        )
    otherwise, usual = map(_share, values)
    return f"it answers {otherwise} of texts otherwise", f"{card.name}: {usual}"


def _concordance(
    end: Endpoint, value: float, verdict: Replacement, result: AuditResult
) -> tuple[str, str]:
    reference, card = result.manifest.reference.name, result.manifest.baseline
    words = f"it reacts to {to_changes(end)} as {reference} does"
    if card is None or (end.limit or 0) >= 0:
        least = f"at least {100 * (end.limit or 0):.3g}"
        return f"{words} in {100 * value:.0f} of 100 pairs", least
    shares = reactions(end, verdict, result)
    if len(shares) < 2:
        often = _by(value, "less often than", "more often than", "as often as")
        return f"{words} {often} {card.name}", _at_most(end)
    target, usual = (f"{100 * share:.0f}" for share in shares)
    return f"{words} in {target} of 100 pairs", f"{card.name}: {usual}"


def _reach(end: Endpoint, value: float, _: Replacement, result: AuditResult) -> tuple[str, str]:
    as_strongly = f"{_share(value)} as strongly as {result.manifest.reference.name}"
    hardly = value < _HARDLY
    words = f"it {'hardly ' * hardly}reacts to {to_changes(end)}{':' * hardly} {as_strongly}"
    least, most = (f"{100 * (limit or 0):.0f}\u00a0%" for limit in (end.limit, end.most))
    return words, f"at most {most}" if value > 1 else f"at least {least}"


_FINDINGS: Mapping[str, Callable[..., tuple[str, str]]] = MappingProxyType(
    {
        "accuracy": _accuracy,
        "recall": _accuracy,
        "recovery": _recovery,
        "agreement": _agreement,
        "keeps": _keeps,
        "concordance": _concordance,
        "reach": _reach,
    }
)


def _by(value: float, below: str, above: str, equal: str) -> str:
    by = points(value).lstrip("+−")
    return equal if by == "0.0" else f"{by} points {below if value < 0 else above}"


def _at_most(endpoint: Endpoint) -> str:
    return f"at most {-100 * (endpoint.limit or 0):.3g}"


def _share(value: float) -> str:
    return f"{in_percent(value)[0].removesuffix('.0')}\u00a0%"


def _more_texts(verdict: Replacement, manifest: Manifest) -> tuple[str, str, str]:
    """How many texts decide in 4 runs of 5, the options of a run on as many, and if as seen."""
    card, target = manifest.data[0], verdict.target
    standard = (manifest.baseline or manifest.reference).name
    seen = verdict.if_as_seen
    needed = verdict.if_equal or seen
    if needed is None:
        # Same answers as a share, and not in comparison with a baseline's.
        same = [end for end in carrying(verdict) if end.name == "agreement" and not card.labelled]
        if not same or not isinstance(same[0].estimate, Estimate) or (same[0].limit or 0) < 0:
            return "", "", ""
        differ = round((1 - same[0].estimate.value) * same[0].estimate.n)
        texts = "text that differs" if differ == 1 else "texts that differ"
        return f"Gold labels are needed on the {differ:,} {texts}" * bool(differ), "", ""
    case = f"is as close as {standard}" if verdict.if_equal else "differs as much as here"
    numbers = {"n": needed.changed, "n-unchanged": needed.unchanged}
    options = [f"--{name} {rounded_up(n)}" for name, n in numbers.items() if n is not None]
    rows, most = card.rows - card.duplicates - card.empty, max(filter(None, numbers.values()))
    have = f" (these data have {rows:,})" if rows < most else ""
    more = f"If {target} {case}, {_texts(needed)} new texts{have} show it in 4 runs of 5"
    other = ""
    if verdict.if_equal and verdict.if_equal != seen:
        takes = f"it takes {_texts(seen)} texts" if seen else "no number shows it"
        other = f"If it differs as much as here, {takes}"
    return more, " ".join(options), other


def _texts(needed: TextsNeeded) -> str:
    numbers = ((needed.unchanged, "unchanged"), (needed.changed, "changed"))
    return listed([f"{rounded_up(n):,} {kind}" for n, kind in numbers if n is not None])


def rounded_up(rows: int) -> int:
    """The next number of two digits and zeros.

    Examples
    --------
    >>> rounded_up(1147), rounded_up(98)
    (1200, 98)
    """
    digits: int = 10 ** max(0, len(str(rows)) - 2)
    return -(-rows // digits) * digits


def listed(parts: Sequence[str], last: str = " and ") -> str:
    """Several names in a sentence: commas, and ``last`` before the last one."""
    return last.join(filter(None, (", ".join(parts[:-1]), parts[-1])))
