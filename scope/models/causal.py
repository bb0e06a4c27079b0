"""``hf:NAME_OR_PATH[@REVISION]``: causal language models, which continue a text."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from scope.errors import ModelError
from scope.models import prompts, replies
from scope.models.checkpoint import fingerprint_with
from scope.models.decoder import STEP, Decoder, Decoders, PathDecoder, Rows
from scope.models.endpoint import roles
from scope.models.endpoint.protocol import Position, Reply, is_letter
from scope.models.heads import Head
from scope.models.inference import ANSWERS_A_BATCH, batches_of_equal_length
from scope.models.options import LETTER_TOKENS, THOUGHT_TOKENS, ModelOptions
from scope.models.paths import batches_by_beginning
from scope.models.questions import chosen, next_tokens
from scope.models.spelling import Spelling
from scope.protocols import Answers
from scope.records import Prediction, Question
from scope.untrusted import during_inference

SCORED_TOKENS = 512
"""Tokens of whole texts that are scored at once: each has scores for the whole vocabulary."""


class CausalModel:
    """A causal language model: answers, fills blanks, scores options and predicts on.

    Questions are put with a prompt, as the user's message in the chat template, if the tokenizer
    has one and it is wanted. ``template`` is the text of the chat template around a message; empty
    where prompts are plain. ``form`` is how it chooses among options. Texts are decoded greedily,
    whatever the checkpoint's own generation settings say. With the option ``thinking`` the model
    begins its reply itself, and has room for a thought; words are scored without one. A thought
    that it begins unasked gets the room, too, unless the option is off. A passage that is too long
    for the model is cut at its end, so that the question stays in view.
    """

    def __init__(
        self,
        head: Head,
        spec: str,
        options: ModelOptions,
        choice_prompt: prompts.Prompt | None = None,
        decoders: Decoders | None = None,
    ) -> None:
        self.spec, self._head, self._options, self._limit = spec, head, options, head.limit
        self._decoders = decoders or Decoders(head.model, options.token_budget)
        thinks = options.thinking == "on"
        self._spelling = Spelling(head.tokenizer, spec, options.chat, thinks=thinks)
        self._thinks, self.template = thinks and self._spelling.is_chat, self._spelling.frame
        self._choice, self._labels = prompts.choice_prompt_name(options), choice_prompt is not None
        names = ("answer", self._choice, "cloze")
        asked_with = {self._choice: choice_prompt} if choice_prompt else {}
        self._prompts = {name: prompts.prompt_of(name, options) for name in names} | asked_with
        self.form = options.ask or "words"
        self.prompts = {name: prompt.template for name, prompt in self._prompts.items()}
        settings = (options.max_answer_tokens, options.next_tokens, options.thinking)
        asked = (replies.READ_BY, self._spelling.frame, *self.prompts.values(), self.form)
        self.fingerprint = fingerprint_with(head.fingerprint, *settings, *asked)

    @property
    def reproducible(self) -> str:
        """How reproducible an answer is across batches; see `scope.models.inference`."""
        return self._decoder.reproducible

    def with_choice_prompt(self, prompt: prompts.Prompt) -> CausalModel:
        """The same model, asked to choose with another prompt."""
        return CausalModel(self._head, self.spec, self._options, prompt, self._decoders)

    def prompt_as_read(self, name: str, question: Question) -> str:
        """A question in the prompt of that name, as it is read, with special tokens."""
        return self._spelling.as_read(self._fitted(name, question, self._most(name)).tokens)

    @property
    def _decoder(self) -> PathDecoder | Decoder:
        return self._decoders.chosen

    @during_inference
    def answer(self, questions: Sequence[Question]) -> Answers:
        """Write an answer to each question, one line long; none where the reply is empty."""
        yield from self._write(
            "answer", questions, replies.is_line, partial(roles.words_of, replies.answer_text)
        )

    @during_inference
    def fill(self, questions: Sequence[Question]) -> Answers:
        """Fill each question's blank with one word of the reply, the first where that is begun.

        Raises
        ------
        ValueError
            When a question's text does not hold exactly one blank.
        """
        begun = self._prompts["cloze"].begins_reply and not self._thinks
        is_over = replies.has_first_word if begun else replies.is_filler
        read = replies.first_word if begun else replies.filler
        yield from self._write("cloze", questions, is_over, partial(roles.words_of, read))

    @during_inference
    def choose(self, questions: Sequence[Question]) -> Answers:
        """Choose an option of each question.

        Asked for words, an option's score is the mean log-probability of its tokens as what follows
        the prompt; the probabilities are the softmax of the scores. Asked for letters, the model
        replies, and the reply is read as an endpoint's.

        Raises
        ------
        ValueError
            When a question has no options.
        ModelError
            When the tokenizer has no token for an option, or there are more options than letters.
        """
        if self.form == "letters":
            roles.require_letters(questions)
            read = partial(roles.choice_of, labels=self._labels)
            yield from self._write(self._choice, questions, is_letter, read)
        else:
            yield from self._by_words(questions)

    def _write(
        self,
        name: str,
        questions: Sequence[Question],
        is_over: Callable[[str], bool],
        read: roles.Read,
    ) -> Answers:
        most = self._most(name)
        expected = most + THOUGHT_TOKENS * self._thinks
        asked = [self._fitted(name, question, most) for question in questions]
        lengths = [len(fitted.tokens) + expected for fitted in asked]
        for batch in batches_of_equal_length(lengths, self._options.token_budget, ANSWERS_A_BATCH):
            rows = [asked[index].tokens for index in batch]
            written = self._replies(rows, most, is_over, likeliest=name == self._choice)
            for index, reply in zip(batch, written, strict=True):
                answer = roles.answer_in(reply, questions[index], read)
                yield index, replace(answer, truncated=asked[index].truncated)

    def _replies(
        self, rows: Rows, most: int, is_over: Callable[[str], bool], *, likeliest: bool
    ) -> Iterator[Reply]:
        """Replies as an endpoint gives them; the room for a thought is there for nothing else."""
        positions: list[list[Position]] = [[] for _ in rows]
        room = 0 if self._options.thinking == "off" else THOUGHT_TOKENS
        longest = max(1, min(most + room, self._limit - len(rows[0])))

        def is_cut(reply: str, tokens: Sequence[int]) -> bool:
            is_plain = replies.without_thought(reply) == reply
            return len(tokens) >= (min(most, longest) if is_plain else longest)

        def is_enough(tokens: Sequence[int]) -> bool:
            reply = self._reply(tokens)
            return is_over(reply) or is_cut(reply, tokens)

        def notice(row: int, logits: Any) -> None:
            likeliest = self._likeliest(logits.cpu().double().softmax(dim=-1), roles.LIKELIEST)
            positions[row].append(Position(token=likeliest[0][0], likeliest=likeliest))

        more = (notice,) if likeliest else ()
        written = self._decoder.write(rows, longest, is_enough, *more)
        for tokens, of_row in zip(written, positions, strict=True):
            if tokens is None:
                yield Reply(missing="no number")
            else:
                reply = self._reply(tokens)
                yield roles.reply_of(reply, cut=is_cut(reply, tokens), positions=of_row)

    def _likeliest(self, probabilities: Any, most: int) -> tuple[tuple[str, float], ...]:
        best = probabilities.topk(min(most, len(probabilities)))
        texts = map(self._spelling.as_it_follows, best.indices.tolist())
        return tuple(zip(texts, best.values.tolist(), strict=True))

    def _by_words(self, questions: Sequence[Question]) -> Answers:
        spelled = [self._option_tokens(question) for question in questions]
        most = max(1, self._limit // 2 - STEP)
        options = [[tokens[:most] for tokens in each] for each in spelled]
        asked = [
            self._fitted(self._choice, question, max(map(len, each)) + STEP)
            for question, each in zip(questions, options, strict=True)
        ]
        encoded = [fitted.tokens for fitted in asked]
        more = [sum(map(len, each)) for each in options]
        for batch in self._decoder.batches(encoded, more):
            rows = [encoded[index] for index in batch]
            scored = self._decoder.score(rows, [options[index] for index in batch])
            for index, scores in zip(batch, scored, strict=True):
                cut = asked[index].truncated or options[index] != spelled[index]
                yield index, chosen(scores, truncated=cut)

    @during_inference
    def predict_next(self, texts: Sequence[str]) -> list[Prediction]:
        """The likeliest tokens after each bare text; if a text is too long, its end is read."""
        opening = self._spelling.opening
        whole = [self._spelling.plain(text) for text in texts]
        first, most = len(opening), self._limit - len(opening)
        read = [[*opening, *tokens[first:][-most:]] for tokens in whole]
        predictions: dict[int, Prediction] = {}
        for batch in self._decoder.batches(read, [0] * len(read)):
            after = self._decoder.next_probabilities([read[index] for index in batch])
            for index, probabilities in zip(batch, after, strict=True):
                cut = len(read[index]) < len(whole[index])
                predictions[index] = self._prediction(probabilities, truncated=cut)
        return [predictions[index] for index in range(len(texts))]

    @during_inference
    def perplexities(self, texts: Sequence[str]) -> list[float]:
        """The perplexity of each bare text; see `scope.protocols.TextScorer`."""
        read = [self._spelling.started(text)[: self._limit] for text in texts]
        opening = max(1, len(self._spelling.start))
        several = [index for index, tokens in enumerate(read) if len(tokens) > opening]
        rows = [read[index] for index in several]
        values = [math.nan] * len(texts)
        for batch in batches_by_beginning(rows, [0] * len(rows), SCORED_TOKENS, ANSWERS_A_BATCH):
            begun = [rows[row][:opening] for row in batch]
            scored = self._decoder.score(begun, [[rows[row][opening:]] for row in batch])
            for row, (mean,) in zip(batch, scored, strict=True):
                values[several[row]] = math.exp(-mean)
        return values

    def _prediction(self, probabilities: Any, *, truncated: bool) -> Prediction:
        if probabilities.isnan().any():
            return Prediction(probabilities=(), truncated=truncated, missing="no number")
        most = self._options.next_tokens
        return next_tokens(self._likeliest(probabilities, most), most, truncated=truncated)

    def _reply(self, tokens: Sequence[int]) -> str:
        """The text of tokens, behind the tag with which the prompt has begun a thought."""
        begun = self._spelling.thought if self._thinks else ""
        return begun + self._spelling.text(tokens)

    def _most(self, name: str) -> int:
        """Most tokens of a reply to the prompt of that name, besides a thought."""
        return LETTER_TOKENS if name == self._choice else self._options.max_answer_tokens

    def _fitted(self, name: str, question: Question, most: int) -> prompts.Fitted:
        """A question in the prompt of that name, with room for ``most`` tokens or half the limit.

        A model that is to think before it writes begins its reply itself.
        """
        prompt, thinks = self._prompts[name], self._thinks and name != "choice"
        room = max(self._limit - most - THOUGHT_TOKENS * thinks, self._limit // 2)

        def tokens_of(asked: Question) -> list[int]:
            parts = prompt.parts(asked)
            if thinks:
                return self._spelling.prompt(parts.message)
            return self._spelling.prompt_with_reply(*parts, prompt.render(asked))

        return (prompts.fit_around_blank if name == "cloze" else prompts.fit_prompt)(
            question, room, tokens_of
        )

    def _option_tokens(self, question: Question) -> list[tuple[int, ...]]:
        follows = self._spelling.continuation
        spelled = [tuple(follows(option.strip())) for option in question.options]
        if () in spelled:
            option = question.options[spelled.index(())]
            raise ModelError(
                f"the tokenizer of `{self.spec}` has no token for the option {option!r}",
                expected="options that the model can read",
                fix="fix the option, or choose another model",
            )
        return spelled
