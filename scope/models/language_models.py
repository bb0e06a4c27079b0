"""Language models that write: causal ones, and encoder-decoders such as T5.

Causal models are run by `scope.models.decoder`; `Seq2Seq` runs an encoder-decoder on inputs of
equal length: it writes texts, or scores given ones.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, ClassVar, Self

from scope.errors import ModelError
from scope.models import prompts, replies
from scope.models.checkpoint import Head, fingerprint_with
from scope.models.decoder import (
    END,
    STEP,
    Decoder,
    Decoders,
    IsOver,
    Measure,
    Measured,
    Path,
    PathDecoder,
    Rows,
    Written,
    close,
    filled_up,
    mean_log_probability,
    write_greedily,
)
from scope.models.drafts import Spelled, followed, scored_answer, would_write
from scope.models.inference import (
    ANSWERS_A_BATCH,
    Computed,
    Inference,
    batches_of_equal_length,
    token_ids,
)
from scope.models.options import LETTER_TOKENS, THOUGHT_TOKENS, ModelOptions
from scope.models.prefixes import Row, batches_by_beginning
from scope.models.torch_setup import cache_name
from scope.protocols import Answers, ScoredAnswers, during_inference
from scope.records import BLANK, GivenAnswer, Prediction, Question

SCORED_TOKENS = 512
"""Tokens of whole texts that are scored at once: each has scores for the whole vocabulary."""


class WritingModel:
    """What language models that write have in common: their prompts, and how replies are read.

    ``prompts`` are the templates by name; ``form`` is how the model chooses among options.
    """

    asks: ClassVar[tuple[str, ...]]
    """The names of its prompts; ``choice`` stands for that of its form."""

    _decoder: Any

    def __init__(
        self, head: Head, spec: str, options: ModelOptions, choice_prompt: prompts.Prompt | None
    ) -> None:
        self.spec, self._head, self._options, self._limit = spec, head, options, head.limit
        self._choice, self.form = prompts.choice_prompt_name(options), options.ask or "words"
        names = [self._choice if name == "choice" else name for name in self.asks]
        asked_with = {self._choice: choice_prompt} if choice_prompt else {}
        self._prompts = {name: prompts.prompt_of(name, options) for name in names} | asked_with
        self.prompts = {name: prompt.template for name, prompt in self._prompts.items()}

    @property
    def reproducible(self) -> str:
        """How reproducible an answer is across batches; see `scope.models.inference`."""
        return str(self._decoder.reproducible)

    def _answers(
        self,
        written: Iterable[tuple[int, replies.Reply]],
        asked: Sequence[prompts.Fitted],
        questions: Sequence[Question],
        read: replies.Read,
    ) -> Answers:
        for index, reply in written:
            answer = replies.answer_in(reply, questions[index], read)
            yield index, replace(answer, truncated=asked[index].truncated)


class CausalModel(WritingModel):
    """A causal language model: answers, fills blanks, scores options and predicts on.

    Questions are put with a prompt, as the user's message in the chat template, if the tokenizer
    has one and it is wanted. ``template`` is the text of the chat template around a message; empty
    where prompts are plain. ``form`` is how it chooses among options. Texts are decoded greedily,
    whatever the checkpoint's own generation settings say. With the option ``thinking`` the model
    begins its reply itself, and has room for a thought; words are scored without one. A thought
    that it begins unasked gets the room, too, unless the option is off. A passage that is too long
    for the model is cut at its end, so that the question stays in view.
    """

    asks = ("answer", "choice", "cloze")

    def __init__(
        self,
        head: Head,
        spec: str,
        options: ModelOptions,
        choice_prompt: prompts.Prompt | None = None,
        decoders: Decoders | None = None,
    ) -> None:
        super().__init__(head, spec, options, choice_prompt)
        self._decoders = decoders or Decoders(head.model, options.token_budget)
        thinks = options.thinking == "on"
        self._spelling = prompts.Spelling(head.tokenizer, spec, options.chat, thinks=thinks)
        self._thinks, self.template = thinks and self._spelling.is_chat, self._spelling.frame
        self._labels = choice_prompt is not None
        settings = (options.max_answer_tokens, options.next_tokens, options.thinking)
        asked = (replies.READ_BY, self._spelling.frame, *self.prompts.values(), self.form)
        self.fingerprint = fingerprint_with(head.fingerprint, *settings, *asked)

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
            "answer", questions, replies.is_line, partial(replies.words_of, replies.answer_text)
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
        yield from self._write("cloze", questions, is_over, partial(replies.words_of, read))

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
            replies.require_letters(questions)
            read = partial(replies.choice_of, labels=self._labels)
            yield from self._write(self._choice, questions, replies.is_letter, read)
        else:
            yield from self._by_words(questions)

    @during_inference
    def score_answers(self, items: Sequence[GivenAnswer]) -> ScoredAnswers:
        """How likely each answer is to follow its question; see `scope.protocols.AnswerScorer`.

        It is scored without a thought; an answer beyond half of the model's limit is cut.
        """
        ends, room = self._decoder.ends, max(1, self._limit // 2 - STEP)
        texts = [item.answer or replies.UNANSWERABLE for item in items]
        begun = self._prompts["answer"].begins_reply
        spelled = [self._spelling.continuation(text, begun=begun) for text in texts]
        # Any token stands for the end where none ends a text.
        scored = [[*tokens[: room - 1], min(ends, default=0)] for tokens in spelled]
        asked = [
            self._fitted("answer", item.question, max(self._most("answer"), len(tokens)), False)
            for item, tokens in zip(items, scored, strict=True)
        ]
        rows = [fitted.tokens for fitted in asked]
        measure = partial(followed, ends=ends, spread=self._decoder.spread)
        for batch in self._decoder.batches(rows, list(map(len, scored))):
            answers = [[scored[index]] for index in batch]
            measured = self._decoder.follow([rows[index] for index in batch], answers, measure)
            for index, (follows,) in zip(batch, measured, strict=True):
                answer = Spelled(items[index].answer, texts[index], spelled[index])
                is_enough = self._is_enough(len(rows[index]), self._most("answer"), replies.is_line)
                would = partial(would_write, answer, follows, self._reply, is_enough)
                yield (
                    index,
                    scored_answer(
                        answer, follows, asked[index], would=None if self._thinks else would
                    ),
                )

    def _write(
        self,
        name: str,
        questions: Sequence[Question],
        is_over: Callable[[str], bool],
        read: replies.Read,
    ) -> Answers:
        most = self._most(name)
        expected = most + THOUGHT_TOKENS * self._thinks
        asked = [self._fitted(name, question, most) for question in questions]
        lengths = [len(fitted.tokens) + expected for fitted in asked]
        for batch in batches_of_equal_length(lengths, self._options.token_budget, ANSWERS_A_BATCH):
            rows = [asked[index].tokens for index in batch]
            written = self._replies(rows, most, is_over, likeliest=name == self._choice)
            yield from self._answers(zip(batch, written, strict=True), asked, questions, read)

    def _replies(
        self, rows: Rows, most: int, is_over: Callable[[str], bool], *, likeliest: bool
    ) -> Iterator[replies.Reply]:
        """Replies as an endpoint gives them; the room for a thought is there for nothing else."""
        positions: list[list[replies.Position]] = [[] for _ in rows]
        longest = self._longest(len(rows[0]), most)
        is_enough = self._is_enough(len(rows[0]), most, is_over)

        def notice(row: int, logits: Any) -> None:
            likeliest = self._likeliest(logits.cpu().double().softmax(dim=-1), replies.LIKELIEST)
            positions[row].append(replies.Position(token=likeliest[0][0], likeliest=likeliest))

        more = (notice,) if likeliest else ()
        written = self._decoder.write(rows, longest, is_enough, *more)
        for tokens, of_row in zip(written, positions, strict=True):
            if tokens is None:
                yield replies.Reply(missing="no number")
            else:
                reply = self._reply(tokens)
                cut = self._is_cut(reply, len(tokens), most, longest)
                yield replies.reply_of(reply, cut=cut, positions=of_row)

    def _longest(self, prompt: int, most: int) -> int:
        """Most tokens of a reply to a prompt of so many, with the thought for which it has room."""
        room = 0 if self._options.thinking == "off" else THOUGHT_TOKENS
        return max(1, min(most + room, self._limit - prompt))

    def _is_cut(self, reply: str, tokens: int, most: int, longest: int) -> bool:
        """Whether a reply of so many tokens is as long as it may be, apart from a thought."""
        is_plain = replies.without_thought(reply) == reply
        return tokens >= (min(most, longest) if is_plain else longest)

    def _is_enough(self, prompt: int, most: int, is_over: Callable[[str], bool]) -> IsOver:
        """Whether nothing more is written after some tokens of a reply to a prompt."""
        longest = self._longest(prompt, most)

        def is_enough(tokens: Row) -> bool:
            reply = self._reply(tokens)
            return is_over(reply) or self._is_cut(reply, len(tokens), most, longest)

        return is_enough

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
                yield index, replies.chosen(scores, truncated=cut)

    @during_inference
    def predict_next(self, texts: Sequence[str]) -> list[Prediction]:
        """The likeliest tokens after each bare text; if a text is too long, its end is read."""
        opening = self._spelling.opening
        whole = [self._spelling.plain(text) for text in texts]
        first, most = len(opening), self._limit - len(opening)
        most_tokens = self._options.next_tokens
        read = [[*opening, *tokens[first:][-most:]] for tokens in whole]
        predictions: dict[int, Prediction] = {}
        for batch in self._decoder.batches(read, [0] * len(read)):
            after = self._decoder.next_probabilities([read[index] for index in batch])
            for index, probabilities in zip(batch, after, strict=True):
                cut = len(read[index]) < len(whole[index])
                if probabilities.isnan().any():
                    missing = Prediction(probabilities=(), truncated=cut, missing="no number")
                    predictions[index] = missing
                else:
                    likeliest = self._likeliest(probabilities, most_tokens)
                    predictions[index] = replies.next_tokens(likeliest, most_tokens, truncated=cut)
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

    @property
    def vocabulary(self) -> Mapping[str, int]:
        """The tokens by their spelling."""
        vocabulary: Mapping[str, int] = self._head.tokenizer.get_vocab()
        return vocabulary

    def path(self, text: str, question: Question | None = None) -> Path:
        """A text in tokens as it stands, or as an answer to a question, with its end.

        Of a text that is too long for the model the beginning is read, of an answer half as much.
        """
        if question is None:
            tokens = self._spelling.started(text)[: self._limit]
            opening = max(1, len(self._spelling.start))
            return Path(tokens[:opening], tokens[opening:])
        begun, room = self._prompts["answer"].begins_reply, max(1, self._limit // 2 - STEP)
        tokens = [*self._spelling.continuation(text, begun=begun)[: room - 1], END]
        most = max(self._most("answer"), len(tokens))
        return Path(self._fitted("answer", question, most, may_think=False).tokens, tokens)

    @during_inference
    def logits(self, paths: Sequence[Path]) -> list[Any]:
        """The logits in the place of each token that a path scores, one row each."""
        rows, scored = [path.read for path in paths], [path.scored for path in paths]
        logits: list[Any] = [None] * len(paths)
        for batch in self._decoder.batches(rows, list(map(len, scored))):
            some = [rows[index] for index in batch], [[scored[index]] for index in batch]
            followed = self._decoder.follow(*some, lambda each, tokens: each[: len(tokens)])
            for index, (of_path,) in zip(batch, followed, strict=True):
                logits[index] = of_path
        return logits

    def pieces(self, tokens: Sequence[int]) -> list[str]:
        """The text of each token without space around it; empty for those that end a text."""
        ends, follows = self._decoder.ends, self._spelling.as_it_follows
        return ["" if token in ends else follows(token).strip() or "\n" for token in tokens]

    def lengths(self, tokens: Sequence[int]) -> list[int | None]:
        """How many characters the first tokens hold, from 0 on, without a first space.

        None within a character.
        """
        texts = (self._spelling.as_read(tokens[:count]) for count in range(len(tokens) + 1))
        return [None if text.endswith("\ufffd") else len(text.lstrip()) for text in texts]

    def _reply(self, tokens: Sequence[int]) -> str:
        """The text of tokens, behind the tag with which the prompt has begun a thought."""
        begun = self._spelling.thought if self._thinks else ""
        return begun + self._spelling.text(tokens)

    def _most(self, name: str) -> int:
        """Most tokens of a reply to the prompt of that name, besides a thought."""
        return LETTER_TOKENS if name == self._choice else self._options.max_answer_tokens

    def _fitted(
        self, name: str, question: Question, most: int, may_think: bool = True
    ) -> prompts.Fitted:
        """A question in the prompt of that name, with room for ``most`` tokens or half the limit.

        A model that is to think before it writes begins its reply itself.
        """
        prompt, thinks = self._prompts[name], self._thinks and may_think and name != "choice"
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


class Seq2Seq(Computed):
    """An encoder-decoder of the transformers library, run on rows of equal length only."""

    def __init__(self, model: Any, spec: str) -> None:
        self._model = model
        # Made-up tokens are encoded, and then decoded.
        decoded = self._decoded
        self._inference = Inference(model, lambda t: decoded(self._encoded(t), t)[:, -1])
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
        opening = [self._start, *(self.opening if start is None else start)]
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

        ends = {*stops, *self.ends}
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
        return self.follow(rows, targets, budget, mean_log_probability)

    def follow(
        self, rows: Rows, targets: Sequence[Rows], budget: int, measure: Measure[Measured]
    ) -> list[list[Measured]]:
        """What is measured at the tokens of each target, given its input; see `score`."""
        scores: list[dict[int, Measured]] = [{} for _ in rows]
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
                scores[row][which] = measure(several, targets[row][which])
        return [[of_row[which] for which in sorted(of_row)] for of_row in scores]

    def _encode(self, rows: Rows) -> Any:
        return self._inference.run(self._encoded, tokens=self._tensor(rows))

    def _encoded(self, tokens: Any) -> Any:
        return self._model.get_encoder()(input_ids=tokens, return_dict=True).last_hidden_state

    def _decoded(self, states: Any, given: Any) -> Any:
        """The logits after every token of the decoder's input."""
        return self._model(
            encoder_outputs=(states,), decoder_input_ids=given, use_cache=False
        ).logits


SENTINEL = "<extra_id_0>"
"""T5's placeholder for a part taken out of a text."""


class TextToTextModel(WritingModel):
    """An encoder-decoder checkpoint in the roles of answerer and choice scorer.

    Answers are decoded greedily, whatever the checkpoint's own generation settings say. A passage
    that is too long for the model is cut at its end, and so is a question without one, so that the
    prompt around them stays in view.
    """

    asks = ("text_to_text_answer", "choice")
    template = ""

    def __init__(
        self,
        head: Head,
        spec: str,
        options: ModelOptions,
        choice_prompt: prompts.Prompt | None = None,
    ) -> None:
        super().__init__(head, spec, options, choice_prompt)
        self._tokenizer, self._longest = head.tokenizer, options.max_answer_tokens
        self._decoder = Seq2Seq(head.model, spec)
        settings = (self._longest, replies.READ_BY, *self.prompts.values(), self.form)
        self.fingerprint = fingerprint_with(head.fingerprint, *settings)

    def with_choice_prompt(self, prompt: prompts.Prompt) -> Self:
        """The same model, asked to choose with another prompt."""
        return type(self)(self._head, self.spec, self._options, prompt)

    def prompt_as_read(self, name: str, question: Question) -> str:
        """A question in the prompt of that name, as it is read, with special tokens."""
        return str(self._tokenizer.decode(self._tokens(self._prompts[name], question).tokens))

    @during_inference
    def answer(self, questions: Sequence[Question]) -> Answers:
        """Write an answer to each question; none where the text is empty."""
        prompt = self._prompts["text_to_text_answer"]
        asked = [self._tokens(prompt, question) for question in questions]
        yield from self._write(asked, questions, replies.answer_text)

    @during_inference
    def score_answers(self, items: Sequence[GivenAnswer]) -> ScoredAnswers:
        """How likely each answer is to follow its question; see `scope.protocols.AnswerScorer`."""
        ends, opening = self._decoder.ends, self._decoder.opening
        texts = [item.answer or replies.UNANSWERABLE for item in items]
        spelled = []
        for tokens in self._tokenizer(text_target=texts, verbose=False)["input_ids"]:
            bare = tokens[:-1] if tokens[-1] in ends else tokens
            spelled.append(bare[len(opening) * (tuple(bare[: len(opening)]) == opening) :])
        scored = [[*opening, *tokens[: self._limit], min(ends, default=0)] for tokens in spelled]
        prompt = self._prompts["text_to_text_answer"]
        asked = [self._tokens(prompt, item.question) for item in items]
        measure = partial(followed, ends=ends, spread=close(self._head.model), forced=len(opening))
        for batch in self._batches([fitted.tokens for fitted in asked]):
            rows, answers = [asked[i].tokens for i in batch], [[scored[i]] for i in batch]
            measured = self._decoder.follow(rows, answers, self._options.token_budget, measure)
            for index, (follows,) in zip(batch, measured, strict=True):
                answer = Spelled(items[index].answer, texts[index], spelled[index])
                would = partial(would_write, answer, follows, self._text, self._is_cut)
                yield index, scored_answer(answer, follows, asked[index], would=would)

    def _write(
        self,
        asked: Sequence[prompts.Fitted],
        questions: Sequence[Question],
        read: replies.Words,
        **how: Row,
    ) -> Answers:
        for batch in self._batches([fitted.tokens for fitted in asked]):
            rows = [asked[index].tokens for index in batch]
            written = map(self._reply, self._decoder.write(rows, self._longest, **how))
            came = zip(batch, written, strict=True)
            yield from self._answers(came, asked, questions, partial(replies.words_of, read))

    def _reply(self, tokens: Sequence[int] | None) -> replies.Reply:
        if tokens is None:
            return replies.Reply(missing="no number")
        return replies.reply_of(self._text(tokens), cut=self._is_cut(tokens))

    def _text(self, tokens: Row) -> str:
        return str(self._tokenizer.decode(tokens, skip_special_tokens=True)).strip()

    def _is_cut(self, tokens: Row) -> bool:
        return len(tokens) >= self._longest

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
            scored = self._decoder.score(rows, targets, self._options.token_budget)
            for index, scores in zip(batch, scored, strict=True):
                yield index, replies.chosen(scores, truncated=asked[index].truncated)

    def _tokens(self, prompt: prompts.Prompt, question: Question) -> prompts.Fitted:
        return prompts.fit_prompt(
            question, self._limit, lambda asked: self._encode(prompt.render(asked))
        )

    def _encode(self, text: str) -> list[int]:
        return list(self._tokenizer(text, verbose=False)["input_ids"])

    def _option_tokens(self, question: Question) -> list[list[int]]:
        letters = [replies.option_letter(index) for index in range(len(question.options))]
        options = letters if self.form == "letters" else list(question.options)
        encoded = self._tokenizer(text_target=options, verbose=False)["input_ids"]
        return [tokens[: self._limit] for tokens in encoded]

    def _batches(self, encoded: Sequence[Sequence[int]]) -> Any:
        lengths = list(map(len, encoded))
        return batches_of_equal_length(lengths, self._options.token_budget, ANSWERS_A_BATCH)


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

    def _around_sentinel(self, question: Question) -> prompts.Fitted:
        parts = question.text.split(BLANK)
        # A text that mentions the sentinel must not count as one with several blanks.
        text = SENTINEL.join(part.replace(SENTINEL, " ") for part in parts)
        bare = self._tokenizer(text, add_special_tokens=False, verbose=False)["input_ids"]
        place = bare.index(self._tokenizer.convert_tokens_to_ids(SENTINEL))
        return prompts.Fitted(*prompts.cut_around(self._encode(text), bare, place, self._limit))


def text_to_text_model(head: Head, spec: str, options: ModelOptions) -> TextToTextModel:
    """A text-to-text model; one with sentinels fills masks too."""
    sentinel = head.tokenizer.get_vocab().get(SENTINEL)
    # One token, in a text as well as in the vocabulary.
    if sentinel is not None and sentinel in head.tokenizer(f"a {SENTINEL} b")["input_ids"]:
        return SentinelModel(head, spec, options)
    return TextToTextModel(head, spec, options)
