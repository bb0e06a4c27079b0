"""The text that shows most of a verdict's reason, with what each model answers to it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from itertools import groupby
from operator import itemgetter

from reports.prose import Span, Style, Text, joined, prose, together
from scope.jobs.audit.examples import Shown, answer_in_short, changed_texts, moved, unchanged_texts
from scope.jobs.audit.verdict_words import carrying
from scope.records import AuditResult, Replacement, label_of
from scope.records.examples import Both

_MOST_WORDS, _WORDS_BEFORE, _MOST_LETTERS = 14, 4, 160
"""Most words shown of a text, words before its first change, and letters without a change."""

_MOST_COMPARED = 1_000
"""Most words of a text that are compared: the time is quadratic."""


def telling_text(verdict: Replacement, result: AuditResult) -> Text | None:
    """The text that shows most of the first limit that any text shows, if any.

    For *may not* it is one on which the target is no better than the reference; for reach one where
    it moves less.
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
        if text is not None and fault >= least:
            return together(
                _caption(verdict.target, name, fault, text), _shown(text, place, result)
            )
    return None


def _caption(target: str, name: str, fault: int, text: Shown) -> Text:
    """What the text shows."""
    shows = {"keeps": "alone changes its answer", "reach": "reacts less"}
    words = shows.get(name.partition(" on ")[0], "reacts otherwise")
    if text.after is None:
        words = "alone is wrong" if fault > 1 else "answers otherwise"
    return prose(f"**{{target}}** {words}:", target=target)


def _shown(text: Shown, place: int, result: AuditResult) -> Text:
    """The text, what reference and target answer, and which label is right."""
    labels, gold = result.manifest.reference.labels, text.gold
    original = text.before.example.text
    changed = original if text.after is None else text.after.perturbation.text or ""
    columns = {result.manifest.reference.name: 0, result.manifest.targets[place - 1].name: place}
    answers = (
        prose("{model} {answers}", model=model, answers=_answers(text.models[column], labels))
        for model, column in columns.items()
    )
    return prose(
        "“{text}” {answers}.{gold}",
        text=_marked(original, changed),
        answers=joined(answers, between="; "),
        gold=() if gold is None else prose(" Right: {label}.", label=gold),
    )


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
        stays, kept = (both[0].choice == both[1].choice for both in (target, reference))
        differs = [side.choice for side in reference] != [side.choice for side in target]
        if measure == "reach":
            differs = moved(target) < moved(reference)
        if measure == "keeps":
            differs = kept and not stays and target[0].choice == reference[0].choice
        if differs:
            yield text


def _fault(text: Shown, place: int, name: str, labels: Sequence[str]) -> int:
    """2 where only the target is at fault, 0 where only the reference is, 1 otherwise."""
    reference, target = (
        all(label_of(answer, labels) == text.gold for answer in text.models[model])
        for model in (0, place)
    )
    return 1 + reference - target + (name.startswith("reach") and reference and target)


def _answers(both: Both, labels: Sequence[str]) -> Text:
    """A model's answers before and after a change."""
    sides = both[:1] if both[0] is both[1] else both
    return joined((answer_in_short(side, labels) for side in sides), between=" → ")


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
