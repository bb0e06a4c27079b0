"""Which words of a text were changed."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import groupby
from typing import NamedTuple


@dataclass(frozen=True)
class Segment:
    """A stretch of text that was changed, or not."""

    text: str
    changed: bool


class MarkedTexts(NamedTuple):
    """Both texts in full, cut where changed words begin and end."""

    original: tuple[Segment, ...]
    perturbed: tuple[Segment, ...]


_MOST_PAIRS = 1_000_000
"""Pairs of equal words up to which the best alignment is sought: its time grows with them."""


def mark_changes(original: str, perturbed: str) -> MarkedTexts:
    """Mark the words (stretches without white space) that two texts do not share.

    >>> marked = mark_changes("a fine film", "a good film")
    >>> [segment.text for segment in marked.original if segment.changed]
    ['fine']
    >>> "".join(segment.text for segment in marked.perturbed)
    'a good film'
    """
    kept = _shared(original.split(), perturbed.split())
    kept_before, kept_after = {place for place, _ in kept}, {place for _, place in kept}
    return MarkedTexts(_segments(original, kept_before), _segments(perturbed, kept_after))


def _shared(before: list[str], after: list[str]) -> list[tuple[int, int]]:
    """The places in both texts of the words that they share, in their order."""
    occurrences = Counter(after)
    if sum(occurrences[word] for word in before) > _MOST_PAIRS:
        return _shared_in_place(before, after)
    # autojunk would treat frequent words of a long text as noise and mark them as changed.
    matches = SequenceMatcher(None, before, after, autojunk=False).get_matching_blocks()
    return [(one.a + step, one.b + step) for one in matches for step in range(one.size)]


def _shared_in_place(before: list[str], after: list[str]) -> list[tuple[int, int]]:
    """The words that stand at one place of both, counted from the start, then from the end."""
    pairs = enumerate(zip(before, after, strict=False))
    shorter = min(len(before), len(after))
    start = next((place for place, (old, new) in pairs if old != new), shorter)
    shift = len(after) - len(before)
    rest = range(max(start, start - shift), len(before))
    return [
        *((place, place) for place in range(start)),
        *((place, place + shift) for place in rest if before[place] == after[place + shift]),
    ]


def _segments(text: str, kept: set[int]) -> tuple[Segment, ...]:
    """Cut a text into changed words and what stands between them; ``kept`` are word indices."""
    tokens: list[tuple[str, bool]] = []
    words = 0
    for token in re.findall(r"\s+|\S+", text):
        if token.isspace():
            tokens.append((token, False))
        else:
            tokens.append((token, words not in kept))
            words += 1
    return tuple(_merged(tokens))


def _merged(tokens: list[tuple[str, bool]]) -> Iterable[Segment]:
    for changed, run in groupby(tokens, key=lambda token: token[1]):
        yield Segment("".join(token for token, _ in run), changed)
