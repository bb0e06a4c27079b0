"""Runs an encoder-decoder on inputs of equal length: writes texts, or scores given ones."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

from scope.errors import ModelError
from scope.models.batching import batches_of_equal_length
from scope.models.decoder import filled_up, log_probabilities
from scope.models.heads import refuse_nan
from scope.models.inference import Inference
from scope.models.torch_setup import load_torch


class Seq2Seq:
    """An encoder-decoder of the transformers library, asked with rows of equal length alone."""

    def __init__(self, model: Any, spec: str) -> None:
        self._model = model
        self._spec = spec
        self._inference = Inference(model, self._try)
        settings = model.generation_config
        start = model.config.decoder_start_token_id
        self._start = settings.decoder_start_token_id if start is None else start
        if self._start is None:
            raise ModelError(
                f"`{spec}` has no decoder_start_token_id",
                expected="decoder_start_token_id in config.json",
                fix="add it to the checkpoint's config.json",
            )
        ends = settings.eos_token_id
        self._ends = tuple(ends) if isinstance(ends, list) else (ends,) * (ends is not None)
        # BART and its kin were taught to write their first token always.
        forced = settings.forced_bos_token_id
        self._opening = () if forced is None else (forced,)

    @property
    def reproducible(self) -> str:
        """How equal an answer is in any batch; see `scope.models.inference`."""
        return self._inference.reproducible

    def write(
        self,
        rows: Sequence[Sequence[int]],
        longest: int,
        *,
        start: Sequence[int] | None = None,
        stops: Sequence[int] = (),
    ) -> list[list[int]]:
        """What the decoder writes to each input, always taking the likeliest next token.

        Parameters
        ----------
        rows
            The tokens of the inputs, as many in each.
        longest
            Most tokens to be written.
        start
            What the decoder is to begin with; by default what the checkpoint prescribes.
        stops
            Tokens that end a text, beside the model's own; they are left out of it.
        """
        opening = self._opening if start is None else tuple(start)
        ends = {*stops, *self._ends}
        written: list[list[int]] = [[] for _ in rows]
        going = set(range(len(rows)))
        for tokens in islice(self._likeliest(rows, opening), longest):
            going -= {row for row in going if tokens[row] in ends}
            for row in going:
                written[row].append(tokens[row])
            if not going:
                break
        return written

    def _likeliest(
        self, rows: Sequence[Sequence[int]], opening: Sequence[int]
    ) -> Iterator[list[int]]:
        """The next token of every row, again and again."""
        states = self._encode(rows)
        given, past = self._tensor([[self._start, *opening]] * len(rows)), None

        def step(states: Any, given: Any) -> tuple[Any, Any]:
            answer = self._model(
                encoder_outputs=(states,),
                decoder_input_ids=given,
                past_key_values=past,
                use_cache=True,
            )
            return answer.logits, answer.past_key_values

        while True:
            logits, past = self._inference.run(step, states=states, given=given)
            refuse_nan(self._spec, logits)
            given = logits[:, -1:].argmax(dim=-1)
            yield given[:, 0].tolist()

    def score(
        self,
        rows: Sequence[Sequence[int]],
        targets: Sequence[Sequence[Sequence[int]]],
        token_budget: int,
    ) -> list[list[float]]:
        """The mean log-probability of each target's tokens, given its input.

        Every input is encoded once, however many targets it has.

        Parameters
        ----------
        rows
            The tokens of the inputs, as many in each.
        targets
            For each input the tokens of the texts that its decoder might write.
        token_budget
            Most tokens of inputs and targets at once.
        """
        scores = [[0.0] * len(several) for several in targets]
        pairs = [
            (row, which) for row, several in enumerate(targets) for which in range(len(several))
        ]
        inputs = [filled_up([self._start, *targets[row][which][:-1]]) for row, which in pairs]
        lengths = [len(rows[row]) + len(inputs[number]) for number, (row, _) in enumerate(pairs)]
        states = self._encode(rows)
        for batch in batches_of_equal_length(lengths, token_budget):
            members = [pairs[number] for number in batch]
            logits = self._inference.run(
                self._decoded,
                states=states[[row for row, _ in members]],
                given=self._tensor([inputs[number] for number in batch]),
            )
            refuse_nan(self._spec, logits)
            for (row, which), several in zip(members, logits, strict=True):
                wanted = targets[row][which]
                each = log_probabilities(several, wanted)
                scores[row][which] = sum(each) / len(wanted)
        return scores

    def _encode(self, rows: Sequence[Sequence[int]]) -> Any:
        return self._inference.run(self._encoded, tokens=self._tensor(rows))

    def _encoded(self, tokens: Any) -> Any:
        return self._model.get_encoder()(input_ids=tokens, return_dict=True).last_hidden_state

    def _decoded(self, states: Any, given: Any) -> Any:
        """The logits after every token of what the decoder is given."""
        return self._model(
            encoder_outputs=(states,), decoder_input_ids=given, use_cache=False
        ).logits

    def _try(self, tokens: Any) -> Any:
        """The logits after made-up tokens, encoded and then decoded."""
        return self._decoded(self._encoded(tokens), tokens)[:, -1]

    def _tensor(self, rows: Sequence[Sequence[int]]) -> Any:
        return load_torch().tensor([list(row) for row in rows], device=self._model.device)
