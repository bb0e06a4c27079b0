"""``hf:NAME_OR_PATH[@REVISION]``: encoder-decoder models such as T5, which write their answers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

from scope.foreign import during_inference
from scope.models.batching import ANSWERS_A_BATCH, batches_of_equal_length
from scope.models.choosing import chosen
from scope.models.fitting import Fitted, fit_prompt
from scope.models.heads import Head, fingerprint_with, load_head
from scope.models.options import ModelOptions
from scope.models.prompts import Prompt, prompt_of
from scope.models.replies import READ_BY, answer_text
from scope.models.seq2seq import Seq2Seq
from scope.models.windows import cut_around
from scope.protocols import Answers
from scope.records import BLANK, Answer, Question

SENTINEL = "<extra_id_0>"
"""Where T5 was taught to put in what was taken out of a text."""


class TextToTextModel:
    """An encoder-decoder checkpoint in the roles of answerer and choice scorer.

    Answers are decoded greedily, whatever the checkpoint's own generation settings say. A passage
    that is too long for the model is cut at its end, and a question without one at its own, so
    that what the prompt says around them stays in view.
    """

    def __init__(
        self, head: Head, *, spec: str, options: ModelOptions, choice_prompt: Prompt | None = None
    ) -> None:
        self._head, self._options = head, options
        self._tokenizer, self._limit = head.tokenizer, head.limit
        self._model = Seq2Seq(head.model, spec)
        self._token_budget = options.token_budget
        self._longest = options.max_answer_tokens
        self._prompts = {
            "text_to_text_answer": prompt_of("text_to_text_answer", options),
            "choice": choice_prompt or prompt_of("choice", options),
        }
        self.spec = spec
        self.fingerprint = fingerprint_with(
            head.fingerprint,
            self._longest,
            READ_BY,
            *(prompt.template for prompt in self._prompts.values()),
        )
        self.prompts = {name: prompt.template for name, prompt in self._prompts.items()}

    @property
    def reproducible(self) -> str:
        """How equal an answer is in any batch; see `scope.models.inference`."""
        return self._model.reproducible

    def with_choice_prompt(self, prompt: Prompt) -> Self:
        """The same model, asked to choose with another prompt."""
        return type(self)(self._head, spec=self.spec, options=self._options, choice_prompt=prompt)

    @during_inference
    def answer(self, questions: Sequence[Question]) -> Answers:
        """Write an answer to each question; none where nothing is written."""
        prompt = self._prompts["text_to_text_answer"]
        asked = [self._tokens(prompt, question) for question in questions]
        for batch in self._batches([one.tokens for one in asked]):
            written = self._model.write([asked[index].tokens for index in batch], self._longest)
            for index, tokens in zip(batch, written, strict=True):
                text = answer_text(self._text(tokens))
                yield index, Answer(text=text, truncated=asked[index].truncated)

    @during_inference
    def choose(self, questions: Sequence[Question]) -> Answers:
        """Choose an option of each question.

        An option's score is the mean log-probability of its tokens, the end of the text among
        them, as what the decoder is to write; the probabilities are the softmax of the scores.

        Raises
        ------
        ValueError
            When a question has no options.
        """
        for question in questions:
            if not question.options:
                raise ValueError(f"question {question.id!r} has no options to choose from")
        asked = [self._tokens(self._prompts["choice"], question) for question in questions]
        options = [self._option_tokens(question) for question in questions]
        for batch in self._batches([one.tokens for one in asked]):
            scored = self._model.score(
                [asked[index].tokens for index in batch],
                [options[index] for index in batch],
                self._token_budget,
            )
            for index, scores in zip(batch, scored, strict=True):
                yield index, chosen(scores, truncated=asked[index].truncated)

    def _tokens(self, prompt: Prompt, question: Question) -> Fitted:
        return fit_prompt(question, self._limit, lambda asked: self._encode(prompt.render(asked)))

    def _encode(self, text: str) -> list[int]:
        return list(self._tokenizer(text, verbose=False)["input_ids"])

    def _option_tokens(self, question: Question) -> list[list[int]]:
        encoded = self._tokenizer(text_target=list(question.options), verbose=False)["input_ids"]
        return [tokens[: self._limit] for tokens in encoded]

    def _batches(self, encoded: Sequence[Sequence[int]]) -> Any:
        lengths = list(map(len, encoded))
        return batches_of_equal_length(lengths, self._token_budget, ANSWERS_A_BATCH)

    def _text(self, tokens: Sequence[int]) -> str:
        return str(self._tokenizer.decode(tokens, skip_special_tokens=True)).strip()


class SentinelModel(TextToTextModel):
    """A text-to-text checkpoint with T5's sentinels, which makes it a mask filler too."""

    @during_inference
    def fill(self, questions: Sequence[Question]) -> Answers:
        """Fill each question's blank, often with several words.

        The blank becomes the first sentinel, the decoder is started with it, and what it writes
        up to the next sentinel, or the end, is the filler; there is none where that is empty.

        Raises
        ------
        ValueError
            When a question's text does not hold exactly one blank.
        """
        asked = [self._around_sentinel(question) for question in questions]
        sentinels = tuple(self._sentinels())
        for batch in self._batches([tokens for tokens, _ in asked]):
            written = self._model.write(
                [asked[index][0] for index in batch],
                self._longest,
                start=(self._tokenizer.convert_tokens_to_ids(SENTINEL),),
                stops=sentinels,
            )
            for index, tokens in zip(batch, written, strict=True):
                text = self._text(tokens)
                yield index, Answer(text=text or None, truncated=asked[index][1])

    def _around_sentinel(self, question: Question) -> tuple[list[int], bool]:
        parts = question.text.split(BLANK)
        if len(parts) != 2:
            raise ValueError(f"question {question.id!r} has {len(parts) - 1} blanks in place of 1")
        # A text that speaks of the sentinel must not pass for one with several blanks.
        text = SENTINEL.join(part.replace(SENTINEL, " ") for part in parts)
        bare = self._tokenizer(text, add_special_tokens=False, verbose=False)["input_ids"]
        place = bare.index(self._tokenizer.convert_tokens_to_ids(SENTINEL))
        return cut_around(self._encode(text), bare, place, self._limit)

    def _sentinels(self) -> list[int]:
        vocabulary = self._tokenizer.get_vocab()
        return [vocabulary[token] for token in vocabulary if token.startswith("<extra_id_")]


def load(rest: str, options: ModelOptions) -> TextToTextModel:
    """Load a checkpoint as a text-to-text model; one with sentinels fills masks too.

    Raises
    ------
    ModelError
        When it is not there, is a pickle, cannot be read, or its head was never trained.
    SpecError
        When a prompt in the options is none.
    """
    head = load_head(rest, options, "Seq2SeqLM")
    kind = SentinelModel if _has_sentinels(head.tokenizer) else TextToTextModel
    return kind(head, spec=f"hf:{rest}", options=options)


def _has_sentinels(tokenizer: Any) -> bool:
    """Whether the sentinel is one token, in a text as well as in the vocabulary."""
    sentinel = tokenizer.get_vocab().get(SENTINEL)
    return sentinel is not None and sentinel in tokenizer(f"a {SENTINEL} b")["input_ids"]
