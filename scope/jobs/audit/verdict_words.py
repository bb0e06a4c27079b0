"""A verdict in words: its reason, a text that shows it, and how many texts would decide."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from difflib import SequenceMatcher
from itertools import groupby
from operator import itemgetter
from typing import NamedTuple

from reports.prose import Span, Style, Text, joined, prose
from reports.wording import in_percent, points, short_points, short_share, two_digits
from scope.jobs.audit.assessed import not_assessed
from scope.jobs.audit.examples import Shown, changed_texts, moved, unchanged_texts
from scope.printing import counted
from scope.records import (
    AuditResult,
    DataCard,
    Endpoint,
    Estimate,
    Replacement,
    TextsNeeded,
    Undefined,
    label_of,
)
from scope.records.examples import Both
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

_MOST_REASONS = 3

WITHOUT_BASELINE = (
    "Without a baseline same answers and reaction are shown, not judged; --least-agreement and "
    "--least-concordance set limits. In the demo an 8-bit copy gives the same answer on "
    "99.8\u00a0% of tweets, the reference trained again with another seed on 96\u00a0%, with same "
    "reaction 1.00 and .90, strength 1.00 and .93."
)


class VerdictWords(NamedTuple):
    """A verdict in sentences without a full stop: the verdict, its reason, and further sentences.

    ``more`` is the number of texts that would decide; empty for a decided verdict.
    """

    opening: str
    why: str
    more: str = ""
    notes: tuple[str, ...] = ()

    def __str__(self) -> str:
        parts = (f"{self.opening}: {self.why}", self.more, *self.notes)
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
    reference, card = result.manifest.reference.name, result.manifest.baseline
    baseline = "" if card is None else card.name
    names, more = (reference, baseline), ""
    if verdict.decision == "may replace":
        judged = [end for end in verdict.endpoints if end.limit is not None]
        why = "; ".join(finding(end, *names) for end in _by_importance(_whole(judged)))
    elif verdict.decision == "may not":
        why = _reasons(carrying(verdict), *names, "outside")
    else:
        why = verdict.reason or _open(verdict, *names)
        more = _more_texts(verdict, result.manifest.data[0], baseline or reference)
    shown = [end for end in verdict.endpoints if end.limit is None]
    shown = [end for end in _whole(shown) if end.measure in ("agreement", "concordance")]
    if others := " and ".join(
        finding(end, *names) for end in shown if isinstance(end.estimate, Estimate)
    ):
        why = f"{others}; {why}" if verdict.decision == "may replace" else f"{why}; {others}"
    return VerdictWords(f"{opening(verdict, reference)}", why, more, tuple(_notes(verdict, result)))


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
    if result.manifest.baseline is not None:
        yield f"Measured against {result.manifest.baseline.name}"
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


def _whole(endpoints: Sequence[Endpoint]) -> list[Endpoint]:
    """Without a capability beside the number over all capabilities."""
    names = {end.name for end in endpoints}
    return [end for end in endpoints if end.name == end.measure or end.measure not in names]


def _reasons(endpoints: Sequence[Endpoint], reference: str, baseline: str, state: str) -> str:
    """The findings on the first endpoints, with their limits, and the names of the others."""
    whole = _whole(endpoints)
    first = [_with_limit(end, reference, baseline) for end in whole[:_MOST_REASONS]]
    others = [in_plain_words(end.name) for end in whole[_MOST_REASONS:]]
    return "; ".join(first) + (f"; also {state}: {listed(others)}" if others else "")


def _open(verdict: Replacement, reference: str, baseline: str) -> str:
    """How many numbers are within their limits, and what is open."""
    judged = [end for end in verdict.endpoints if end.limit is not None]
    reached = sum(end.state == "within" for end in judged)
    start = f"{reached or 'none'} of {counted(len(judged), 'number')} within limits; open: "
    return start + _reasons(carrying(verdict), reference, baseline, "open")


def in_plain_words(name: str) -> str:
    """The name of an endpoint as people read it.

    >>> in_plain_words("concordance on typo")
    'same reaction on typo'
    """
    measure, on, capability = name.partition(" on ")
    return f"{WORDS.get(measure, measure)}{on}{capability}"


_FINDINGS = {
    "accuracy": "its {name} is {lower}",
    "recall": "its {name} is {lower}",
    "recovery": "it keeps {share}\u00a0% of {reference}'s accuracy",
    "agreement": "it answers {otherwise}\u00a0% of texts otherwise",
    "agreement minus": "it gives {reference}'s answer {less} often {than} {baseline}",
    "keeps minus": "under random changes{on} it keeps its answer {less} often {than} {reference}",
    "concordance": "it shares {reference}'s reaction{on} in {share}\u00a0% of pairs of changes",
    "concordance minus": "it shares {reference}'s reaction{on} {less} often {than} {baseline}",
    "reach": "it reacts{on} {share}\u00a0% as strongly as {reference}",
}


def finding(endpoint: Endpoint, reference: str, baseline: str) -> str:
    """An endpoint's number in plain words."""
    estimate, measure = endpoint.estimate, endpoint.measure
    if isinstance(estimate, Undefined):
        return f"{in_plain_words(endpoint.name)} is {estimate}"
    differs = endpoint.limit is not None and endpoint.limit < 0
    key = f"{measure} minus" if f"{measure} minus" in _FINDINGS and differs else measure
    by, equal = points(estimate.value).lstrip("+−"), points(estimate.value) == "0.0"
    more, lower = ("less", "lower") if estimate.value < 0 else ("more", "higher")
    return _FINDINGS[key].format(
        name=endpoint.name,
        on=endpoint.name.removeprefix(measure),
        less="as" if equal else f"{by} points {more}",
        than="as" if equal else "than",
        lower="the same" if equal else f"{by} points {lower}",
        share=in_percent(estimate.value)[0],
        otherwise=in_percent(1 - estimate.value)[0],
        reference=reference,
        baseline=baseline,
    )


def _with_limit(endpoint: Endpoint, reference: str, baseline: str) -> str:
    """The finding on an endpoint, with its interval and limit."""
    estimate, limit = endpoint.estimate, endpoint.limit or 0.0
    words = finding(endpoint, reference, baseline)
    if isinstance(estimate, Undefined):
        return words
    side, unit = "at least", "" if limit < 0 else "\u00a0%"
    if endpoint.measure == "agreement" and limit > 0:  # the share of other answers
        side, limit = "at most", 1 - limit
        value, low, high = (1 - end for end in (estimate.value, estimate.high, estimate.low))
        estimate = replace(estimate, value=value, low=low, high=high)
    number = short_points(estimate) if limit < 0 else short_share(estimate)
    interval = number[number.index("[") :]
    least = f"{side} {100 * limit:.3g}{unit}".replace("-", "−")
    if endpoint.most is not None:
        least += f", at most {100 * endpoint.most:.3g}{unit}"
    needed = texts_lacking(endpoint)
    few = f", too few, {needed:,} are needed" if needed else ""
    alone = ", outside by itself but not once corrected for the other limits"
    return (
        f"{words} ({interval} on {estimate.n:,} texts{few}; {least} is required"
        f"{alone * (endpoint.state == 'fails alone')})"
    )


def compared(endpoint: Endpoint, reference: str, baseline: str) -> str:
    """The name of an endpoint with what is subtracted."""
    other = reference if endpoint.measure in ("accuracy", "recall", "keeps") else baseline
    differs = (endpoint.limit or 1) < 0 or "changed texts" in endpoint.name
    name = in_plain_words(endpoint.name)
    return f"{name} minus {other}'s" if differs and other else name


def _more_texts(verdict: Replacement, card: DataCard, standard: str) -> str:
    """The numbers of texts that decide in 4 runs of 5, and the options of a further run."""
    if verdict.reason:
        return ""
    cases = (
        (verdict.if_equal, f"{verdict.target} is as good as {standard}"),
        (verdict.if_as_seen, "it differs as much as here"),
    )
    known = [(needed, case) for needed, case in cases if needed is not None]
    if not known:
        # Same answers as a share, and not in comparison with a baseline's.
        same = [end for end in carrying(verdict) if end.name == "agreement" and not card.labelled]
        if not same or not isinstance(same[0].estimate, Estimate) or (same[0].limit or 0) < 0:
            return ""
        differ = round((1 - same[0].estimate.value) * same[0].estimate.n)
        texts = "text that differs" if differ == 1 else "texts that differ"
        return f"Gold labels are needed on the {differ:,} {texts}" if differ else ""
    first, _ = known[0]
    numbers = {"n": first.changed, "n-unchanged": first.unchanged}
    options = [f"--{name} {rounded_up(n)}" for name, n in numbers.items() if n is not None]
    rows, most = card.rows - card.duplicates - card.empty, max(filter(None, numbers.values()))
    have = f" (these data have {rows:,})" if rows < most else ""
    cases_in_words = [f"{_texts(needed)} if {case}" for needed, case in known]
    worse = "" if verdict.if_as_seen else "; no number shows it if it differs as much as here"
    words = f"In 4 runs of 5 it takes {', '.join(cases_in_words)}{have}"
    return f"{words}: {' '.join(options)}{worse}"


def _texts(needed: TextsNeeded) -> str:
    numbers = ((needed.unchanged, "unchanged"), (needed.changed, "changed"))
    texts = listed([f"{rounded_up(n):,} {kind}" for n, kind in numbers if n is not None])
    gold = "" if needed.gold is None else f" (the two differ on {needed.gold:,} of them)"
    return f"{texts} texts{gold}"


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


_MOST_WORDS, _WORDS_BEFORE, _MOST_LETTERS = 24, 8, 160
"""Most words shown of a text, words before its first change, and letters without a change."""

_MOST_COMPARED = 1_000
"""Most words of a text that are compared: the time is quadratic."""


def telling_text(verdict: Replacement, result: AuditResult) -> Iterator[tuple[Text, Text]]:
    """A title and the text that shows most of the first endpoint that any text shows, if any.

    *Example* of *may not* is a text on which only the target is wrong, or for reach moves less.
    Other differences are titled neutrally; one where only the reference is wrong shows no fault.
    """
    place = 1 + [card.name for card in result.manifest.targets].index(verdict.target)
    labels, accused = result.manifest.reference.labels, verdict.decision == "may not"
    for name in [endpoint.name for endpoint in carrying(verdict)] or ["agreement"]:
        ranked = [
            (_fault(text, place, name, labels), text.distance(place), text)
            for text in _differing(result, place, name)
        ]
        least = 2 if name.startswith(("accuracy", "recall", "recovery")) else 1 if accused else 0
        fault, _, text = max(ranked, key=itemgetter(0, 1), default=(-1, 0.0, None))
        if text is None or fault < least:
            continue
        original = text.before.example.text
        changed = original if text.after is None else text.after.perturbation.text or ""
        columns = {result.manifest.reference.name: 0, verdict.target: place}
        answers = (
            prose("{model} {answers}", model=model, answers=_answers(text.models[column], labels))
            for model, column in columns.items()
        )
        yield (
            prose("Example" if accused and fault == 2 else "Where they differ"),
            prose(
                "“{text}” {answers}.{gold}",
                text=_marked(original, changed),
                answers=joined(answers, between="; "),
                gold=() if text.gold is None else prose(" Gold: {label}.", label=text.gold),
            ),
        )
        return


def _differing(result: AuditResult, place: int, name: str) -> Iterator[Shown]:
    """The texts on which a target differs from the reference in an endpoint."""
    measure, _, capability = name.partition(" on ")
    if name.startswith(("accuracy", "recovery", "agreement", "recall of ")):
        of_class = name.removeprefix("recall of ")
        for text in unchanged_texts(result):
            if place - 1 in text.lost and of_class in (name, text.gold):
                yield text
        return
    drawn = [each for each in result.candidates if capability in ("", each.capability)]
    for text in changed_texts(result, "flipped", drawn):
        reference, target = text.models[0], text.models[place]
        alike = [a.choice for a in reference] == [a.choice for a in target]
        if moved(target) < moved(reference) if measure == "reach" else not alike:
            yield text


def _fault(text: Shown, place: int, name: str, labels: Sequence[str]) -> int:
    """2 where only the target is at fault, 0 where only the reference is, 1 otherwise."""
    reference, target = (
        all(label_of(answer, labels) == text.gold for answer in text.models[model])
        for model in (0, place)
    )
    return 1 + reference - target + (name.startswith("reach") and reference and target)


def _answers(both: Both, labels: Sequence[str]) -> Text:
    """A model's answers with their probabilities, and whether the change changes its answer."""
    before, after = (
        prose(
            f"{{label}} {two_digits(max(side.probabilities))}" if side.given else "{label}",
            label=label_of(side, labels),
        )
        for side in both
    )
    if both[0] is both[1]:
        return prose("answers {label}" if both[0].given else "gives {label}", label=before)
    does = "keeps its answer" if both[0].choice == both[1].choice else "changes its answer"
    return prose(f"{does}: {{before}} → {{after}}", before=before, after=after)


def _marked(original: str, changed: str) -> Text:
    """The words from shortly before the first change on, with those that differ marked."""
    old, new = (text.split()[:_MOST_COMPARED] for text in (original, changed))
    words: list[tuple[Style, str]] = []
    for kind, *ends in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        first, last, new_first, new_last = ends
        if kind == "equal":
            words += [("plain", word) for word in old[first:last]]
        else:
            words += [("deleted", word) for word in old[first:last]]
            words += [("inserted", word) for word in new[new_first:new_last]]
    differ = (place for place, (style, _) in enumerate(words) if style != "plain")
    start = max(0, next(differ, 0) - _WORDS_BEFORE)
    parts = [Span("…")] if start else []
    for style, run in groupby(words[start : start + _MOST_WORDS], key=itemgetter(0)):
        text = " ".join(word for _, word in run)
        cut = text if len(text) <= _MOST_LETTERS else f"{text[:_MOST_LETTERS]}…"
        parts.append(Span(cut, style, foreign=True))
    parts += [Span("…")] if len(words) > start + _MOST_WORDS else []
    return joined(((part,) for part in parts), between=" ")
