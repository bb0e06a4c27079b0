"""Shortens questions whose prompts are longer than a language model's limit.

What is asked about is kept in view.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NamedTuple

from scope.records import BLANK, Question


def cut_around(
    framed: Sequence[int], bare: Sequence[int], position: int, limit: int
) -> tuple[list[int], bool]:
    """The tokens around a position, in their frame, and whether any were left out.

    Parameters
    ----------
    framed, bare
        A text's tokens with the special tokens around them, and without.
    position
        Index in ``bare`` of the token to keep in the middle; near an end, the end is kept.
    limit
        Most tokens, frame included.

    Examples
    --------
    >>> cut_around([0, 11, 12, 13, 14, 15, 2], [11, 12, 13, 14, 15], position=3, limit=5)
    ([0, 13, 14, 15, 2], True)
    >>> cut_around([0, 11, 12, 2], [11, 12], position=0, limit=5)
    ([0, 11, 12, 2], False)
    """
    if len(framed) <= limit:
        return list(framed), False
    frame, inner = len(framed) - len(bare), list(bare)
    ahead = next((n for n in range(frame) if list(framed[n : n + len(inner)]) == inner), frame)
    room = max(1, limit - frame)
    start = max(0, min(position - room // 2, len(inner) - room))
    shortened = inner[start : start + room]
    return [*framed[:ahead], *shortened, *framed[ahead + len(inner) :]], True


def shorten_context(
    question: Question, limit: int, tokens_of: Callable[[Question], list[int]]
) -> tuple[list[int], bool]:
    """The tokens of a question in its prompt, and whether anything was left out of them.

    The end of the passage gives way, word by word; where even a question without passage is too
    long for the limit, its beginning and its last token are kept.

    Examples
    --------
    >>> asked = Question(id="0", text="Who?", context="Ann saw Bob today")
    >>> def characters(q):
    ...     return [ord(c) for c in f"{q.context} {q.text}"]
    >>> tokens, cut = shorten_context(asked, 13, characters)
    >>> "".join(map(chr, tokens)), cut
    ('Ann saw Who?', True)
    """
    tokens = tokens_of(question)
    if len(tokens) <= limit:
        return tokens, False
    words = (question.context or "").split()
    fitting, beyond = 0, len(words)
    while beyond - fitting > 1:
        middle = (fitting + beyond) // 2
        fits = len(tokens_of(replace(question, context=" ".join(words[:middle])))) <= limit
        fitting, beyond = (middle, beyond) if fits else (fitting, middle)
    tokens = tokens_of(replace(question, context=" ".join(words[:fitting])))
    if len(tokens) > limit:
        tokens = [*tokens[: limit - 1], tokens[-1]]
    return tokens, True


TokensOf = Callable[[Question], list[int]]
"""A question in its prompt, as tokens."""


class Fitted(NamedTuple):
    """A prompt's tokens, and whether anything was left out of them."""

    tokens: list[int]
    truncated: bool


def fit_prompt(question: Question, limit: int, tokens_of: TokensOf) -> Fitted:
    """The question in its prompt: the passage's end gives way first, then the question's.

    What the prompt says around them stays, unless it alone is too long.

    Examples
    --------
    >>> def spelled(asked):
    ...     return [ord(c) for c in f"{asked.context or ''}|{asked.text}:"]
    >>> asked = Question(id="0", text="Who was seen?", context="Ann saw Bob today")
    >>> ["".join(map(chr, fit_prompt(asked, limit, spelled).tokens)) for limit in (99, 22, 10)]
    ['Ann saw Bob today|Who was seen?:', 'Ann saw|Who was seen?:', '|Who was:']
    """
    tokens = tokens_of(question)
    if len(tokens) <= limit:
        return Fitted(tokens, truncated=False)
    alone = replace(question, context=None)
    if question.context and len(tokens_of(alone)) <= limit:
        return Fitted(*shorten_context(question, limit, tokens_of))

    def with_words(asked: Question) -> list[int]:
        # No question is empty; where not even one word has room, the dots say that some was.
        return tokens_of(replace(alone, text=asked.context or "…"))

    tokens, _ = shorten_context(replace(alone, context=alone.text), limit, with_words)
    return Fitted(tokens, truncated=True)


def fit_around_blank(question: Question, limit: int, tokens_of: TokensOf) -> Fitted:
    """The cloze in its prompt; of a sentence that is too long, words near the blank.

    The number of words on either side is halved until they fit.

    Raises
    ------
    ValueError
        When the question's text does not hold exactly one blank.

    Examples
    --------
    >>> def spelled(asked):
    ...     return [ord(c) for c in asked.text]
    >>> asked = Question(id="0", text="At night the ____ slept on the mat")
    >>> "".join(map(chr, fit_around_blank(asked, 24, spelled).tokens))
    'night the ____ slept on'
    """
    parts = question.text.split(BLANK)
    tokens = tokens_of(question)
    before, after = (part.split() for part in parts)
    words, is_too_long = max(len(before), len(after)), len(tokens) > limit
    while len(tokens) > limit and words:
        words //= 2
        near = [*before[max(0, len(before) - words) :], BLANK, *after[:words]]
        tokens = tokens_of(replace(question, text=" ".join(near)))
    return Fitted(tokens[:limit], is_too_long)
