"""Runs a decoder on texts of any length, reading each shared prefix once.

A text's answer is the same to the bit as if it were read alone: its tokens pass the same products,
and the shapes of their attention do not depend on other texts (`scope.models.paths`). Whether that
holds for a model on this machine is measured, as is the agreement with the model itself.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from threading import RLock
from typing import Any

from scope.models.batching import ANSWERS_A_BATCH, ANY_RULES
from scope.models.decoder import (
    Decoder,
    IsOver,
    Notice,
    Rows,
    Written,
    mean_log_probability,
    write_greedily,
)
from scope.models.generations import CHANGING_POSITIONS, position_kinds
from scope.models.inference import Computed, Inference, made_up_tokens, token_ids
from scope.models.paths import Attention, Plan, Remembered, Row, batches_by_beginning
from scope.models.torch_setup import load_torch
from scope.untrusted import attempt

_RULES = tuple(rule for rule in ANY_RULES if rule.texts == 1 and not rule.batches)
"""All texts are in one row of tokens: there are no rows to add to a batch."""

_LENGTHS = (3, 24)
"""Lengths of the texts with which a model is tried: within a block, and beyond one."""

_CLOSE, _COARSE = 1e-4, 0.05
"""Greatest difference from the unchanged model, as a share of its greatest logit: for float32, and
for lower precisions."""


class PathDecoder(Computed):
    """A causal language model of the transformers library, run on rows of any length.

    Parameters
    ----------
    token_budget
        Tokens that are cached between questions, and most in one batch.
    """

    def __init__(self, model: Any, token_budget: int) -> None:
        self._model, self._budget = model, token_budget
        self._inference = Inference(model, self._try, rules=_RULES, lengths=_LENGTHS)
        self._remembered = Remembered(token_budget)
        self._attention = Attention()
        self._state: object = None
        self._lock = RLock()
        self.ends = frozenset(token_ids(model.generation_config, "eos"))

    @cached_property
    def reads_alike(self) -> bool:
        """Whether the results equal those of the unchanged model, up to rounding.

        It is tried with some texts with a common prefix.
        """
        parameters = inspect.signature(self._model.forward).parameters
        if not {"position_ids", "logits_to_keep"} <= set(parameters) or self._lengths_decide():
            return False
        with load_torch().inference_mode():
            alike = attempt(self._compare)
        self._forget()
        return alike is True

    def batches(self, rows: Sequence[Row], more: Sequence[int]) -> Iterator[list[int]]:
        """Indices of rows that are read together, each with ``more`` tokens after it."""
        return batches_by_beginning(rows, more, self._budget, ANSWERS_A_BATCH)

    def write(self, rows: Rows, longest: int, is_over: IsOver, notice: Notice = None) -> Written:
        """What the model writes after each row; see `scope.models.decoder.Decoder.write`."""

        def logits_after(going: Row, written: Rows) -> Any:
            return load_torch().cat(self._after([[*rows[row], *written[row]] for row in going]))

        return write_greedily(logits_after, len(rows), longest, is_over, self.ends, notice)

    def next_probabilities(self, rows: Rows) -> Any:
        """The probability of every token after each row: one row of doubles each; may be NaN."""
        # Not every device has float64.
        several = [logits.cpu().double().softmax(dim=-1) for logits in self._after(rows)]
        return load_torch().cat(several)

    def score(self, rows: Rows, continuations: Sequence[Rows]) -> list[list[float]]:
        """The mean log-probability of each continuation's tokens, given its row; may be NaN."""
        pairs = zip(rows, continuations, strict=True)
        paths = [(row, option) for row, several in pairs for option in several]
        inputs = [[*row, *option[:-1]] for row, option in paths]
        after = self._after(inputs, [len(option) for _, option in paths])
        read = zip(paths, after, strict=True)
        means = iter([mean_log_probability(logits, option) for (_, option), logits in read])
        return [[next(means) for _ in several] for several in continuations]

    def _after(self, rows: Rows, last: Row | None = None) -> list[Any]:
        """The logits at the ``last`` tokens of each row, by default at the last one."""
        with self._lock:
            self._notice_changes()
            after = self._read(rows, last, self._inference.run)
            if any(logits.isnan().any() for logits in after):
                self._forget()
                if len(rows) > 1:
                    # Rows that are read together share the NaN of one.
                    counts = [1] * len(rows) if last is None else last
                    pairs = zip(rows, counts, strict=True)
                    return [self._after([row], [count])[0] for row, count in pairs]
        return after

    def _read(self, rows: Rows, last: Row | None, run: Callable[..., Any]) -> list[Any]:
        plan = self._remembered.plan(rows, [1] * len(rows) if last is None else last)
        wanted = list(dict.fromkeys(place for places in plan.wanted for place in places))
        try:
            tokens = self._tensor([plan.tokens])
            logits = run(lambda tokens: self._call(tokens, plan, wanted), tokens=tokens)
        except BaseException:
            # The tokens to be cached were not computed.
            self._forget()
            raise
        index_of = {place: index for index, place in enumerate(wanted)}
        return [logits[[index_of[place] for place in places]] for places in plan.wanted]

    def _call(self, tokens: Any, plan: Plan, wanted: Sequence[int]) -> Any:
        with self._attention.reading(plan, self._remembered.capacity, self._model):
            places, kept = self._tensor([plan.positions]), self._tensor(wanted)
            more = {"position_ids": places, "logits_to_keep": kept, "use_cache": False}
            answer = self._model(input_ids=tokens, **more)
        return answer.logits[0]

    def _forget(self) -> None:
        self._remembered.forget()
        self._attention.forget()

    def _notice_changes(self) -> None:
        """Clear the cache if the weights changed: a model may come from a user's program."""
        state = [(weight.data_ptr(), weight._version) for weight in self._model.parameters()]
        if state != self._state:
            self._state = state
            self._forget()

    def _try(self, tokens: Any) -> Any:
        """The logits after some tokens, and after one more token, read with the cache."""
        torch, rows = load_torch(), tokens.tolist()
        self._forget()
        first = self._read(rows, None, _as_given)
        then = self._read([[*row, row[0]] for row in rows], None, _as_given)
        self._forget()
        return torch.stack([torch.cat(both) for both in zip(first, then, strict=True)])

    def _compare(self) -> bool:
        torch = load_torch()
        first, second, *_ = made_up_tokens(self._model, _LENGTHS[-1]).tolist()
        rows = [first, [*first[:7], *second[7:]], second[:5], [*second[:5], *first]]
        plain = [self._model(input_ids=self._tensor([row])).logits[0, -1] for row in rows]
        self._forget()
        # Two readings: the second reuses the prefix that it shares with the first.
        parts = (self._read(some, None, _as_given) for some in (rows[:2], rows[2:]))
        read = [logits[0] for part in parts for logits in part]
        precision = torch.finfo(plain[0].dtype).eps
        close = _CLOSE if precision < _CLOSE else _COARSE
        return self._attends_to_windows() and all(
            bool((shared - alone).abs().max() <= close * alone.abs().max())
            for shared, alone in zip(read, plain, strict=True)
        )

    def _attends_to_windows(self) -> bool:
        """Whether each layer attended, and asked for a window if the model has one."""
        config, windows = self._model.config.get_text_config(), self._attention.windows.values()
        wanted = getattr(config, "sliding_window", None)
        if getattr(config, "use_sliding_window", True) is False:
            wanted = None
        return (
            len(windows) == config.num_hidden_layers
            and getattr(config, "attention_chunk_size", None) is None
            and (wanted is None or wanted in windows)
        )

    def _lengths_decide(self) -> bool:
        kinds = "".join(map(position_kinds, self._model.modules()))
        return any(kind in kinds for kind in CHANGING_POSITIONS)


def _as_given(compute: Callable[..., Any], **rows: Any) -> Any:
    return compute(**rows)


class Decoders:
    """The two ways to run a model; the first that holds is chosen at the first use.

    All roles of a model share them: each is measured once, and the cache is kept.
    """

    def __init__(self, model: Any, token_budget: int) -> None:
        self._model, self._budget = model, token_budget

    @cached_property
    def chosen(self) -> PathDecoder | Decoder:
        """By paths where the model allows it, unless only rows of equal length are exact."""
        by_paths = PathDecoder(self._model, self._budget)
        by_length = Decoder(self._model, self._budget)
        if by_paths.reads_alike and (by_paths.exact or not by_length.exact):
            return by_paths
        return by_length
