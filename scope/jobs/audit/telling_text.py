"""One text that illustrates the reason of a verdict, with the answers of both models."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import SequenceMatcher
from itertools import groupby
from operator import itemgetter

from reports.prose import Span, Style, Text, joined, prose
from reports.wording import two_digits
from scope.jobs.audit.examples import Shown, changed_texts, unchanged_texts
from scope.jobs.audit.verdict_words import carrying
from scope.records import AuditResult, Replacement, label_of
from scope.records.examples import Both

_MOST_WORDS, _WORDS_BEFORE, _MOST_LETTERS = 24, 8, 160
"""Most words shown of a text, words before its first change, and letters without a change."""

_MOST_COMPARED = 1_000
"""Most words of a text that are compared: the time is quadratic."""


def telling_text(verdict: Replacement, result: AuditResult) -> Text:
    """A text that two models answer differently, with the largest difference in the endpoint.

    For a capability a random change, if they differ on any, else an unchanged text; for accuracy a
    text on which only the reference is right, if any. Nothing if there is no such text.
    """
    names = (endpoint.name for endpoint in carrying(verdict))
    name, _, capability = next(names, "agreement").partition(" on ")
    place = [card.name for card in result.manifest.targets].index(verdict.target)
    labels = result.manifest.reference.labels
    drawn = [scored for scored in result.candidates if scored.capability == capability]
    texts = [
        text
        for text in changed_texts(result, "flipped", drawn)
        if [answer.choice for answer in text.models[0]]
        != [answer.choice for answer in text.models[place + 1]]
    ] or [text for text in unchanged_texts(result) if place in text.lost]
    if not texts:
        return ()

    def tells(text: Shown) -> tuple[bool, float]:
        right = name == "accuracy" and label_of(text.before.reference, labels) == text.gold
        return right, text.distance(place + 1)

    text = max(texts, key=tells)
    columns = {result.manifest.reference.name: 0, verdict.target: place + 1}
    answers = (
        prose("{model} {answers}", model=model, answers=_answers(text.models[column], labels))
        for model, column in columns.items()
    )
    original = text.before.example.text
    changed = original if text.after is None else text.after.perturbation.text or ""
    gold = () if text.gold is None else prose(" Gold: {label}.", label=text.gold)
    return prose(
        "“{text}” {answers}.{gold}",
        text=_marked(original, changed),
        answers=joined(answers, between="; "),
        gold=gold,
    )


def _answers(both: Both, labels: Sequence[str]) -> Text:
    """A model's answers with their probabilities, and whether the change changes its answer."""
    before, after = (
        prose(f"{{label}} {two_digits(max(side.probabilities))}", label=label_of(side, labels))
        for side in both
    )
    if both[0] is both[1]:
        return prose("answers {label}", label=before)
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
