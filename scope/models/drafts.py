"""What a model makes of a given answer: how likely it writes it, and whether it would.

One pass over a prompt and an answer gives the likeliest token at each place of the answer. Greedy
decoding writes exactly this answer if that is the answer's own token everywhere, and then its end.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from scope.models.prompts import Fitted
from scope.models.replies import answer_text
from scope.records import ScoredAnswer

Row = Sequence[int]


class Followed(NamedTuple):
    """How a model follows the tokens of a text.

    Parameters
    ----------
    log_probability
        That of all tokens, as natural logarithm; NaN is possible.
    best
        The likeliest token in the place of each.
    near
        Whether, in the place of each, two tokens are too near to tell which is the likelier.
    ends
        The tokens that end a text.
    """

    log_probability: float
    best: list[int]
    near: list[bool]
    ends: Collection[int]


def followed(
    logits: Any, tokens: Row, *, ends: Collection[int], spread: float = 0.0, forced: int = 0
) -> Followed:
    """How a model follows a text, of which the last token stands for its end.

    Parameters
    ----------
    logits
        The logits in the place of each token.
    ends
        The tokens that end a text: their probabilities are added up. Without any the end has none.
    spread
        The numerical spread of logits, as a share of the greatest.
    forced
        How many of the first tokens the model always writes.

    Examples
    --------
    Of two tokens the second, which ends a text, is e times as likely:

    >>> from scope.models.torch_setup import load_torch
    >>> logits = load_torch().tensor([[0.0, 1.0], [0.0, 1.0]])
    >>> follows = followed(logits, [0, 1], ends=[1])
    >>> round(follows.log_probability, 4), follows.best
    (-1.6265, [1, 1])
    """
    some, rest = logits[forced : len(tokens)].cpu().double(), list(tokens[forced:])
    logs = some.log_softmax(dim=-1)
    chosen = [float(row[token]) for row, token in zip(logs[:-1], rest[:-1], strict=True)]
    if ends:
        chosen.append(float(logs[-1, sorted(ends)].logsumexp(dim=0)))
    likeliest = some.topk(min(2, some.shape[-1]), dim=-1).values
    gaps = likeliest[:, 0] - likeliest[:, -1]
    near = gaps < spread * some.abs().amax(dim=-1)
    return Followed(math.fsum(chosen), some.argmax(dim=-1).tolist(), near.tolist(), ends)


class Spelled(NamedTuple):
    """An answer, as a text that a model can spell, and as its tokens without the end."""

    text: str
    spelled: str
    tokens: Row


def scored_answer(
    answer: Spelled, follows: Followed, asked: Fitted, would: Callable[[], bool | None] | None
) -> ScoredAnswer:
    """The record of an answer's score; there is none where the model gives no number.

    ``would`` says whether the model would write it, unless the answer had to be cut.
    """
    cut = len(follows.best) <= len(answer.tokens)
    record = ScoredAnswer(
        log_probability=min(0.0, follows.log_probability),
        tokens=len(follows.best) - (not follows.ends),
        truncated=asked.truncated or cut,
    )
    if not math.isfinite(follows.log_probability):
        return replace(record, log_probability=math.nan, missing="no number")
    return replace(record, same=would() if would and not cut else None)


def would_write(
    answer: Spelled,
    follows: Followed,
    text_of: Callable[[Row], str],
    is_enough: Callable[[Row], bool],
) -> bool | None:
    """Whether greedy decoding writes an answer; None where two tokens are too near to tell.

    It is None, too, where the model writes other tokens that may spell the same.

    Parameters
    ----------
    text_of
        The text of tokens.
    is_enough
        Whether no more is written after some tokens.
    """
    tokens, spelled = list(answer.tokens), answer.spelled.strip()
    for place, (best, near) in enumerate(zip(follows.best, follows.near, strict=True)):
        written = tokens[:place]
        if place and is_enough(written):
            break
        if near:
            return None
        if best in follows.ends:
            break
        if place == len(tokens) or best != tokens[place]:
            written.append(best)
            if is_enough(written):
                break
            # The last token may be part of a letter.
            begun = text_of(written).strip().rstrip("\ufffd")
            return None if spelled.startswith(begun) else False
    reply = text_of(written)
    return reply.strip() == spelled or answer_text(reply) == answer.text
