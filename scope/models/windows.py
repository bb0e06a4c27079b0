"""Cuts what is longer than a model's limit, and keeps in view what is asked about."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from scope.records import Question


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
