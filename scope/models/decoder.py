"""Runs a decoder on inputs of equal length: writes, scores or continues texts."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Container, Iterator, Sequence
from typing import Any

from scope.models.batching import ANSWERS_A_BATCH, batches_of_equal_length
from scope.models.generations import cache_name
from scope.models.inference import Computed, Inference, token_ids
from scope.models.paths import Row
from scope.models.torch_setup import load_torch

STEP = 4
"""Continuations are padded to a multiple of this many tokens, so that few lengths occur."""


Rows = Sequence[Row]

IsOver = Callable[[Row], bool]

Notice = Callable[[int, Any], None] | None

Written = list[list[int] | None]


class Decoder(Computed):
    """A causal language model of the transformers library, run on rows of equal length only.

    The result of a row never depends on the other rows.

    Parameters
    ----------
    token_budget
        Most tokens of rows and continuations at once.
    """

    def __init__(self, model: Any, token_budget: int) -> None:
        self._model, self._budget = model, token_budget
        self._inference = Inference(model, self._try)
        self._cache = cache_name(model)
        self._keeps_some = "logits_to_keep" in inspect.signature(model.forward).parameters
        self.ends = frozenset(token_ids(model.generation_config, "eos"))

    def batches(self, rows: Rows, more: Row) -> Iterator[list[int]]:
        """Indices of rows that are read together; `score` bounds the tokens that follow itself."""
        del more
        return batches_of_equal_length(list(map(len, rows)), self._budget, ANSWERS_A_BATCH)

    def write(self, rows: Rows, longest: int, is_over: IsOver, notice: Notice = None) -> Written:
        """What the model writes after each row; see `write_greedily`.

        Parameters
        ----------
        rows
            The tokens of the prompts, all of the same length.
        longest
            Most tokens to be written.
        is_over
            Whether the tokens so far are enough; the model's own end tokens end a text too, and are
            left out of it.
        notice
            Gets each row with the logits of its next token.
        """
        past, read = None, self._tensor(rows)

        def logits_after(going: Row, _: Rows) -> Any:
            nonlocal past, read
            logits, past = self._run(read, past, keep=1)
            likeliest = logits.argmax(dim=-1)
            # Recurrent models have other caches: they read the whole text again.
            read = likeliest if past is not None else load_torch().cat([read, likeliest], dim=1)
            return logits[list(going), 0]

        return write_greedily(logits_after, len(rows), longest, is_over, self.ends, notice)

    def next_probabilities(self, rows: Rows) -> Any:
        """The probability of every token after each row: one row of doubles each; may be NaN."""
        logits, _ = self._run(self._tensor(rows), None, keep=1)
        # Not every device has float64.
        return logits[:, 0].cpu().double().softmax(dim=-1)

    def score(self, rows: Rows, continuations: Sequence[Rows]) -> list[list[float]]:
        """The mean log-probability of each continuation's tokens, given its row; NaN is possible.

        Parameters
        ----------
        rows
            The tokens of the prompts, all of the same length.
        continuations
            For each row the tokens of what may follow, at least one.
        """
        pairs = [(row, option) for row, several in enumerate(continuations) for option in several]
        # Options of one token share the input, which is the prompt alone.
        members: dict[tuple[int, ...], list[int]] = {}
        for number, (row, option) in enumerate(pairs):
            members.setdefault((*rows[row], *filled_up(option[:-1])), []).append(number)
        inputs, means = list(members), [0.0] * len(pairs)
        for batch in batches_of_equal_length(list(map(len, inputs)), self._budget):
            tokens = self._tensor([inputs[place] for place in batch])
            logits, _ = self._run(tokens, None, keep=tokens.shape[1] - len(rows[0]) + 1)
            for place, after in zip(batch, logits, strict=True):
                for number in members[inputs[place]]:
                    means[number] = mean_log_probability(after, pairs[number][1])
        in_order = iter(means)
        return [[next(in_order) for _ in several] for several in continuations]

    def _run(self, tokens: Any, past: Any, keep: int) -> tuple[Any, Any]:
        """The logits of the last ``keep`` positions, and the model's cache of the rows.

        The cache is that of the padded batch; the next step pads in the same way.
        """
        ran = self._inference.run(lambda tokens: self._call(tokens, past, keep), tokens=tokens)
        return ran[0], ran[1]

    def _call(self, tokens: Any, past: Any, keep: int) -> tuple[Any, Any]:
        # Logits at every position of a batch would fill gigabytes.
        only: dict[str, Any] = {"logits_to_keep": keep} if self._keeps_some else {}
        only[self._cache] = past
        answer = self._model(input_ids=tokens, use_cache=True, **only)
        return answer.logits[:, -keep:], getattr(answer, self._cache, None)

    def _try(self, tokens: Any) -> Any:
        """The logits after some tokens, and after one more token, which is read with the cache.

        Models without a cache read all tokens again.
        """
        first, past = self._call(tokens, None, keep=1)
        cat = load_torch().cat
        following = tokens[:, :1] if past is not None else cat([tokens, tokens[:, :1]], dim=1)
        return cat([first, self._call(following, past, keep=1)[0]], dim=1)


def filled_up(tokens: Row) -> list[int]:
    """Tokens with padding after them, which a causal model does not see."""
    return [*tokens, *([0] * (-len(tokens) % STEP))]


def mean_log_probability(logits: Any, tokens: Row) -> float:
    """The mean log-probability of one token at each of the first positions."""
    some = logits[: len(tokens)].cpu().double()
    chosen = some[list(range(len(tokens))), list(tokens)] - some.logsumexp(dim=-1)
    return float(sum(chosen.tolist())) / len(tokens)


def write_greedily(
    logits_after: Callable[[Row, Rows], Any],
    count: int,
    longest: int,
    is_over: IsOver,
    ends: Container[int],
    notice: Notice = None,
) -> Written:
    """What a model writes after each of ``count`` rows, always taking the likeliest next token.

    None where the likeliest has no finite logit: the model gives no number there.

    Parameters
    ----------
    logits_after
        The logits of the next token of each unfinished row, given the tokens written after all.

    Examples
    --------
    >>> logits = load_torch().eye(9)
    >>> write_greedily(lambda going, _: logits[[7 + row for row in going]], 2, 3, len, [8])
    [[7], []]
    """
    written: list[list[int]] = [[] for _ in range(count)]
    going, broken = list(range(count)), set()
    for _ in range(longest):
        logits, still = logits_after(going, written), []
        best = logits.max(dim=-1)
        pairs = zip(best.values.tolist(), best.indices.tolist(), strict=True)
        for place, (row, (value, token)) in enumerate(zip(going, pairs, strict=True)):
            if not math.isfinite(value):
                broken.add(row)
                continue
            if notice:
                notice(row, logits[place])
            if token in ends:
                continue
            written[row].append(token)
            if not is_over(written[row]):
                still.append(row)
        going = still
        if not going:
            break
    return [None if row in broken else tokens for row, tokens in enumerate(written)]
