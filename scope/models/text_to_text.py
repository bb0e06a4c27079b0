"""``hf:NAME_OR_PATH[@REVISION]``: encoder-decoder models such as T5, which write their answers.

`Seq2Seq` runs one on inputs of equal length: it writes texts, or scores given ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Self

from scope.errors import ModelError
from scope.models.checkpoint import fingerprint_with
from scope.models.decoder import Rows, Written, filled_up, mean_log_probability, write_greedily
from scope.models.endpoint.protocol import Reply
from scope.models.endpoint.roles import Words, answer_in, reply_of, words_of
from scope.models.heads import Head
from scope.models.inference import (
    ANSWERS_A_BATCH,
    Computed,
    Inference,
    batches_of_equal_length,
    token_ids,
)
from scope.models.options import ModelOptions
from scope.models.paths import Row
from scope.models.prompts import (
    Fitted,
    Prompt,
    choice_prompt_name,
    cut_around,
    fit_prompt,
    option_letter,
    prompt_of,
)
from scope.models.questions import chosen
from scope.models.replies import READ_BY, answer_text
from scope.models.torch_setup import cache_name
from scope.protocols import Answers
from scope.records import BLANK, Question
from scope.untrusted import during_inference


class Seq2Seq(Computed):
    """An encoder-decoder of the transformers library, run on rows of equal length only."""

    def __init__(self, model: Any, spec: str) -> None:
        self._model = model
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
        self._ends = token_ids(settings, "eos")
        # BART and similar models are trained to write their first token always.
        self._opening = tuple(token_ids(settings, "forced_bos")[:1])

    def write(self, rows: Rows, longest: int, start: Row | None = None, stops: Row = ()) -> Written:
        """What the decoder writes for each input, always taking the likeliest next token.

        Parameters
        ----------
        rows
            The tokens of the inputs, all of the same length.
        longest
            Most tokens to be written.
        start
            The first tokens of the decoder; by default those of the checkpoint.
        stops
            Tokens that end a text, besides the model's own; they are left out of it.
        """
        states, past = self._encode(rows), None
        opening = [self._start, *(self._opening if start is None else start)]
        read = self._tensor([opening] * len(rows))

        def step(states: Any, read: Any) -> tuple[Any, Any]:
            more: dict[str, Any] = {self._cache: past, "use_cache": True}
            answer = self._model(encoder_outputs=(states,), decoder_input_ids=read, **more)
            return answer.logits, getattr(answer, self._cache)

        def logits_after(going: Row, _: Rows) -> Any:
            nonlocal past, read
            logits, past = self._inference.run(step, states=states, read=read)
            read = logits[:, -1:].argmax(dim=-1)
            return logits[list(going), -1]

        ends = {*stops, *self._ends}
        return write_greedily(logits_after, len(rows), longest, lambda _: False, ends)

    def score(self, rows: Rows, targets: Sequence[Rows], budget: int) -> list[list[float]]:
        """The mean log-probability of each target's tokens, given its input; NaN is possible.

        Every input is encoded once for all its targets.

        Parameters
        ----------
        rows
            The tokens of the inputs, all of the same length.
        targets
            For each input the tokens of the texts that its decoder might write.
        budget
            Most tokens of inputs and targets at once.
        """
        scores = [[0.0] * len(several) for several in targets]
        pairs = [(row, which) for row in range(len(rows)) for which in range(len(targets[row]))]
        inputs = [filled_up([self._start, *targets[row][which][:-1]]) for row, which in pairs]
        lengths = [len(rows[row]) + len(inputs[number]) for number, (row, _) in enumerate(pairs)]
        states = self._encode(rows)
        for batch in batches_of_equal_length(lengths, budget):
            members = [pairs[number] for number in batch]
            encoded = states[[row for row, _ in members]]
            read = self._tensor([inputs[number] for number in batch])
            logits = self._inference.run(self._decoded, states=encoded, given=read)
            for (row, which), several in zip(members, logits, strict=True):
                scores[row][which] = mean_log_probability(several, targets[row][which])
        return scores

    def _encode(self, rows: Rows) -> Any:
        return self._inference.run(self._encoded, tokens=self._tensor(rows))

    def _encoded(self, tokens: Any) -> Any:
        return self._model.get_encoder()(input_ids=tokens, return_dict=True).last_hidden_state

    def _decoded(self, states: Any, given: Any) -> Any:
        """The logits after every token of the decoder's input."""
        return self._model(
            encoder_outputs=(states,), decoder_input_ids=given, use_cache=False
        ).logits

    def _try(self, tokens: Any) -> Any:
        """The logits after made-up tokens, encoded and then decoded."""
        return self._decoded(self._encoded(tokens), tokens)[:, -1]


SENTINEL = "<extra_id_0>"
"""T5's placeholder for a part taken out of a text."""


class TextToTextModel:
    """An encoder-decoder checkpoint in the roles of answerer and choice scorer.

    Answers are decoded greedily, whatever the checkpoint's own generation settings say. A passage
    that is too long for the model is cut at its end, and so is a question without one, so that the
    prompt around them stays in view.
    """

    def __init__(
        self, head: Head, spec: str, options: ModelOptions, choice_prompt: Prompt | None = None
    ) -> None:
        self._head, self._options = head, options
        self._tokenizer, self._limit = head.tokenizer, head.limit
        self._model = Seq2Seq(head.model, spec)
        self._token_budget = options.token_budget
        self._longest = options.max_answer_tokens
        self._choice = choice_prompt_name(options)
        self._prompts = {
            "text_to_text_answer": prompt_of("text_to_text_answer", options),
            self._choice: choice_prompt or prompt_of(self._choice, options),
        }
        self.spec = spec
        self.form, self.template = options.ask or "words", ""
        self.prompts = {name: prompt.template for name, prompt in self._prompts.items()}
        settings = (self._longest, READ_BY, *self.prompts.values(), self.form)
        self.fingerprint = fingerprint_with(head.fingerprint, *settings)

    @property
    def reproducible(self) -> str:
        """How reproducible an answer is across batches; see `scope.models.inference`."""
        return self._model.reproducible

    def with_choice_prompt(self, prompt: Prompt) -> Self:
        """The same model, asked to choose with another prompt."""
        return type(self)(self._head, spec=self.spec, options=self._options, choice_prompt=prompt)

    def prompt_as_read(self, name: str, question: Question) -> str:
        """A question in the prompt of that name, as it is read, with special tokens."""
        return str(self._tokenizer.decode(self._tokens(self._prompts[name], question).tokens))

    @during_inference
    def answer(self, questions: Sequence[Question]) -> Answers:
        """Write an answer to each question; none where the text is empty."""
        prompt = self._prompts["text_to_text_answer"]
        asked = [self._tokens(prompt, question) for question in questions]
        yield from self._write(asked, questions, answer_text)

    def _write(
        self, asked: Sequence[Fitted], questions: Sequence[Question], read: Words, **how: Row
    ) -> Answers:
        for batch in self._batches([fitted.tokens for fitted in asked]):
            rows = [asked[index].tokens for index in batch]
            written = self._model.write(rows, self._longest, **how)
            for index, tokens in zip(batch, written, strict=True):
                reply = Reply(missing="no number")
                if tokens is not None:
                    text = self._tokenizer.decode(tokens, skip_special_tokens=True)
                    reply = reply_of(str(text).strip(), cut=len(tokens) >= self._longest)
                answer = answer_in(reply, questions[index], partial(words_of, read))
                yield index, replace(answer, truncated=asked[index].truncated)

    @during_inference
    def choose(self, questions: Sequence[Question]) -> Answers:
        """Choose an option of each question.

        The score of an option, or of its letter, is the mean log-probability of its tokens, the end
        of the text included, as the decoder's output; the probabilities are the softmax of the
        scores.

        Raises
        ------
        ValueError
            When a question has no options.
        """
        asked = [self._tokens(self._prompts[self._choice], question) for question in questions]
        options = [self._option_tokens(question) for question in questions]
        for batch in self._batches([fitted.tokens for fitted in asked]):
            rows = [asked[index].tokens for index in batch]
            targets = [options[index] for index in batch]
            scored = self._model.score(rows, targets, self._token_budget)
            for index, scores in zip(batch, scored, strict=True):
                yield index, chosen(scores, truncated=asked[index].truncated)

    def _tokens(self, prompt: Prompt, question: Question) -> Fitted:
        return fit_prompt(question, self._limit, lambda asked: self._encode(prompt.render(asked)))

    def _encode(self, text: str) -> list[int]:
        return list(self._tokenizer(text, verbose=False)["input_ids"])

    def _option_tokens(self, question: Question) -> list[list[int]]:
        letters = [option_letter(index) for index in range(len(question.options))]
        options = letters if self.form == "letters" else list(question.options)
        encoded = self._tokenizer(text_target=options, verbose=False)["input_ids"]
        return [tokens[: self._limit] for tokens in encoded]

    def _batches(self, encoded: Sequence[Sequence[int]]) -> Any:
        lengths = list(map(len, encoded))
        return batches_of_equal_length(lengths, self._token_budget, ANSWERS_A_BATCH)


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
        start = (self._tokenizer.convert_tokens_to_ids(SENTINEL),)
        vocabulary = self._tokenizer.get_vocab()
        stops = [vocabulary[token] for token in vocabulary if token.startswith("<extra_id_")]
        yield from self._write(asked, questions, lambda t: t or None, start=start, stops=stops)

    def _around_sentinel(self, question: Question) -> Fitted:
        parts = question.text.split(BLANK)
        # A text that mentions the sentinel must not count as one with several blanks.
        text = SENTINEL.join(part.replace(SENTINEL, " ") for part in parts)
        bare = self._tokenizer(text, add_special_tokens=False, verbose=False)["input_ids"]
        place = bare.index(self._tokenizer.convert_tokens_to_ids(SENTINEL))
        return Fitted(*cut_around(self._encode(text), bare, place, self._limit))


def text_to_text_model(head: Head, spec: str, options: ModelOptions) -> TextToTextModel:
    """A text-to-text model; one with sentinels fills masks too."""
    sentinel = head.tokenizer.get_vocab().get(SENTINEL)
    # One token, in a text as well as in the vocabulary.
    if sentinel is not None and sentinel in head.tokenizer(f"a {SENTINEL} b")["input_ids"]:
        return SentinelModel(head, spec, options)
    return TextToTextModel(head, spec, options)
