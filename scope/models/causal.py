"""``hf:NAME_OR_PATH[@REVISION]``: causal language models, which continue a text."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from scope.errors import ModelError
from scope.models.batching import ANSWERS_A_BATCH, batches_of_equal_length
from scope.models.checkpoint import fingerprint_with
from scope.models.decoder import STEP, Decoder, write_greedily
from scope.models.endpoint.letters import is_letter
from scope.models.endpoint.protocol import Position, Reply
from scope.models.endpoint.roles import LIKELIEST, choice_of, require_letters, unanswered
from scope.models.heads import Head
from scope.models.options import LETTER_TOKENS, THOUGHT_TOKENS, ModelOptions
from scope.models.path_decoder import Decoders, PathDecoder
from scope.models.paths import batches_by_beginning
from scope.models.probabilities import chosen, next_tokens
from scope.models.prompts import (
    Fitted,
    Prompt,
    choice_prompt_name,
    fit_around_blank,
    fit_prompt,
    prompt_of,
)
from scope.models.replies import (
    READ_BY,
    answer_of,
    answer_text,
    filler,
    first_word,
    has_first_word,
    is_filler,
    is_line,
    without_thought,
)
from scope.models.spelling import Spelling
from scope.protocols import Answers
from scope.records import Prediction, Question
from scope.untrusted import during_inference

SCORED_TOKENS = 512
"""Tokens of whole texts that are scored at once: each has scores for the whole vocabulary."""


class CausalModel:
    """A causal language model: answers, fills blanks, scores options and predicts on.

    Questions are put with a prompt, as the user's message in the chat template, if the tokenizer
    has one and it is wanted. ``form`` is how it chooses among options. Texts are decoded greedily,
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
        choice_prompt: Prompt | None = None,
        decoders: Decoders | None = None,
    ) -> None:
        self._head, self._options = head, options
        self._limit = head.limit
        self._decoders = decoders or Decoders(head.model, spec, options.token_budget)
        self._spelling = Spelling(
            head.tokenizer, spec, options.chat, thinks=options.thinking == "on"
        )
        self._thinks = options.thinking == "on" and self._spelling.is_chat
        self._choice, self._labels = choice_prompt_name(options), choice_prompt is not None
        self._prompts = {
            "answer": prompt_of("answer", options),
            self._choice: choice_prompt or prompt_of(self._choice, options),
            "cloze": prompt_of("cloze", options),
        }
        self.spec = spec
        self.form = options.ask or "words"
        self.fingerprint = fingerprint_with(
            head.fingerprint,
            options.max_answer_tokens,
            options.next_tokens,
            options.thinking,
            self._spelling.frame,
            READ_BY,
            *(prompt.template for prompt in self._prompts.values()),
            *([self.form] if self.form == "letters" else []),
        )
        self.prompts = {name: prompt.template for name, prompt in self._prompts.items()}

    @property
    def reproducible(self) -> str:
        """How reproducible an answer is across batches; see `scope.models.inference`."""
        return self._decoder.reproducible

    def with_choice_prompt(self, prompt: Prompt) -> CausalModel:
        """The same model, asked to choose with another prompt."""
        return CausalModel(self._head, self.spec, self._options, prompt, self._decoders)

    @property
    def template(self) -> str:
        """The text of the chat template around a message; empty where prompts are plain."""
        return self._spelling.frame

    def prompt_as_read(self, name: str, question: Question) -> str:
        """A question in the prompt of that name, as it is read, with special tokens."""
        return self._spelling.as_read(fit_prompt(question, self._room(), self._tokens(name)).tokens)

    @property
    def _decoder(self) -> PathDecoder | Decoder:
        return self._decoders.chosen

    @during_inference
    def answer(self, questions: Sequence[Question]) -> Answers:
        """Write an answer to each question, one line long; none where the reply is empty."""
        tokens_of = self._tokens("answer", writes=True)
        asked = [fit_prompt(question, self._room(), tokens_of) for question in questions]
        yield from self._write(asked, is_line, answer_text)

    @during_inference
    def fill(self, questions: Sequence[Question]) -> Answers:
        """Fill each question's blank with one word of the reply, the first where that is begun.

        Raises
        ------
        ValueError
            When a question's text does not hold exactly one blank.
        """
        tokens_of = self._tokens("cloze", writes=True)
        asked = [fit_around_blank(question, self._room(), tokens_of) for question in questions]
        begun = self._prompts["cloze"].begins_reply and not self._thinks
        is_over, read = (has_first_word, first_word) if begun else (is_filler, filler)
        yield from self._write(asked, is_over, read)

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
        return (self._by_letters if self.form == "letters" else self._by_words)(questions)

    def _by_letters(self, questions: Sequence[Question]) -> Answers:
        require_letters(questions)
        room, tokens_of = self._room(self._longest_choice), self._tokens(self._choice, writes=True)
        asked = [fit_prompt(question, room, tokens_of) for question in questions]
        rows = [fitted.tokens for fitted in asked]
        for batch in self._decoder.batches(rows, [self._longest_choice] * len(rows)):
            replies = self._replies([rows[index] for index in batch])
            for index, reply in zip(batch, replies, strict=True):
                chosen_letter = choice_of(reply, questions[index], labels=self._labels)
                answer = unanswered(reply) or chosen_letter
                yield index, replace(answer, truncated=asked[index].truncated)

    def _replies(self, rows: Sequence[Sequence[int]]) -> Iterator[Reply]:
        """Short replies with the likeliest tokens at each position, as an endpoint gives them."""
        positions: list[list[Position]] = [[] for _ in rows]

        def next_tokens(going: Sequence[int], written: Sequence[Sequence[int]]) -> list[int]:
            read = [[*rows[row], *written[row]] for row in going]
            probabilities = self._decoder.next_probabilities(read)
            best = probabilities.topk(min(LIKELIEST, probabilities.shape[1]))
            tokens = best.indices.tolist()
            for row, likeliest, masses in zip(going, tokens, best.values.tolist(), strict=True):
                texts = list(map(self._spelling.as_it_follows, likeliest))
                pairs = tuple(zip(texts, masses, strict=True))
                positions[row].append(Position(token=texts[0], likeliest=pairs))
            return [likeliest[0] for likeliest in tokens]

        thoughts = 0 if self._options.thinking == "off" else THOUGHT_TOKENS
        longest = max(1, min(LETTER_TOKENS + thoughts, self._limit - max(map(len, rows))))
        enough = self._enough(is_letter, LETTER_TOKENS, longest)
        written = write_greedily(next_tokens, len(rows), longest, enough, self._decoder.ends)
        for tokens, of_row in zip(written, positions, strict=True):
            text = without_thought(self._reply(tokens))
            cut = self._is_cut(tokens, LETTER_TOKENS, longest)
            thought: Any = "unfinished" if text is None else ""
            yield Reply(text=text or "", thought=thought, cut=cut, positions=tuple(of_row))

    def _by_words(self, questions: Sequence[Question]) -> Answers:
        spelled = [self._option_tokens(question) for question in questions]
        most = max(1, self._limit // 2 - STEP)
        options = [[tokens[:most] for tokens in each] for each in spelled]
        asked = [
            fit_prompt(question, self._room(max(map(len, each)) + STEP), self._tokens(self._choice))
            for question, each in zip(questions, options, strict=True)
        ]
        prompts = [fitted.tokens for fitted in asked]
        more = [sum(map(len, each)) for each in options]
        for batch in self._decoder.batches(prompts, more):
            scored = self._decoder.score(
                [prompts[index] for index in batch], [options[index] for index in batch]
            )
            for index, scores in zip(batch, scored, strict=True):
                cut = asked[index].truncated or options[index] != spelled[index]
                yield index, chosen(scores, truncated=cut)

    @during_inference
    def predict_next(self, texts: Sequence[str]) -> list[Prediction]:
        """The likeliest tokens after each bare text; if a text is too long, its end is read."""
        opening = self._spelling.opening
        whole = [self._spelling.plain(text) for text in texts]
        read = [
            [*opening, *tokens[len(opening) :][-(self._limit - len(opening)) :]] for tokens in whole
        ]
        predictions: dict[int, Prediction] = {}
        for batch in self._decoder.batches(read, [0] * len(read)):
            probabilities = self._decoder.next_probabilities([read[index] for index in batch])
            best = probabilities.topk(min(self._options.next_tokens, probabilities.shape[1]))
            for index, values, tokens in zip(
                batch, best.values.tolist(), best.indices.tolist(), strict=True
            ):
                cut = len(read[index]) < len(whole[index])
                predictions[index] = self._prediction(values, tokens, truncated=cut)
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
            scored = self._decoder.score(
                [rows[row][:opening] for row in batch],
                [[tuple(rows[row][opening:])] for row in batch],
            )
            for row, (mean,) in zip(batch, scored, strict=True):
                values[several[row]] = math.exp(-mean)
        return values

    def _prediction(
        self, values: Sequence[float], tokens: Sequence[int], *, truncated: bool
    ) -> Prediction:
        texts = map(self._spelling.as_it_follows, tokens)
        return next_tokens(zip(texts, values, strict=True), len(tokens), truncated=truncated)

    def _write(
        self,
        asked: Sequence[Fitted],
        is_over: Callable[[str], bool],
        read: Callable[[str], str | None],
    ) -> Answers:
        lengths = [len(fitted.tokens) + self._longest for fitted in asked]
        budget = self._options.token_budget
        room = 0 if self._options.thinking == "off" else THOUGHT_TOKENS
        most = self._options.max_answer_tokens
        for batch in batches_of_equal_length(lengths, budget, ANSWERS_A_BATCH):
            rows = [asked[index].tokens for index in batch]
            longest = max(1, min(most + room, self._limit - len(rows[0])))
            enough = self._enough(is_over, most, longest)
            written = self._decoder.write(rows, longest, enough)
            for index, tokens in zip(batch, written, strict=True):
                cut, truncated = self._is_cut(tokens, most, longest), asked[index].truncated
                yield index, answer_of(self._reply(tokens), read, cut=cut, truncated=truncated)

    def _enough(
        self, is_over: Callable[[str], bool], most: int, longest: int
    ) -> Callable[[Sequence[int]], bool]:
        return lambda tokens: is_over(self._reply(tokens)) or self._is_cut(tokens, most, longest)

    def _is_cut(self, tokens: Sequence[int], most: int, longest: int) -> bool:
        """Whether a reply has the most tokens; the room for a thought is there for nothing else."""
        reply = self._reply(tokens)
        return len(tokens) >= (min(most, longest) if without_thought(reply) == reply else longest)

    def _reply(self, tokens: Sequence[int]) -> str:
        """The text of tokens, behind the tag with which the prompt has begun a thought."""
        begun = self._spelling.thought if self._thinks else ""
        return begun + self._spelling.text(tokens)

    @property
    def _longest(self) -> int:
        """Most tokens of an answer that is expected."""
        return self._options.max_answer_tokens + THOUGHT_TOKENS * self._thinks

    @property
    def _longest_choice(self) -> int:
        return LETTER_TOKENS + THOUGHT_TOKENS * self._thinks

    def _room(self, following: int | None = None) -> int:
        """Most tokens of a prompt; what follows it takes at most half of the model's limit."""
        wanted = self._longest if following is None else following
        return max(self._limit - wanted, self._limit // 2)

    def _tokens(self, name: str, *, writes: bool = False) -> Callable[[Question], list[int]]:
        """A function that puts a question in the prompt of that name.

        A model that is to think before it ``writes`` begins its reply itself.
        """
        prompt = self._prompts[name]
        if writes and self._thinks:
            return lambda question: self._spelling.prompt(prompt.parts(question).message)
        return lambda question: self._spelling.prompt_with_reply(
            *prompt.parts(question), prompt.render(question)
        )

    def _option_tokens(self, question: Question) -> list[tuple[int, ...]]:
        spelled = [
            tuple(self._spelling.continuation(option.strip())) for option in question.options
        ]
        for option, tokens in zip(question.options, spelled, strict=True):
            if not tokens:
                raise ModelError(
                    f"the tokenizer of `{self.spec}` has no token for the option {option!r}",
                    expected="options that the model can read",
                    fix="fix the option, or choose another model",
                )
        return spelled
