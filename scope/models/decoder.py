"""Runs a decoder: writes, scores or continues texts.

`Decoder` reads rows of equal length. `PathDecoder` reads rows of any length, each shared prefix
once: a text's answer is the same to the bit as if it were read alone, since its tokens pass the
same products, and the shapes of their attention do not depend on other texts
(`scope.models.prefixes`). Whether that holds for a model on this machine is measured, as is the
agreement with the model itself.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from threading import RLock
from typing import Any, NamedTuple, TypeVar

from scope.models.inference import (
    ANSWERS_A_BATCH,
    ANY_RULES,
    Computed,
    Inference,
    batches_of_equal_length,
    made_up_tokens,
    token_ids,
)
from scope.models.prefixes import BLOCK, Attention, Plan, Remembered, Row, batches_by_beginning
from scope.models.torch_setup import CHANGING_POSITIONS, cache_name, load_torch, position_kinds
from scope.models.writing import MOST_DRAFTED, Read, Spread, Start, State, Text, Writer, Written
from scope.protocols import attempt

STEP = 4
"""Continuations are padded to a multiple of this many tokens, so that few lengths occur."""


Rows = Sequence[Row]

Measured = TypeVar("Measured")

Measure = Callable[[Any, int, int], Measured]
"""From the logits in the place of each token of a continuation, the number of its row, and its
number among the continuations of the row."""


class Path(NamedTuple):
    """Tokens that are read, at least one, and those behind them that are scored.

    The last one may be `END`.
    """

    read: Row
    scored: Row


END = -1
"""Stands for whatever a model writes once a text is over."""


class FollowingDecoder(Computed):
    """What decoders have in common: they follow given tokens, score them and verify drafts."""

    opening: Row = ()
    """The tokens with which every text that it writes begins."""

    ends: frozenset[int]
    writer: Writer
    follow: Any

    @property
    def at_once(self) -> Spread:
        """How much logits of a text may differ if it is read at once, and not in steps."""
        return Spread(self.spread, close(self._model))

    def score(self, rows: Rows, continuations: Sequence[Rows]) -> list[list[float]]:
        """The mean log-probability of each continuation's tokens, given its row; NaN is possible.

        Parameters
        ----------
        rows
            The tokens of the prompts, or of the inputs of an encoder.
        continuations
            For each row the tokens of what may follow, at least one.
        """
        scores: list[list[float]] = self.follow(rows, continuations, means_of(continuations))
        return scores

    def _verified(self, starts: Sequence[Start]) -> dict[int, list[int]]:
        """What is written where one pass over the draft decides it, by the number of the start."""
        drafted = [number for number, start in enumerate(starts) if start.draft]
        step = max(1, MOST_DRAFTED // max((len(start.draft) + 1 for start in starts), default=1))
        verified: dict[int, list[int]] = {}
        for first in range(0, len(drafted), step):
            some = drafted[first : first + step]
            texts = [Text(number, starts[number]) for number in some]

            def extend(logits: Any, row: int, _: int, texts: list[Text] = texts) -> State:
                return texts[row].extend(logits[len(self.opening) :], self.ends, self.at_once)

            rows = [starts[number].tokens for number in some]
            # Any token may stand for the end: it is the last one, which is not read.
            targets = [[(*self.opening, *text.draft, 0)] for text in texts]
            states = self.follow(rows, targets, extend)
            verified |= {
                text.number: text.written
                for text, (state,) in zip(texts, states, strict=True)
                if state == "over"
            }
        self.writer.texts += len(verified)
        return verified


class Decoder(FollowingDecoder):
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
        self.writer = Writer(self.ends, lambda: Spread(self.spread))

    def batches(self, rows: Rows, more: Row) -> Iterator[list[int]]:
        """Indices of rows that are read together; `score` bounds the tokens that follow itself."""
        del more
        return batches_of_equal_length(list(map(len, rows)), self._budget, ANSWERS_A_BATCH)

    def write(self, starts: Sequence[Start]) -> Written:
        """What the model writes after each prompt; where it leaves a draft, from the beginning."""
        lengths = [len(start.tokens) + start.expected for start in starts]
        for whole in batches_of_equal_length(lengths, self._budget, ANSWERS_A_BATCH):
            verified = self._verified([starts[index] for index in whole])
            yield from ((whole[number], tokens) for number, tokens in verified.items())
            batch = [index for number, index in enumerate(whole) if number not in verified]
            together = [starts[index]._replace(draft=()) for index in batch]
            read = self._in_steps([start.tokens for start in together])
            written = self.writer.write(
                together, read, lambda start: self._in_steps([start.tokens])
            )
            yield from ((batch[number], tokens) for number, tokens in written)

    def _in_steps(self, rows: Rows) -> Read:
        """What reads rows of equal length, and in each step one token more of each."""
        past, read = None, self._tensor(rows)

        def step(texts: Sequence[Text]) -> list[Any]:
            nonlocal past, read
            if texts[0].written:
                written = self._tensor(last_of(texts, range(len(rows))))
                # Recurrent models have other caches: they read the whole text again.
                read = written if past is not None else load_torch().cat([read, written], dim=1)
            logits, past = self._run(read, past, keep=1)
            return [logits[text.number] for text in texts]

        return step

    def next_probabilities(self, rows: Rows) -> Any:
        """The probability of every token after each row: one row of doubles each; may be NaN."""
        logits, _ = self._run(self._tensor(rows), None, keep=1)
        # Not every device has float64.
        return logits[:, 0].cpu().double().softmax(dim=-1)

    def follow(
        self, rows: Rows, continuations: Sequence[Rows], measure: Measure[Measured]
    ) -> list[list[Measured]]:
        """What is measured at the tokens of each continuation, given its row; see `score`.

        The rows are equally long.
        """
        places = places_of(continuations)
        pairs = [(row, continuations[row][which]) for row, which in places]
        # Options of one token share the input, which is the prompt alone.
        members: dict[tuple[int, ...], list[int]] = {}
        for number, (row, option) in enumerate(pairs):
            members.setdefault((*rows[row], *filled_up(option[:-1])), []).append(number)
        inputs, measured = list(members), dict[int, Measured]()
        for batch in batches_of_equal_length(list(map(len, inputs)), self._budget):
            tokens = self._tensor([inputs[place] for place in batch])
            logits, _ = self._run(tokens, None, keep=tokens.shape[1] - len(rows[0]) + 1)
            for place, after in zip(batch, logits, strict=True):
                for number in members[inputs[place]]:
                    measured[number] = measure(after[: len(pairs[number][1])], *places[number])
        in_order = iter(range(len(pairs)))
        return [[measured[next(in_order)] for _ in several] for several in continuations]

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


def last_of(texts: Sequence[Text], numbers: Iterable[int]) -> list[list[int]]:
    """The last token of each text by its number; any one for a text that is over."""
    last = {text.number: text.written[-1] for text in texts}
    return [[last.get(number, 0)] for number in numbers]


def filled_up(tokens: Row) -> list[int]:
    """Tokens with padding after them, which a causal model does not see."""
    return [*tokens, *([0] * (-len(tokens) % STEP))]


def places_of(continuations: Sequence[Rows]) -> list[tuple[int, int]]:
    """The row of each continuation, and its number among those of the row."""
    return [
        (row, which) for row, several in enumerate(continuations) for which in range(len(several))
    ]


def means_of(continuations: Sequence[Rows]) -> Measure[float]:
    """What measures the mean log-probability of the tokens of continuations."""

    def mean(logits: Any, row: int, which: int) -> float:
        tokens = continuations[row][which]
        some = logits[: len(tokens)].cpu().double()
        chosen = some[list(range(len(tokens))), list(tokens)] - some.logsumexp(dim=-1)
        return float(sum(chosen.tolist())) / len(tokens)

    return mean


_RULES = tuple(rule for rule in ANY_RULES if rule.texts == 1 and not rule.batches)
"""All texts are in one row of tokens: there are no rows to add to a batch."""

_LENGTH = 12
"""The length of the texts with which a model is tried: beyond a block."""

_CLOSE, _COARSE = 1e-4, 0.05
"""Greatest difference from the unchanged model, as a share of its greatest logit: for float32, and
for lower precisions."""


class PathDecoder(FollowingDecoder):
    """A causal language model of the transformers library, run on rows of any length.

    Parameters
    ----------
    token_budget
        Most tokens in one batch; twice as many are cached between questions.
    """

    def __init__(self, model: Any, token_budget: int) -> None:
        self._model, self._budget = model, token_budget
        self._inference = Inference(model, self._try, rules=_RULES, lengths=[_LENGTH])
        self._remembered = Remembered(2 * token_budget)
        self._attention = Attention()
        self._state: object = None
        self._lock = RLock()
        self.ends = frozenset(token_ids(model.generation_config, "eos"))
        self.writer = Writer(self.ends, lambda: self.at_once)

    @cached_property
    def reads_alike(self) -> bool:
        """Whether the results equal those of the unchanged model, up to rounding.

        It is tried with some texts with a common prefix.
        """
        parameters = inspect.signature(self._model.forward).parameters
        kinds = "".join(map(position_kinds, self._model.modules()))
        lengths_decide = any(kind in kinds for kind in CHANGING_POSITIONS)
        if not {"position_ids", "logits_to_keep"} <= set(parameters) or lengths_decide:
            return False
        with load_torch().inference_mode():
            alike = attempt(self._compare)
        self._forget()
        return alike is True

    @property
    def at_once(self) -> Spread:
        """How much logits of a text may differ if it is read at once, and not in steps."""
        return Spread(self.spread)

    def batches(self, rows: Sequence[Row], more: Sequence[int]) -> Iterator[list[int]]:
        """Indices of rows that are read together, each with ``more`` tokens after it."""
        return batches_by_beginning(rows, more, self._budget, ANSWERS_A_BATCH)

    def write(self, starts: Sequence[Start]) -> Written:
        """What the model writes after each prompt, as it comes; see `scope.models.writing`."""

        def read(texts: Sequence[Text]) -> list[Any]:
            return self._after(
                [text.path for text in texts], [len(text.draft) + 1 for text in texts]
            )

        def read_alone(_: Start) -> Read:
            self._forget()
            return read

        return self.writer.write(starts, read, read_alone, self._budget, ahead=BLOCK)

    def next_probabilities(self, rows: Rows) -> Any:
        """The probability of every token after each row: one row of doubles each; may be NaN."""
        # Not every device has float64.
        several = [logits.cpu().double().softmax(dim=-1) for logits in self._after(rows)]
        return load_torch().cat(several)

    def follow(
        self, rows: Rows, continuations: Sequence[Rows], measure: Measure[Measured]
    ) -> list[list[Measured]]:
        """What is measured at the tokens of each continuation, given its row."""
        pairs = zip(rows, continuations, strict=True)
        paths = [(row, option) for row, several in pairs for option in several]
        inputs = [[*row, *option[:-1]] for row, option in paths]
        after = self._after(inputs, [len(option) for _, option in paths])
        read = zip(places_of(continuations), after, strict=True)
        measured = iter([measure(logits, *place) for place, logits in read])
        return [[next(measured) for _ in several] for several in continuations]

    def _after(self, rows: Rows, last: Row | None = None) -> list[Any]:
        """The logits at the ``last`` tokens of each row, by default at the last one."""
        with self._lock:
            # A model may come from a user's program, which may change its weights.
            state = [(weight.data_ptr(), weight._version) for weight in self._model.parameters()]
            if state != self._state:
                self._state = state
                self._forget()
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
        try:
            plan = self._remembered.plan(rows, [1] * len(rows) if last is None else last)
            wanted = list(dict.fromkeys(place for places in plan.wanted for place in places))
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

    def _try(self, tokens: Any) -> Any:
        """The logits after some tokens, and after one more token, read with the cache."""
        torch, rows = load_torch(), tokens.tolist()
        self._forget()
        first = self._read(rows, None, _as_given)
        then = self._read([[*row, row[0]] for row in rows], None, _as_given)
        self._forget()
        return torch.stack([torch.cat(both) for both in zip(first, then, strict=True)])

    def _compare(self) -> bool:
        first, second, *_ = made_up_tokens(self._model, _LENGTH).tolist()
        rows = [first, [*first[:7], *second[7:]], second[:5], [*second[:5], *first]]
        plain = [self._model(input_ids=self._tensor([row])).logits[0, -1] for row in rows]
        self._forget()
        # Two readings: the second reuses the prefix that it shares with the first.
        parts = (self._read(some, None, _as_given) for some in (rows[:2], rows[2:]))
        read = [logits[0] for part in parts for logits in part]
        share = close(self._model)
        return self._attends_to_windows() and all(
            bool((shared - alone).abs().max() <= share * alone.abs().max())
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


def close(model: Any) -> float:
    """The greatest difference by rounding of a model's logits, as a share of the greatest."""
    precision = load_torch().finfo(model.dtype).eps
    return _CLOSE if precision < _CLOSE else _COARSE


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
