"""A verdict in words: its reason, a text that shows it, and how many texts would decide."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from itertools import groupby
from operator import itemgetter
from typing import NamedTuple

from reports.prose import Span, Style, Text, joined, prose
from reports.wording import short, short_points, two_digits
from scope.jobs.audit.examples import Shown, changed_texts, moved, unchanged_texts
from scope.records import (
    AuditResult,
    DataCard,
    Endpoint,
    Estimate,
    Replacement,
    Undefined,
    label_of,
)
from scope.records.examples import Both
from scope.statistics import texts_lacking

_ALONE = "below the limit, but not once it is corrected for several tests"


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
    shown = "" if verdict.decision != "not shown" else "It is not shown that "
    may = "may not" if verdict.decision == "may not" else "may"
    return f"{shown}{verdict.target} {may} replace {reference}"


def in_words(verdict: Replacement, result: AuditResult) -> VerdictWords:
    """The verdict for a reader who reads nothing else."""
    reference, card = result.manifest.reference.name, result.manifest.baseline
    baseline = "" if card is None else card.name
    by_name = {endpoint.name: endpoint for endpoint in verdict.endpoints}
    apart = left_out(result)
    head, more = opening(verdict, reference), ""
    if verdict.decision == "may replace":
        head += " in what was assessed" if verdict.not_judged or apart else ""
        within = [name for name in by_name if name not in verdict.not_judged]
        why = f"{named(within)} are within limits"
    elif verdict.decision == "may not":
        why = _beyond(verdict, reference, baseline)
    else:
        why = verdict.reason or _not_within(verdict, reference, baseline)
        more = _more_texts(verdict, result.manifest.data[0], baseline or reference)
    notes = []
    for name in verdict.not_judged:
        estimate = by_name[name].estimate
        if name == "agreement":
            notes.append("Agreement is not judged, as no baseline is given")
        elif isinstance(estimate, Undefined):
            notes.append(f"{name.capitalize()} is not assessed: {estimate.reason}")
    notes += [f"{name} is not assessed: {reason}" for name, reason in apart.items()]
    notes += [f"Measured against {baseline}"] if baseline else []
    return VerdictWords(head, why, more, tuple(notes))


def left_out(result: AuditResult) -> dict[str, str]:
    """The reasons why capabilities without an applicable text are not assessed."""
    drawn = {outcome.capability: outcome for outcome in result.candidate_outcomes}
    outcomes = (drawn.get(card.name) for card in result.manifest.capabilities)
    return {
        outcome.capability: str(outcome.reason)
        for outcome in outcomes
        if outcome is not None and outcome.status == "not applicable"
    }


def carrying(verdict: Replacement) -> list[Endpoint]:
    """The endpoints that carry the verdict; of those beyond, accuracy, reach or the surest first.

    For an open verdict they are the open ones, for *may replace* all that are judged.
    """
    names = {"may not": verdict.beyond, "not shown": verdict.open}.get(verdict.decision)
    if not names:
        return [end for end in verdict.endpoints if end.limit is not None]
    carry = [end for end in verdict.endpoints if end.name in names]
    if verdict.decision == "may not":
        carry.sort(
            key=lambda end: (end.name != "accuracy", not end.name.startswith("reach"), end.p_beyond)
        )
    return carry


def _beyond(verdict: Replacement, reference: str, baseline: str) -> str:
    """The first endpoint that carries the verdict, then the names of the others."""
    worst = carrying(verdict)[0]
    others = [name for name in verdict.beyond if name != worst.name]
    verb = "is" if len(others) == 1 else "are"
    also = f", and {named(others)} {verb} too low, too" if others else ""
    return _of_endpoint(worst, reference, baseline) + also


def _of_endpoint(endpoint: Endpoint, reference: str, baseline: str) -> str:
    """The finding on an endpoint beyond its limit, with the limit and the number."""
    name, number, limit = endpoint.name, *_numbers(endpoint)
    if isinstance(endpoint.estimate, Undefined):
        return f"{name} is {endpoint.estimate}"
    if name.startswith("reach on "):
        on = name.removeprefix("reach ")
        return (
            f"its answers follow {reference}'s too little {on} (reach {number}, at least {limit} "
            "is required)"
        )
    if not limit.startswith("−"):
        return f"its {name} is below {limit} ({number})"
    below = f" points below {reference}'s" if name == "accuracy" else f" below {baseline}'s"
    return f"its {name} is more than {limit.removeprefix('−')}{below} ({number})"


def compared(endpoint: Endpoint, reference: str, baseline: str) -> str:
    """The name of an endpoint with what is subtracted."""
    other = reference if endpoint.name.startswith("accuracy") else baseline
    differs = endpoint.limit is not None and endpoint.limit <= 0
    return f"{endpoint.name} minus {other}'s" if differs and other else endpoint.name


def _numbers(endpoint: Endpoint) -> tuple[str, str]:
    """The number of an endpoint with its interval and texts, and its limit."""
    estimate, in_points = endpoint.estimate, endpoint.name.startswith("accuracy")
    limit = f"{(100 if in_points else 1) * (endpoint.limit or 0):g}".replace("-", "−")
    number = f"{short_points(estimate)} points" if in_points else short(estimate)
    return f"{number} on {estimate.n:,} texts", limit


def _not_within(verdict: Replacement, reference: str, baseline: str) -> str:
    """The endpoints that are not within, with the number of one, and why others are undefined."""
    ends = carrying(verdict)
    parts = [f"{end.name} is {end.estimate}" for end in ends if isinstance(end.estimate, Undefined)]
    measured = [end for end in ends if isinstance(end.estimate, Estimate)]
    groups: dict[str, list[Endpoint]] = {}
    for end in measured:
        few = f"measured on too few texts, of which at least {texts_lacking(end)} are needed"
        open_as = few if texts_lacking(end) else "too uncertain"
        groups.setdefault(_ALONE if fails_alone(end) else open_as, []).append(end)
    for words, group in groups.items():
        if len(group) == 1:
            number, limit = _numbers(group[0])
            name = compared(group[0], reference, baseline)
            parts.append(f"{name} is {words} ({number}, at least {limit} is required)")
        elif group:
            parts.append(f"{named([end.name for end in group])} are {words}")
    return "; ".join(parts)


def fails_alone(endpoint: Endpoint) -> bool:
    """Whether a number lies beyond its limit by its own test or interval, before a correction."""
    estimate, limit = endpoint.estimate, endpoint.limit
    if isinstance(estimate, Undefined) or limit is None:
        return False
    return endpoint.state == "beyond" or estimate.high < limit


def named(names: Sequence[str]) -> str:
    """The names of endpoints, grouped by measure.

    >>> named(["accuracy", "reach on typo", "concordance on typo", "reach on noise"])
    'accuracy, reach on typo and noise, and concordance on typo'
    """
    groups: dict[str, list[str]] = {}
    for name in names:
        measure, _, capability = name.partition(" on ")
        groups.setdefault(measure, []).extend(filter(None, [capability]))
    parts = [f"{measure} on {listed(on)}" if on else measure for measure, on in groups.items()]
    return listed(parts, ", and " if any(" and " in part for part in parts) else " and ")


def no_texts_help(verdict: Replacement) -> str:
    """Why no number of texts can be given: undefined, lower, or an open reach; or empty."""
    for endpoint in verdict.endpoints:
        name, estimate, limit = endpoint.name, endpoint.estimate, endpoint.limit
        if limit is None:
            continue
        if not isinstance(estimate, Estimate):
            return f"{name} is undefined"
        lower = estimate.side(3 if name.startswith("accuracy") else 2) == "less"
        if fails_alone(endpoint) or (limit < 0 and lower):
            than = "its limit" if limit > 0 else "that of the model it is compared with"
            return f"by its interval alone, {name} is below {than}"
        if name.startswith("reach on ") and endpoint.state != "within":
            return f"{name} is open, for which none can be planned"
    return ""


def _more_texts(verdict: Replacement, card: DataCard, standard: str) -> str:
    """The number of texts for the wanted power, and whether the data have them."""
    rows = verdict.rows_needed
    if rows is None:
        undefined = any(isinstance(end.estimate, Undefined) for end in carrying(verdict))
        why = "" if verdict.reason or undefined else no_texts_help(verdict)
        return f"How many texts decide is not known: {why}" if why else ""
    known = card.rows - card.duplicates - card.empty
    shows = f"shows it with probability 0.8 if {verdict.target} is as good as {standard}"
    needed = f"{rounded_up(rows):,} changed and unchanged texts"
    if known < rows:
        return f"A new run on about {needed}, of which these data have {known:,}, {shows}"
    return f"A new run with another --seed on about {needed} {shows}"


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
        least = 2 if name.startswith("accuracy") else 1 if accused else 0
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
    if not capability:
        yield from (text for text in unchanged_texts(result) if place - 1 in text.lost)
    drawn = [scored for scored in result.candidates if scored.capability == capability]
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
