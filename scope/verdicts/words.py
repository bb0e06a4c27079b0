"""A verdict in words: its reason, and how many texts would decide."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from statistics import fmean
from types import MappingProxyType
from typing import NamedTuple

from reports.wording import as_sentence, comma_list, in_percent, percent, points, rounded_up
from scope.errors import counted
from scope.records import (
    AuditResult,
    Endpoint,
    Estimate,
    Manifest,
    Replacement,
    TextsNeeded,
    Undefined,
)
from scope.verdicts.decide import ENDPOINTS, texts_lacking
from scope.verdicts.plan import is_own_yardstick, not_assessed

OPTION = "; with --n "
"""What comes before a number of texts in the reason of a verdict."""

EARLY = "It is too early to say whether "

FAILS_ALONE = "beyond its limit before, not after, correction for several limits"

_IN_ALL = 4
"""In how much a target may replace the reference where all is judged."""

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
    options: Mapping[str, int] = MappingProxyType({})

    def __str__(self) -> str:
        options = " ".join(f"--{name} {number}" for name, number in self.options.items())
        more = ": ".join(filter(None, (self.more, options)))
        parts = (f"{self.opening}: {self.why}", more, *self.notes)
        return ". ".join(filter(None, parts)) + "."


def deciding(verdict: Replacement) -> list[Endpoint]:
    """The endpoints on which a verdict rests: for *may replace* all that are judged and needed."""
    names = () if verdict.decision == "may replace" else verdict.beyond or verdict.open
    if names:
        return [end for end in verdict.endpoints if end.name in names]
    return [end for end in verdict.endpoints if end.limit is not None and end.needed]


def not_judged(verdict: Replacement) -> Iterator[str]:
    """The endpoints that are not judged, and why."""
    for end in verdict.endpoints:
        if end.limit is None and isinstance(end.estimate, Undefined):
            yield f"{as_sentence(in_plain_words(end.name))} is not judged: {end.estimate.reason}"


def opening(verdict: Replacement, reference: str) -> str:
    """The first words of a verdict's sentence: the verdict itself."""
    early = EARLY * (verdict.decision == "not shown")
    may = "may not" if verdict.decision == "may not" else "may"
    return f"{early}{verdict.target} {may} replace {reference}{in_some(verdict)}"


def in_some(verdict: Replacement) -> str:
    """In what a target may replace the reference, unless it is all."""
    some = verdict.may_replace_in if len(verdict.may_replace_in) < _IN_ALL else ()
    return f" in {comma_list(some)}" if some else ""


def audit_words(verdict: Replacement, result: AuditResult) -> VerdictWords:
    """The verdict for a reader who reads nothing else."""
    opens, why = opening(verdict, result.manifest.reference.name), verdict.reason or ""
    more, options = "", dict[str, int]()
    if not why and verdict.decision == "may replace":
        same = measured(result, verdict.target, "iid_agreement")
        why = finding(carrying(verdict)[0], verdict, result)
        if isinstance(same, Estimate):
            why = f"same answer on {round(same.value * same.n):,} of {same.n:,} texts"
    elif not why and verdict.decision == "may not":
        why = finding(whole(carrying(verdict))[0], verdict, result)
    elif verdict.decision == "not shown":
        if not why or OPTION in why:
            more, options = _more_texts(verdict, result)
        why = "; ".join([why or _open(verdict, result), *_same_answers(verdict, result)])
    return VerdictWords(opens, why, more, tuple(_notes(verdict, result)), options)


def _same_answers(verdict: Replacement, result: AuditResult) -> Iterator[str]:
    """On how many texts a target of which this is not judged gives the reference's answer."""
    same = measured(result, verdict.target, "iid_agreement")
    judged = any(end.measure == "agreement" and end.limit is not None for end in verdict.endpoints)
    if isinstance(same, Estimate) and not judged:
        yield f"same answer on {round(same.value * same.n):,} of {same.n:,} texts, not judged"


def _notes(verdict: Replacement, result: AuditResult) -> Iterator[str]:
    """What is not judged, and why."""
    yield from not_judged(verdict)
    few = not_assessed(result, "keeps")
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
    order = [*ENDPOINTS]
    return sorted(deciding(verdict), key=lambda end: (order.index(end.measure), end.p_beyond))


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
        few = f" ({end.estimate.n:,} texts, at least {needed:,} are needed)" if needed else ""
        names.append(f"{in_plain_words(end.name)}{few}")
    if names == [in_plain_words(ends[0].name)]:
        names = [how_open(ends[0], verdict, result)]
    met = len(judged) - len(set(map(limit_key, ends)))
    return f"{met} of {counted(len(judged), 'limit')} met; open: {comma_list(names)}"


def how_open(endpoint: Endpoint, verdict: Replacement, result: AuditResult) -> str:
    """An open number, how far the data let it be, and what is allowed."""
    estimate, limit = endpoint.estimate, endpoint.limit
    if isinstance(estimate, Undefined) or limit is None:
        return finding(endpoint, verdict, result)
    low, high = (f"{100 * end:.0f}" for end in (estimate.low, estimate.high))
    words, possible = _share(estimate.value), f"{low} to {high}"
    allowed = f"at least {100 * limit:.3g} are needed"
    if limit < 0:
        whose, _ = yardstick(endpoint, result.manifest) or (
            f"{result.manifest.reference.name}'s",
            "",
        )
        words = f"{_by(estimate.value, 'below', 'above', 'the same as')} {whose}"
        most = f"{-100 * estimate.low:.1f}"
        possible = (
            f"{-100 * estimate.high:.1f} to {most}" if estimate.high < 0 else f"up to {most} below"
        )
        allowed = f"{-100 * limit:.3g} are allowed"
    alone = f" ({FAILS_ALONE})" * (endpoint.state == "fails alone")
    return f"{in_plain_words(endpoint.name)}: {words}; {possible} are possible, {allowed}{alone}"


def yardstick(endpoint: Endpoint, manifest: Manifest) -> tuple[str, str] | None:
    """Whose number a target's is compared with, and the name; None if with the reference's own.

    Without a baseline same answers are compared with those of the reference, asked twice.
    """
    if endpoint.measure not in ("agreement", "concordance") or (endpoint.limit or 0) >= 0:
        return None
    if manifest.baseline is not None:
        return f"{manifest.baseline.name}'s", manifest.baseline.name
    name = manifest.reference.name
    return f"{name}'s when asked twice", f"{name} asked twice"


def limit_key(endpoint: Endpoint) -> str:
    """What is limited: the measure, or the class of a recall."""
    return endpoint.name if endpoint.measure == "recall" else endpoint.measure


def in_plain_words(name: str) -> str:
    """The name of an endpoint as people read it.

    >>> in_plain_words("concordance on typo"), in_plain_words("keeps on keyboard")
    ('same reaction to typos', 'keeps its answer under keyboard changes')
    """
    measure, on, capability = name.partition(" on ")
    to = {"concordance": " to ", "reach": " to ", "keeps": " under "}.get(measure)
    if capability and to:
        on, capability = to, _changes(capability)
    words = ENDPOINTS[measure].words if measure in ENDPOINTS else measure
    return f"{words}{on}{capability}"


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


def own_number(
    endpoint: Endpoint, verdict: Replacement, model: str, result: AuditResult
) -> float | None:
    """A model's own number, where an endpoint is a difference of two: the mean over capabilities.

    Of accuracy it is the difference from the reference's. None where it is not measured.
    """
    metric = ENDPOINTS[endpoint.measure].metric
    if (endpoint.measure, model) == ("agreement", result.manifest.reference.name):
        metric = "self_agreement"
    ends = verdict.endpoints if endpoint.name == endpoint.measure else [endpoint]
    parts = {
        end.name.partition(" on ")[2] or None for end in ends if end.measure == endpoint.measure
    }
    means = [
        fmean(row.values) if row.values else row.estimate.value
        for row in result.measurements
        if (row.metric, row.target) == (metric, model)
        and row.subset is None
        and row.capability in parts
        and isinstance(row.estimate, Estimate)
    ]
    return fmean(means) if means else None


def finding(endpoint: Endpoint, verdict: Replacement, result: AuditResult) -> str:
    """An endpoint's number in plain words, with its limit, or with the yardstick's number."""
    estimate, usual_of = endpoint.estimate, yardstick(endpoint, result.manifest)
    if isinstance(estimate, Undefined):
        return f"{in_plain_words(endpoint.name)} is {estimate}"
    value, allowed = estimate.value, _allowed(endpoint, estimate.value)
    if usual_of:
        card = result.manifest.baseline or result.manifest.reference
        ours, usual = (
            own_number(endpoint, verdict, name, result) for name in (verdict.target, card.name)
        )
        if result.combined_with or ours is None or usual is None:
            lower = _by(value, "lower than", "higher than", "the same as")
            return f"{in_plain_words(endpoint.name)} {lower} {usual_of[0]} ({allowed})"
        of_yardstick = _share(1 - usual) if endpoint.measure == "agreement" else _of_100(usual)
        value, allowed = ours, f"{usual_of[1]}: {of_yardstick}"
    changes = _changes(endpoint.name.partition(" on ")[2] or "random")
    words = ENDPOINTS[endpoint.measure].finding.format(
        name=endpoint.name,
        reference=result.manifest.reference.name,
        changes=changes,
        to=f" to {changes}" * (" on " in endpoint.name),
        lower=_by(value, "lower", "higher", "the same"),
        less=_by(value, "less often", "more often", "as often"),
        share=_share(value),
        otherwise=_share(1 - value),
        pairs=_of_100(value),
    )
    return f"{words} ({allowed})" if allowed else words


def _allowed(endpoint: Endpoint, value: float) -> str:
    """The limit beside a number; nothing where it is not judged."""
    if endpoint.limit is None:
        return ""
    if endpoint.limit < 0:
        return f"at most {-100 * endpoint.limit:.3g}{' lower' * (value >= 0)}"
    if endpoint.measure == "agreement":
        return f"at most {_share(1 - endpoint.limit)}"
    most = endpoint.most if value > 1 else None
    return f"at most {_share(most)}" if most else f"{_share(endpoint.limit)} needed"


def _of_100(share: float) -> str:
    return f"{100 * share:.3g}" if share > 0.99 else f"{100 * share:.0f}"


def _by(value: float, below: str, above: str, equal: str) -> str:
    by = points(value).lstrip("+−")
    return equal if by == "0.0" else f"{by} points {below if value < 0 else above}"


def _share(value: float) -> str:
    return f"{in_percent(value)[0].removesuffix('.0')}\u00a0%"


def _more_texts(verdict: Replacement, result: AuditResult) -> tuple[str, dict[str, int]]:
    """How many texts decide in 4 runs of 5: as seen, and if equal; the options of such a run."""
    manifest, target, equal = result.manifest, verdict.target, verdict.if_equal
    card, plan, ends = manifest.data[0], verdict.if_as_seen or equal, carrying(verdict)
    if plan is None:
        # Same answers as a share, and not in comparison with a baseline's.
        same = [end for end in ends if end.name == "agreement" and not card.labelled]
        if not same or not isinstance(same[0].estimate, Estimate) or (same[0].limit or 0) < 0:
            return "", {}
        differ = round((1 - same[0].estimate.value) * same[0].estimate.n)
        more = f"Right answers are needed on the {counted(differ, 'text')} that differ"
        if result.score:
            more += ", or a yardstick (--baseline)"
        return more * bool(differ), {}
    numbers = {"n": plan.changed, "n-unchanged": plan.unchanged}
    options = {name: rounded_up(n) for name, n in numbers.items() if n is not None}
    alone = result.earlier_looks or result.combined_with or manifest.settings.get("cluster")
    further, yardstick = " further" * (not alone), manifest.baseline
    close = f"as good as {manifest.reference.name}"
    close = f"as close as {yardstick.name}" if yardstick else close
    if verdict.if_as_seen is None:
        many, options = _texts(plan, further), {}
        more = f"{_too_near(ends)}. Only if {target} is {close} are {many} enough"
    else:
        more = f"Plan {_texts(plan, further)}"
        if equal and equal != plan and not is_own_yardstick(manifest):
            seen, even = ((of.unchanged or 0) + (of.changed or 0) for of in (plan, equal))
            only = "only " * (even > seen)
            texts = _texts(equal).removesuffix(" texts")
            more += f"; if {target} is {only}{close}, {texts} are enough"
    rows = card.rows - card.duplicates - card.empty
    have = f". The data have {rows:,}: add others" * (rows < max(filter(None, numbers.values())))
    return f"{more} (in 4 runs of 5){have}", options


def nearest(ends: Iterable[Endpoint]) -> Endpoint | None:
    """The endpoint that is nearest to its limit, or farthest beyond it."""
    room = {
        (end.estimate.value - end.limit) / abs(end.limit): end
        for end in ends
        if end.limit and isinstance(end.estimate, Estimate)
    }
    return room[min(room)] if room else None


def _too_near(ends: Sequence[Endpoint]) -> str:
    """Why more texts hardly help."""
    end = nearest(ends)
    if end is None or end.limit is None or not isinstance(end.estimate, Estimate):
        return "More texts will hardly bring a ✓"
    write = points if end.limit < 0 else _share
    near = "too near" if end.estimate.value > end.limit else "beyond"
    seen, limit = write(end.estimate.value), write(end.limit).removesuffix(".0")
    why = f"the difference seen, {seen}, is {near} the limit, {limit}"
    return f"More texts will hardly bring a ✓: {why}"


def _texts(needed: TextsNeeded, further: str = "") -> str:
    numbers = ((needed.unchanged, "unchanged"), (needed.changed, "changed"))
    words = comma_list([f"{rounded_up(n):,} {kind}" for n, kind in numbers if n is not None])
    return f"{words.replace(' ', f'{further} ', 1)} texts"


_CLAIMS: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        "accuracy": ("is {} {} less accurate than", "is more accurate than"),
        "mean score": ("scores {} {} lower than", "scores higher than"),
        "recovery": ("keeps {} {} of the accuracy of", "is more accurate than"),
    }
)
"""What is said of a model that is within its limit or beyond, and of a better one."""

_MEANS = {"accuracy": "mean accuracy", "recovery": "recovery of mean accuracy"}

_MOST_NAMES = 3
"""More benchmarks are counted in a sentence, not named."""


def comparison_words(verdict: Replacement, reference: str) -> VerdictWords:
    """The verdict for a reader who reads nothing else."""
    early, shown = verdict.decision == "not shown", deciding(verdict)
    numbers = [_number(end, len(verdict.endpoints) > 1) for end in shown[:_MOST_NAMES]]
    numbers += [f"{len(shown) - _MOST_NAMES} more"] * (len(shown) > _MOST_NAMES)
    return VerdictWords(
        claims([verdict], reference),
        (early and verdict.reason) or "; ".join(numbers),
        _more(verdict, reference) if early and not verdict.reason else "",
        tuple(not_judged(verdict)),
    )


def claims(verdicts: Sequence[Replacement], reference: str = "") -> str:
    """What is, or is not, shown of models with the same verdict; the reference is optional."""
    first, names = verdicts[0], [verdict.target for verdict in verdicts]
    models = comma_list(names) if len(names) <= _MOST_NAMES else f"{len(names)} models"
    early = EARLY * (first.decision == "not shown")
    if early and not reference:
        return f"for {models} it is too early to say"
    verb, _, words = claim(first).partition(" ")
    verb = {"is": "are"}.get(verb, verb[:-1]) if names[1:] else verb
    words, _, than = words.rpartition(" ")
    of = f" {than} {reference}" if reference else ""
    return f"{early}{models} {verb} {words}{of}{_on(first)}"


def claim(verdict: Replacement) -> str:
    """What is, or is not, shown of a model and the first one, which follows these words."""
    fails, judged = verdict.decision == "may not", [e for e in verdict.endpoints if e.limit]
    if not judged:
        return "is clearly less accurate than" if fails else "is as accurate as"
    end = next((end for end in judged if end.needed), judged[0])
    limit = f"{100 * abs(end.limit or 0):g}"
    bounds, unit = ("at worst", "more than"), " point" if limit == "1" else " points"
    if end.measure == "recovery":
        bounds, unit = ("at least", "less than"), "\u00a0%"
    words, better = _CLAIMS[end.measure]
    return better if shows_better(verdict) else words.format(bounds[fails], f"{limit}{unit}")


def shows_better(verdict: Replacement) -> bool:
    """Whether more than the limit is shown: each interval lies above no difference."""
    return verdict.decision == "may replace" and all(
        isinstance(end.estimate, Estimate) and end.estimate.low > (end.measure == "recovery")
        for end in deciding(verdict)
    )


def _on(verdict: Replacement) -> str:
    """The benchmarks that the claim is about; nothing where there is one alone."""
    names = [end.name.partition(" on ")[2] for end in verdict.endpoints if not end.needed]
    beyond = [end.name.partition(" on ")[2] for end in deciding(verdict)]
    if names and verdict.decision == "may not" and all(beyond):
        return f" on {comma_list(beyond[:_MOST_NAMES])}"
    several = comma_list(names) if len(names) <= _MOST_NAMES else f"{len(names)} benchmarks"
    return f" on average over {several}" if names else ""


def _number(endpoint: Endpoint, of_several: bool) -> str:
    """How far a number may be from what was seen, its limit, and why it is open."""
    if isinstance(endpoint.estimate, Undefined):
        return f"{endpoint.name} is {endpoint.estimate}"
    name = _MEANS.get(endpoint.name, endpoint.name) if of_several else endpoint.name
    low, high, limit = endpoint.estimate.low, endpoint.estimate.high, endpoint.limit or 0.0
    words = f"{name} may differ by {points(low)} to {points(high)} points"
    if limit < 0 > low:
        words += f", −{-100 * limit:g} is allowed"
    elif limit > 0:
        words = f"{name} may be {percent(low)} to {percent(high)}\u00a0%, {100 * limit:g} is needed"
    needed = texts_lacking(endpoint)
    if endpoint.state == "fails alone":
        words += f"; it is {FAILS_ALONE}"
    elif needed:
        words += f"; {endpoint.estimate.n:,} questions count, at least {needed:,} are needed"
    return words


def _more(verdict: Replacement, reference: str) -> str:
    """How many questions decide in 4 runs of 5: first as seen, then if the models are equal."""
    seen, equal = (
        f"{rounded_up(needed.unchanged):,}" if needed and needed.unchanged else ""
        for needed in (verdict.if_as_seen, verdict.if_equal)
    )
    close = f"if {verdict.target} is as good as {reference}"
    hopeful = f"; {close}, {equal} are enough" if equal not in ("", seen) else ""
    if seen:
        plan = f"To decide on {verdict.target}, plan {seen} questions in all"
        return f"{plan}, enough in 4 runs of 5 if it differs as much as here{hopeful}"
    words = (
        f"More questions will hardly bring {verdict.target} a ✓: it is too near the limit or beyond"
    )
    only = f"Only {close} are {equal} questions in all enough (in 4 runs of 5)"
    return f"{words}. {only}" if equal else ""
