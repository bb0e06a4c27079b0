"""One text that shows what carries a verdict, with the answers of both models."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import SequenceMatcher

from reports.prose import Span, Style, Text, joined, prose
from reports.wording import two_digits
from scope.jobs.audit.examples import Shown, changed_texts, unchanged_texts
from scope.jobs.audit.verdict_words import carrying
from scope.records import AuditResult, Replacement, label_of
from scope.records.examples import Both

_MOST_WORDS, _WORDS_BEFORE, _MOST_LETTERS = 24, 8, 160
"""Words of a text that are shown, those before its first change, and letters without a change."""


def telling_text(verdict: Replacement, result: AuditResult) -> Text:
    """The text on which a target is farthest from the reference, in what carries its verdict.

    On a capability it is a random change, else an unchanged text with another label: for accuracy
    one on which the reference alone is right, if any. Nothing if there is no such text.
    """
    names = (endpoint.name for endpoint in carrying(verdict))
    name, _, capability = next(names, "agreement").partition(" on ")
    place = [card.name for card in result.manifest.targets].index(verdict.target)
    labels = result.manifest.reference.labels
    if capability:
        drawn = [scored for scored in result.candidates if scored.capability == capability]
        texts = list(changed_texts(result, "flipped", drawn))
    else:
        texts = [text for text in unchanged_texts(result) if place in text.lost]
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
    """What a model answers with which probability, and whether the change changes it."""
    before, after = (
        prose(f"{{label}} {two_digits(max(one.probabilities))}", label=label_of(one, labels))
        for one in both
    )
    if both[0] is both[1]:
        return prose("answers {label}", label=before)
    does = "keeps its answer" if both[0].choice == both[1].choice else "changes its answer"
    return prose(f"{does}: {{before}} → {{after}}", before=before, after=after)


def _marked(original: str, changed: str) -> Text:
    """The words from shortly before the first change on, with those that differ marked."""
    texts = original.split(), changed.split()
    differ = (place for place, (old, new) in enumerate(zip(*texts, strict=False)) if old != new)
    start = max(0, next(differ, 0) - _WORDS_BEFORE)
    old, new = (words[start : start + _MOST_WORDS] for words in texts)
    parts = [Span("…")] if start else []
    for kind, *places in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        first, last, new_first, new_last = places
        same = kind == "equal"
        parts += _words(old[first:last], "plain" if same else "deleted")
        parts += [] if same else _words(new[new_first:new_last], "inserted")
    parts += [Span("…")] if max(map(len, texts)) > start + _MOST_WORDS else []
    return joined(((part,) for part in parts), between=" ")


def _words(words: Sequence[str], style: Style) -> list[Span]:
    text = " ".join(words)
    cut = text if len(text) <= _MOST_LETTERS else f"{text[:_MOST_LETTERS]}…"
    return [Span(cut, style, foreign=True)] if words else []
