"""Which words of a text were changed."""

from __future__ import annotations

import re
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


def mark_changes(original: str, perturbed: str) -> MarkedTexts:
    """Mark the words (stretches without white space) that two texts do not share.

    >>> marked = mark_changes("a fine film", "a good film")
    >>> [segment.text for segment in marked.original if segment.changed]
    ['fine']
    >>> "".join(segment.text for segment in marked.perturbed)
    'a good film'
    """
    before, after = original.split(), perturbed.split()
    # autojunk would treat frequent words of a long text as noise and mark them as changed.
    matches = SequenceMatcher(None, before, after, autojunk=False).get_matching_blocks()
    kept_before = {block.a + step for block in matches for step in range(block.size)}
    kept_after = {block.b + step for block in matches for step in range(block.size)}
    return MarkedTexts(_segments(original, kept_before), _segments(perturbed, kept_after))


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
