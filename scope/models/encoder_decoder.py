"""Runs an encoder-decoder, such as T5: writes texts, or scores given ones."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from scope.errors import ModelError
from scope.models.decoder import (
    FollowingDecoder,
    Measure,
    Measured,
    Rows,
    filled_up,
    last_of,
    places_of,
)
from scope.models.inference import ANSWERS_A_BATCH, Inference, batches_of_equal_length, token_ids
from scope.models.prefixes import Row
from scope.models.torch_setup import cache_name, load_torch
from scope.models.writing import Read, Spread, Start, Text, Writer, Written

BUCKET = 32
"""Inputs of an encoder-decoder are padded to a multiple of this many tokens."""

LEAVING = 0.75
"""Inputs whose texts are over leave the batch where at most this share goes on."""


class Seq2Seq(FollowingDecoder):
    """An encoder-decoder of the transformers library.

    Inputs are padded to a multiple of `BUCKET` tokens, which an input's own length decides alone:
    rows that are read together are equally long, and none depends on the others.
    """

    def __init__(self, model: Any, spec: str, limit: int, token_budget: int) -> None:
        self._model, self._limit, self._budget = model, limit, token_budget
        self._inference = Inference(model, self._try)
        self._cache = cache_name(model)
        settings = model.generation_config
        start = [*token_ids(model.config, "decoder_start"), *token_ids(settings, "decoder_start")]
        if not start:
            raise ModelError(
                f"`{spec}` has no decoder_start_token_id",
                expected="decoder_start_token_id in config.json",
                fix="add it to the checkpoint's config.json",
            )
        self._start = start[0]
        self.ends = frozenset(token_ids(settings, "eos"))
        # BART and similar models are trained to write their first token always.
        self.opening = tuple(token_ids(settings, "forced_bos")[:1])
        self.writer = Writer(self.ends, lambda: Spread(self.spread))

    def batches(self, rows: Rows, more: Row) -> Iterator[list[int]]:
        """Indices of inputs that are read together: those of one length, when padded."""
        del more
        lengths = [self._padded(len(row)) for row in rows]
        return batches_of_equal_length(lengths, self._budget, ANSWERS_A_BATCH)

    def _padded(self, length: int) -> int:
        return max(length, min(-(-length // BUCKET) * BUCKET, self._limit))

    def write(
        self, starts: Sequence[Start], opening: Row | None = None, stops: Row = ()
    ) -> Written:
        """What the decoder writes for each input of a batch.

        A draft is verified in one pass; a text that differs from it is written anew.

        Parameters
        ----------
        opening
            The first tokens of the decoder; by default those of the checkpoint.
        stops
            Tokens that end a text, besides the model's own; they are left out of it.
        """
        first = self.opening if opening is None else opening
        verified = self._verified(starts)
        yield from verified.items()
        left = [number for number in range(len(starts)) if number not in verified]
        if not left:
            return
        rest = [starts[number]._replace(draft=()) for number in left]
        read = self._in_steps(rest, first)
        written = self.writer.write(
            rest, read, lambda start: self._in_steps([start], first), more_ends=stops
        )
        yield from ((left[number], tokens) for number, tokens in written)

    def _in_steps(self, starts: Sequence[Start], opening: Row) -> Read:
        """What decodes inputs, in each step one token more of each that goes on."""
        states, mask = self._encode([start.tokens for start in starts])
        read = self._tensor([[self._start, *opening]] * len(starts))
        past: Any = None
        places = list(range(len(starts)))

        def compute(states: Any, mask: Any, read: Any) -> tuple[Any, Any]:
            more: dict[str, Any] = {self._cache: past, "use_cache": True, "attention_mask": mask}
            answer = self._model(encoder_outputs=(states,), decoder_input_ids=read, **more)
            return answer.logits[:, -1:], getattr(answer, self._cache)

        def step(texts: Sequence[Text]) -> list[Any]:
            nonlocal past, read, states, mask, places
            numbers = [text.number for text in texts]
            if len(numbers) < LEAVING * len(places) and hasattr(past, "reorder_cache"):
                kept = [places.index(number) for number in numbers]
                rows = load_torch().tensor(kept, device=self._model.device)
                states, mask = states[rows], mask[rows]
                past.reorder_cache(self._inference.padded(rows))
                places = numbers
            if texts[0].written:
                read = self._tensor(last_of(texts, places))
            logits, past = self._inference.run(compute, states=states, mask=mask, read=read)
            return [logits[places.index(number)] for number in numbers]

        return step

    def follow(
        self, rows: Rows, targets: Sequence[Rows], measure: Measure[Measured]
    ) -> list[list[Measured]]:
        """What is measured at the tokens of each target, given its input; see `score`.

        Every input, of which all are of the same length when padded, is encoded once.
        """
        pairs = places_of(targets)
        inputs = [filled_up([self._start, *targets[row][which][:-1]]) for row, which in pairs]
        (states, mask), measured = self._encode(rows), dict[tuple[int, int], Measured]()
        lengths = [states.shape[1] + len(tokens) for tokens in inputs]
        for batch in batches_of_equal_length(lengths, self._budget):
            members = [pairs[number] for number in batch]
            encoded = [row for row, _ in members]
            tokens = self._tensor([inputs[number] for number in batch])
            logits = self._inference.run(
                self._decoded, states=states[encoded], mask=mask[encoded], tokens=tokens
            )
            for (row, which), several in zip(members, logits, strict=True):
                measured[row, which] = measure(several[: len(targets[row][which])], row, which)
        return [
            [measured[row, which] for which in range(len(targets[row]))] for row in range(len(rows))
        ]

    def _encode(self, rows: Rows) -> tuple[Any, Any]:
        """The states of the encoder, and which of them stand for tokens."""
        length = self._padded(max(map(len, rows)))
        padding = next(iter(token_ids(self._model.config, "pad")), 0)
        tokens = self._tensor([[*row, *[padding] * (length - len(row))] for row in rows])
        mask = self._tensor([[1] * len(row) + [0] * (length - len(row)) for row in rows])
        return self._inference.run(self._encoded, tokens=tokens, mask=mask), mask

    def _encoded(self, tokens: Any, mask: Any) -> Any:
        encoder = self._model.get_encoder()
        return encoder(input_ids=tokens, attention_mask=mask, return_dict=True).last_hidden_state

    def _decoded(self, states: Any, mask: Any, tokens: Any) -> Any:
        """The logits after every token of the decoder's input."""
        more = {"attention_mask": mask, "decoder_input_ids": tokens, "use_cache": False}
        return self._model(encoder_outputs=(states,), **more).logits

    def _try(self, tokens: Any) -> Any:
        """Made-up tokens are encoded, one of them hidden as padding is, and then decoded."""
        mask = load_torch().ones_like(tokens)
        mask[:, 1:2] = 0
        return self._decoded(self._encoded(tokens, mask), mask, tokens)[:, -1]
