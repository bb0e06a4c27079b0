"""Runs a decoder on inputs of equal length: writes texts, scores given ones, or reads on."""

from __future__ import annotations

import copy
import inspect
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from scope.models.batching import ANSWERS_A_BATCH, batches_of_equal_length
from scope.models.generations import cache_name, selects_rows
from scope.models.heads import refuse_nan
from scope.models.inference import Computed, Inference, token_ids
from scope.models.torch_setup import load_torch, quiet_transformers

STEP = 4
"""Continuations are padded to a multiple of so many tokens, so that few lengths occur."""


class Decoder(Computed):
    """A causal language model of the transformers library, asked with rows of equal length alone.

    What a row gives never depends on the rows beside it.

    Parameters
    ----------
    spec
        How the user named the model.
    token_budget
        Most tokens of rows and continuations at once.
    """

    def __init__(self, model: Any, spec: str, token_budget: int) -> None:
        self._model, self._spec, self._budget = model, spec, token_budget
        self._inference = Inference(model, self._try)
        self._cache = cache_name(model)
        self._keeps_some = "logits_to_keep" in inspect.signature(model.forward).parameters
        self._ends = frozenset(token_ids(model.generation_config, "eos"))

    def batches(self, rows: Sequence[Sequence[int]], more: Sequence[int]) -> Iterator[list[int]]:
        """Indices of rows that are read together; `score` bounds the tokens that follow itself."""
        del more
        return batches_of_equal_length(list(map(len, rows)), self._budget, ANSWERS_A_BATCH)

    def write(
        self, rows: Sequence[Sequence[int]], longest: int, is_over: Callable[[Sequence[int]], bool]
    ) -> list[list[int]]:
        """What the model writes after each row, always taking the likeliest next token.

        Parameters
        ----------
        rows
            The tokens of the prompts, as many in each.
        longest
            Most tokens to be written.
        is_over
            Whether what was written so far is all that is wanted; the model's own end tokens end
            a text too, and are left out of it.
        """
        written: list[list[int]] = [[] for _ in rows]
        going, past, given = set(range(len(rows))), None, self._tensor(rows)
        for _ in range(longest):
            logits, past = self._run(given, past, keep=1)
            following = logits.argmax(dim=-1)
            # Recurrent models remember in ways of their own: they read all of it again.
            given = following if past is not None else load_torch().cat([given, following], dim=1)
            # Rows that are over run on until all are: what they say then is not listened to.
            for row, token in enumerate(following[:, 0].tolist()):
                if row not in going:
                    continue
                if token in self._ends:
                    going.discard(row)
                    continue
                written[row].append(token)
                if is_over(written[row]):
                    going.discard(row)
            if not going:
                break
        return written

    def next_probabilities(self, rows: Sequence[Sequence[int]]) -> Any:
        """The probability of every token after each row: one row of doubles each."""
        logits, _ = self._run(self._tensor(rows), None, keep=1)
        # Not every device has float64.
        return logits[:, 0].cpu().double().softmax(dim=-1)

    def score(
        self,
        rows: Sequence[Sequence[int]],
        continuations: Sequence[Sequence[Sequence[int]]],
    ) -> list[list[float]]:
        """The mean log-probability of each continuation's tokens, given its row.

        Every row is read once, however many continuations it has.

        Parameters
        ----------
        rows
            The tokens of the prompts, as many in each.
        continuations
            For each row the tokens of what may follow, at least one.
        """
        prompts = self._tensor(rows)
        logits, past = self._run(prompts, None, keep=1)
        firsts = [[tokens[0] for tokens in several] for several in continuations]
        sums = [
            log_probabilities(logits[row].expand(len(tokens), -1), tokens)
            for row, tokens in enumerate(firsts)
        ]
        longer = [
            (row, which)
            for row, several in enumerate(continuations)
            for which, tokens in enumerate(several)
            if len(tokens) > 1
        ]
        inputs = [filled_up(continuations[row][which][:-1]) for row, which in longer]
        lengths = [len(rows[0]) + len(tokens) for tokens in inputs]
        for batch in batches_of_equal_length(lengths, self._budget):
            places = [longer[number][0] for number in batch]
            following = self._tensor([inputs[number] for number in batch])
            logits = self._follow(prompts, past, places, following)
            for number, scores in zip(batch, logits, strict=True):
                row, which = longer[number]
                sums[row][which] += sum(log_probabilities(scores, continuations[row][which][1:]))
        return [
            [total / len(tokens) for total, tokens in zip(totals, several, strict=True)]
            for totals, several in zip(sums, continuations, strict=True)
        ]

    def _follow(self, prompts: Any, past: Any, places: Sequence[int], following: Any) -> Any:
        """The logits at every token that follows one of the prompts, which are not read again."""
        width = following.shape[1]

        def follow(tokens: Any, places: Any) -> Any:
            if type(past) is quiet_transformers().DynamicCache and selects_rows(past):
                return self._call(tokens, _rows_of(past, places), width)[0]
            # Whatever else a model remembers by may not be shared between rows.
            whole = load_torch().cat([prompts[places], tokens], dim=1)
            return self._call(whole, None, width)[0]

        logits = self._inference.run(follow, tokens=following, places=self._tensor(places))
        refuse_nan(self._spec, logits)
        return logits

    def _run(self, tokens: Any, past: Any, keep: int) -> tuple[Any, Any]:
        """The logits of the last so many places, and what the model remembers of the rows.

        What it remembers is of a batch that was padded, as it is again in the next step.
        """
        logits, past = self._inference.run(
            lambda tokens: self._call(tokens, past, keep), tokens=tokens
        )
        refuse_nan(self._spec, logits)
        return logits, past

    def _call(self, tokens: Any, past: Any, keep: int) -> tuple[Any, Any]:
        # Over the whole vocabulary at every place of a batch they would fill gigabytes.
        only: dict[str, Any] = {"logits_to_keep": keep} if self._keeps_some else {}
        only[self._cache] = past
        answer = self._model(input_ids=tokens, use_cache=True, **only)
        return answer.logits[:, -keep:], getattr(answer, self._cache, None)

    def _try(self, tokens: Any) -> Any:
        """The logits after some tokens, and after one more, which is read with what is remembered.

        Models without a cache read all of it again.
        """
        first, past = self._call(tokens, None, keep=1)
        cat = load_torch().cat
        given = tokens[:, :1] if past is not None else cat([tokens, tokens[:, :1]], dim=1)
        return cat([first, self._call(given, past, keep=1)[0]], dim=1)


def filled_up(tokens: Sequence[int]) -> list[int]:
    """Tokens with some more behind them, which a causal model does not see before these."""
    return [*tokens, *([0] * (-len(tokens) % STEP))]


def _rows_of(past: Any, places: Any) -> Any:
    """What a model remembers of these rows, the same row maybe several times; a copy."""
    chosen = copy.copy(past)
    chosen.layers = [copy.copy(layer) for layer in past.layers]
    chosen.batch_select_indices(places)
    return chosen


def log_probabilities(logits: Any, tokens: Sequence[int]) -> list[float]:
    """Of one token at each place, the first places of the logits."""
    some = logits[: len(tokens)].cpu().double()
    chosen = some[list(range(len(tokens))), list(tokens)]
    return [float(value) for value in chosen - some.logsumexp(dim=-1)]
