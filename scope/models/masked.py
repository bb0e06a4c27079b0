"""``hf:NAME_OR_PATH[@REVISION]``: masked language models, which fill blanks."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

from scope.errors import ModelError
from scope.models.batching import batches_of_equal_length, portions_by_length
from scope.models.heads import Head
from scope.models.huggingface import DECIMALS
from scope.models.inference import Computed, Inference
from scope.models.options import ModelOptions
from scope.models.prompts import cut_around
from scope.models.spelling import word_pieces
from scope.models.torch_setup import load_torch
from scope.protocols import Answers
from scope.records import BLANK, Answer, Question
from scope.untrusted import during_inference

MOST_PIECES = 3
"""Tokens that a filler may be made of."""

FILLERS = 5
"""The most answers per question, others included."""


class _Masks(NamedTuple):
    """A question with its blank as that many mask tokens, from ``first`` on."""

    tokens: list[int]
    first: int
    pieces: int
    after_space: bool
    truncated: bool


class _Filler(NamedTuple):
    """A word, and the mean log-probability of its tokens."""

    score: float
    word: str


class MaskedModel(Computed):
    """A masked-language-modelling checkpoint in the role of mask filler.

    The blank becomes one, two and three mask tokens in turn. One mask gives its likeliest words.
    Several are filled from left to right, each with the likeliest token given those before it:
    the first must begin a word, the later ones continue it. A candidate's score is the mean
    log-probability of its tokens, each at the step that fills it in, over the whole vocabulary.

    Raises
    ------
    ModelError
        When the tokenizer has no mask token.
    """

    def __init__(self, head: Head, spec: str, options: ModelOptions) -> None:
        mask = head.tokenizer.mask_token
        written = head.tokenizer(mask, verbose=False)["input_ids"] if mask else []
        # Otherwise the mask is not found in its text, or cut from it.
        room = len(written) + MOST_PIECES - 1 <= head.limit if mask else False
        if not room or head.tokenizer.mask_token_id not in written:
            raise ModelError(
                f"the tokenizer of `{spec}` has no mask token, or cannot write it",
                expected=f"a masked language model that reads {MOST_PIECES} masks in a text",
                fix="check the checkpoint's special_tokens_map.json, and its limits of tokens",
            )
        torch = load_torch()
        self._model, self._tokenizer, self.fingerprint, self._limit = head
        self._token_budget = options.token_budget
        self._inference = Inference(
            self._model, lambda tokens: self._logits(tokens, torch.zeros_like(tokens[:, 0]))
        )
        self.spec = spec
        allowed = word_pieces(self._tokenizer, self._model.config.vocab_size)
        self._begins, self._opens, self._continues = map(torch.from_numpy, allowed)

    @during_inference
    def fill(self, questions: Sequence[Question]) -> Answers:
        """Fill each question's blank with a word; ``others`` are up to four more.

        Raises
        ------
        ValueError
            When a question's text does not hold exactly one blank.
        """
        every = range(1, MOST_PIECES + 1)
        masked = [self._mask(question, pieces) for question in questions for pieces in every]
        lengths = [len(masks.tokens) for masks in masked]
        for portion in portions_by_length(lengths[::MOST_PIECES]):
            pieces = range(MOST_PIECES)
            numbers = [index * MOST_PIECES + piece for piece in pieces for index in portion]
            fillers: dict[int, list[_Filler]] = {index: [] for index in portion}
            together = [lengths[number] for number in numbers]
            for batch in batches_of_equal_length(together, self._token_budget):
                filled = self._fill([masked[numbers[row]] for row in batch])
                for row, words in zip(batch, filled, strict=True):
                    fillers[numbers[row] // MOST_PIECES] += words
            for index in portion:
                variants = masked[index * MOST_PIECES : (index + 1) * MOST_PIECES]
                cut = any(masks.truncated for masks in variants)
                yield index, _answer(fillers[index], truncated=cut)

    def _mask(self, question: Question, pieces: int) -> _Masks:
        parts = question.text.split(BLANK)
        mask = self._tokenizer.mask_token
        # A text that mentions the mask must not count as one with several blanks.
        before, after = (part.replace(mask, " ") for part in parts)
        text = f"{before}{mask * pieces}{after}"
        framed = self._tokenizer(text, verbose=False)["input_ids"]
        bare = self._tokenizer(text, add_special_tokens=False, verbose=False)["input_ids"]
        middle = bare.index(self._tokenizer.mask_token_id) + pieces // 2
        tokens, truncated = cut_around(framed, bare, middle, self._limit)
        first, is_apart = tokens.index(self._tokenizer.mask_token_id), before[-1:].isspace()
        return _Masks(tokens, first, pieces, after_space=is_apart, truncated=truncated)

    def _fill(self, batch: Sequence[_Masks]) -> list[list[_Filler]]:
        """The fillers of each question of a batch: several for one mask, one for several."""
        torch = load_torch()
        tokens = torch.tensor([masks.tokens for masks in batch])
        scores: list[Any] = [0.0] * len(batch)
        fillers: list[list[_Filler]] = [[] for _ in batch]
        for step in range(max(masks.pieces for masks in batch)):
            rows = [row for row, masks in enumerate(batch) if masks.pieces > step]
            places = [batch[row].first + step for row in rows]
            there = self._log_probabilities(tokens[rows], places)
            for row, place, every in zip(rows, places, there, strict=True):
                masks = batch[row]
                begins = self._begins if masks.after_space else self._opens
                allowed = self._continues if step else begins
                most = min(len(every), FILLERS if masks.pieces == 1 else 1)
                best = every.masked_fill(~allowed, -math.inf).topk(most)
                tokens[row, place] = best.indices[0]
                scores[row] = scores[row] + best.values / masks.pieces
                if step == masks.pieces - 1:
                    spelled = [[*tokens[row, masks.first : place], last] for last in best.indices]
                    fillers[row] = self._words(scores[row].tolist(), spelled)
        return fillers

    def _words(self, scores: Sequence[float], spelled: Sequence[Sequence[Any]]) -> list[_Filler]:
        """The candidates that are words; one that no allowed token can fill has the score -∞."""
        decoded = [self._tokenizer.decode([int(token) for token in each]) for each in spelled]
        words = [word.strip() for word in decoded]
        return [
            _Filler(round(score, DECIMALS), word)
            for score, word in zip(scores, words, strict=True)
            if score != -math.inf and word and not any(map(str.isspace, word))
        ]

    def _log_probabilities(self, tokens: Any, places: Sequence[int]) -> Any:
        """Log-probabilities of the whole vocabulary, at one position in each row."""
        there = self._inference.run(
            self._logits, tokens=tokens.to(self._model.device), places=self._tensor(places)
        )
        # Not every device has float64.
        return there.cpu().double().log_softmax(dim=-1)

    def _logits(self, tokens: Any, places: Any) -> Any:
        rows = load_torch().arange(len(places), device=places.device)

        def only_there(module: Any, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
            return (inputs[0][rows, places].unsqueeze(1), *inputs[1:])

        # Scores over the vocabulary for every token of a batch would fill a gigabyte.
        projection = self._model.get_output_embeddings()
        hook = projection.register_forward_pre_hook(only_there) if projection is not None else None
        try:
            logits = self._model(input_ids=tokens).logits
        finally:
            if hook is not None:
                hook.remove()
        # Some heads multiply with the projection's weights themselves, and score every place.
        return logits[:, 0] if logits.shape[1] == 1 else logits[rows, places]


def _answer(fillers: Sequence[_Filler], *, truncated: bool) -> Answer:
    """The best fillers; a word that was spelled in two ways counts once, with its better score."""
    if any(math.isnan(filler.score) for filler in fillers):
        return Answer(truncated=truncated, missing="no number")
    ranked = sorted(fillers, key=lambda filler: (-filler.score, filler.word))
    words = list(dict.fromkeys(filler.word for filler in ranked))[:FILLERS]
    if not words:
        return Answer(truncated=truncated)
    return Answer(text=words[0], others=tuple(words[1:]), truncated=truncated)
