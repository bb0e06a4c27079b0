"""Language models that write: causal ones, and encoder-decoders such as T5.

Causal models are run by `scope.models.decoder`, others by `scope.models.encoder_decoder`.
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
from scope.models.decoder import END, STEP, Decoder, Decoders, Path, PathDecoder, Rows
from scope.models.encoder_decoder import Seq2Seq
from scope.models.inference import ANSWERS_A_BATCH
from scope.models.options import LETTER_TOKENS, THOUGHT_TOKENS, ModelOptions
from scope.models.prefixes import Row, batches_by_beginning
from scope.models.writing import Notice, Start, score_of
from scope.protocols import Answers, ScoredAnswers, during_inference
from scope.records import BLANK, GivenAnswer, Prediction, Question, ScoredAnswer

SCORED_TOKENS = 512
"""Tokens of whole texts that are scored at once: each has scores for the whole vocabulary."""


class WritingModel:
    """What language models that write have in common: their prompts, and how replies are read.

    ``prompts`` are the templates by name; ``form`` is how the model chooses among options.
    """

    asks: ClassVar[tuple[str, ...]]
    """The names of its prompts; ``choice`` stands for that of its form."""

    _decoder: Any
    _thinks = False

    samples = True

    answer: Callable[..., Answers]

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

    @property
    def written_alone(self) -> tuple[int, int]:
        """How many texts were written alone as two tokens were too near, and how many in all."""
        return self._decoder.writer.alone, self._decoder.writer.texts

    def _scores(
        self,
        items: Sequence[GivenAnswer],
        asked: Sequence[prompts.Fitted],
        drafts: Rows,
        starts: Sequence[Start],
    ) -> ScoredAnswers:
        """How likely answers are: ``drafts`` are their tokens, of which ``starts`` may hold fewer.

        Where an answer is its question's draft, the model writes on from the pass that scores it.
        """
        decoder, scores = self._decoder, dict[int, ScoredAnswer]()

        def weigh(index: int, logits: Any) -> None:
            start = starts[index]
            cut = asked[index].truncated or len(start.draft) < len(drafts[index])
            scores[index] = score_of(logits, start, decoder.ends, truncated=cut)

        # Of a longer prompt or draft less may be read where it is answered.
        on = [
            index
            for index, (item, start) in enumerate(zip(items, starts, strict=True))
            if item.question.draft == item.answer != "" and not self._thinks
            if 0 < len(start.draft) == len(drafts[index]) <= start.longest
            if not asked[index].truncated
        ]
        written = self.answer(
            [items[index].question for index in on], [partial(weigh, index) for index in on]
        )
        for number, answer in written:
            index = on[number]
            same = answer.text == items[index].answer
            yield index, replace(scores[index], same=same, written=answer)
        left = [index for index in range(len(items)) if index not in on]
        begun = decoder.opening
        paths = [Path(starts[index].tokens, (*begun, *starts[index].draft, 0)) for index in left]
        for number, logits in self._followed(paths):
            weigh(left[number], logits[len(begun) :])
            yield left[number], scores[left[number]]

    def _followed(self, paths: Sequence[Path]) -> Iterator[tuple[int, Any]]:
        """The logits in the place of each token that a path scores, one row each, as they come."""
        rows, scored = [path.read for path in paths], [[path.scored] for path in paths]
        for batch in self._decoder.batches(rows, [len(path.scored) for path in paths]):
            some = [rows[index] for index in batch], [scored[index] for index in batch]
            followed = self._decoder.follow(*some, lambda logits, *_: logits)
            yield from zip(batch, (logits for (logits,) in followed), strict=True)

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
    or drawn at temperature 1 where a question has a seed, whatever the checkpoint's own generation
    settings say. With the option ``thinking`` the model
    begins its reply itself, and has room for a thought; words are scored without one. A thought
    that it begins unasked gets the room, too, unless the option is off. A passage that is too long
    for the model is cut at its end, so that the question stays in view.
    """

    asks = ("answer", "choice", "cloze")
    stops_at_other = True

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

    def require_chats(self, chats: Sequence[prompts.Messages]) -> None:
        """Refuse chats if the chat template does not write some, and say how many."""
        self._spelling.require_chats(chats)

    def prompt_as_read(self, name: str, question: Question) -> str:
        """A question in the prompt of that name, as it is read, with special tokens."""
        return self._spelling.as_read(self._fitted(name, question, self._most(name)).tokens)

    @property
    def _decoder(self) -> PathDecoder | Decoder:
        return self._decoders.chosen

    @during_inference
    def answer(self, questions: Sequence[Question], weigh: Sequence[Notice] = ()) -> Answers:
        """Write an answer to each question; none where the reply is empty.

        It is one line long, or, where questions are put as they stand, the whole reply.

        Parameters
        ----------
        weigh
            What gets the logits of each question's draft; see `scope.models.writing.Start`.
        """
        read = replies.whole_text if self._prompts["answer"].is_bare else replies.answer_text
        is_over = self._answer_is_over
        yield from self._write("answer", questions, is_over, partial(replies.words_of, read), weigh)

    @property
    def _answer_is_over(self) -> Callable[[str], bool]:
        return replies.goes_on if self._prompts["answer"].is_bare else replies.is_line

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
        most, room = self._most("answer"), max(1, self._limit // 2 - STEP)
        drafts = [self._draft(item.answer or replies.UNANSWERABLE) for item in items]
        asked = [
            self._fitted(
                "answer", item.question, max(most, len(tokens[:room]) + 1), may_think=False
            )
            for item, tokens in zip(items, drafts, strict=True)
        ]
        starts = [
            self._start(fitted.tokens, most, self._answer_is_over, tokens[:room])
            for fitted, tokens in zip(asked, drafts, strict=True)
        ]
        yield from self._scores(items, asked, drafts, starts)

    def _write(
        self,
        name: str,
        questions: Sequence[Question],
        is_over: Callable[[str], bool],
        read: replies.Read,
        weigh: Sequence[Notice] = (),
    ) -> Answers:
        """Replies as an endpoint gives them, and what is read in them."""
        most, is_choice = self._most(name), name == self._choice
        positions: list[list[replies.Position]] = [[] for _ in questions]

        def notice(positions: list[replies.Position], logits: Any) -> None:
            likeliest = self._likeliest(logits.cpu().double().softmax(dim=-1), replies.LIKELIEST)
            positions.append(replies.Position(token=likeliest[0][0], likeliest=likeliest))

        asked = [self._fitted(name, question, most) for question in questions]
        drafted = name == "answer" and not self._thinks
        drafts = [self._draft(item.draft) if item.draft and drafted else () for item in questions]

        def over(question: Question) -> Callable[[str], bool]:
            if not question.or_other:
                return is_over
            return lambda reply: is_over(reply) or replies.is_other(reply, question.draft)

        starts = [
            self._start(fitted.tokens, most, over(item), draft)._replace(
                notice=partial(notice, noticed) if is_choice else None,
                weigh=weighed,
                seed=item.seed,
            )
            for fitted, item, draft, noticed, weighed in zip(
                asked, questions, drafts, positions, weigh or [None] * len(asked), strict=True
            )
        ]

        def reply(index: int, tokens: list[int] | None) -> replies.Reply:
            if tokens is None:
                return replies.Reply(missing="no number")
            text = self._reply(tokens)
            cut = self._is_cut(text, len(tokens), most, starts[index].longest)
            return replies.reply_of(text, cut=cut, positions=positions[index])

        written = self._decoder.write(starts)
        came = ((index, reply(index, tokens)) for index, tokens in written)
        yield from self._answers(came, asked, questions, read)

    def _start(
        self, prompt: Row, most: int, is_over: Callable[[str], bool], draft: Row = ()
    ) -> Start:
        """A prompt, and when a reply to it is over; the room for a thought is for nothing else."""
        room = 0 if self._options.thinking == "off" else THOUGHT_TOKENS
        longest = max(1, min(most + room, self._limit - len(prompt)))

        def is_enough(tokens: Row) -> bool:
            reply = self._reply(tokens)
            return is_over(reply) or self._is_cut(reply, len(tokens), most, longest)

        return Start(prompt, longest, is_enough, most + THOUGHT_TOKENS * self._thinks, draft)

    def _is_cut(self, reply: str, tokens: int, most: int, longest: int) -> bool:
        """Whether a reply of so many tokens is as long as it may be."""
        is_plain = replies.without_thought(reply) == reply
        return tokens >= (min(most, longest) if is_plain else longest)

    def _draft(self, answer: str) -> list[int]:
        """An answer in tokens, as the reply to a question goes on."""
        return self._spelling.continuation(answer, begun=self._prompts["answer"].begins_reply)

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
        tokens = [*self._draft(text)[: max(1, self._limit // 2 - STEP)], END]
        most = max(self._most("answer"), len(tokens))
        return Path(self._fitted("answer", question, most, may_think=False).tokens, tokens)

    @during_inference
    def logits(self, paths: Sequence[Path]) -> list[Any]:
        """The logits in the place of each token that a path scores, one row each."""
        logits = dict(self._followed(paths))
        return [logits[index] for index in range(len(paths))]

    def pieces(self, tokens: Sequence[int]) -> list[str]:
        """The text of each token without space around it; empty for those that end a text."""
        ends, follows = self._decoder.ends, self._spelling.as_it_follows
        return ["" if token in ends else follows(token).strip() or "\n" for token in tokens]

    def lengths(self, path: Path) -> list[int | None]:
        """How many characters of the text precede each scored token, and follow the last one.

        Without a first space; None within a character.
        """
        tokens = [token for token in path.scored if token != END]
        # A text as it stands may begin with a token that is only read.
        before = [] if len(tokens) < len(path.scored) else [*path.read]
        every = [*before, *tokens]
        texts = (self._spelling.text(every[:end]) for end in range(len(before), len(every) + 1))
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
                return self._spelling.prompt(parts.message, asked.messages)
            whole = prompts.as_script(asked.messages, prompt.render(asked))
            return self._spelling.prompt_with_reply(*parts, whole, asked.messages)

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


SENTINEL = "<extra_id_0>"
"""T5's placeholder for a part taken out of a text."""


class TextToTextModel(WritingModel):
    """An encoder-decoder checkpoint in the roles of answerer and choice scorer.

    Answers are decoded greedily, or drawn at temperature 1 where a question has a seed, whatever
    the checkpoint's own generation settings say. A passage that is too long for the model is cut at
    its end, and so is a question without one, so that the prompt around them stays in view.
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
        self._decoder = Seq2Seq(head.model, spec, head.limit, options.token_budget)
        settings = (self._longest, replies.READ_BY, *self.prompts.values(), self.form)
        self.fingerprint = fingerprint_with(head.fingerprint, *settings)

    def with_choice_prompt(self, prompt: prompts.Prompt) -> Self:
        """The same model, asked to choose with another prompt."""
        return type(self)(self._head, self.spec, self._options, prompt)

    def prompt_as_read(self, name: str, question: Question) -> str:
        """A question in the prompt of that name, as it is read, with special tokens."""
        return str(self._tokenizer.decode(self._tokens(self._prompts[name], question).tokens))

    @during_inference
    def answer(self, questions: Sequence[Question], weigh: Sequence[Notice] = ()) -> Answers:
        """Write an answer to each question; none where the text is empty."""
        prompt = self._prompts["text_to_text_answer"]
        asked = [self._tokens(prompt, question) for question in questions]
        drafts = [self._draft(item.draft) if item.draft else () for item in questions]
        read = replies.whole_text if prompt.is_bare else replies.answer_text
        starts = [
            self._start(fitted.tokens, draft)._replace(weigh=weighed, seed=item.seed)
            for fitted, item, draft, weighed in zip(
                asked, questions, drafts, weigh or [None] * len(asked), strict=True
            )
        ]
        yield from self._write(asked, questions, read, starts)

    @during_inference
    def score_answers(self, items: Sequence[GivenAnswer]) -> ScoredAnswers:
        """How likely each answer is to follow its question; see `scope.protocols.AnswerScorer`."""
        prompt = self._prompts["text_to_text_answer"]
        drafts = [self._draft(item.answer or replies.UNANSWERABLE) for item in items]
        asked = [self._tokens(prompt, item.question) for item in items]
        starts = [
            self._start(fitted.tokens, tokens[: self._limit])
            for fitted, tokens in zip(asked, drafts, strict=True)
        ]
        yield from self._scores(items, asked, drafts, starts)

    def _write(
        self,
        asked: Sequence[prompts.Fitted],
        questions: Sequence[Question],
        read: replies.Words,
        starts: Sequence[Start],
        **how: Row,
    ) -> Answers:
        for batch in self._decoder.batches([start.tokens for start in starts], ()):
            written = self._decoder.write([starts[index] for index in batch], **how)
            came = ((batch[number], self._reply(tokens)) for number, tokens in written)
            yield from self._answers(came, asked, questions, partial(replies.words_of, read))

    def _start(self, tokens: Row, draft: Row = ()) -> Start:
        return Start(tokens, self._longest, lambda _: False, draft=draft)

    def _draft(self, answer: str) -> list[int]:
        """An answer as the decoder would write it, without its end and what it always writes."""
        opening, ends = self._decoder.opening, self._decoder.ends
        tokens = list(self._tokenizer(text_target=answer, verbose=False)["input_ids"])
        tokens = tokens[:-1] if tokens and tokens[-1] in ends else tokens
        return tokens[len(opening) :] if tuple(tokens[: len(opening)]) == opening else tokens

    def _reply(self, tokens: Sequence[int] | None) -> replies.Reply:
        if tokens is None:
            return replies.Reply(missing="no number")
        return replies.reply_of(self._text(tokens), cut=len(tokens) >= self._longest)

    def _text(self, tokens: Row) -> str:
        return str(self._tokenizer.decode(tokens, skip_special_tokens=True)).strip()

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
        for batch in self._decoder.batches([fitted.tokens for fitted in asked], ()):
            rows = [asked[index].tokens for index in batch]
            scored = self._decoder.score(rows, [options[index] for index in batch])
            for index, scores in zip(batch, scored, strict=True):
                yield index, replies.chosen(scores, truncated=asked[index].truncated)

    def _tokens(self, prompt: prompts.Prompt, question: Question) -> prompts.Fitted:
        return prompts.fit_prompt(
            question,
            self._limit,
            lambda asked: self._encode(prompts.as_script(asked.messages, prompt.render(asked))),
        )

    def _encode(self, text: str) -> list[int]:
        return list(self._tokenizer(text, verbose=False)["input_ids"])

    def _option_tokens(self, question: Question) -> list[list[int]]:
        letters = [replies.option_letter(index) for index in range(len(question.options))]
        options = letters if self.form == "letters" else list(question.options)
        encoded = self._tokenizer(text_target=options, verbose=False)["input_ids"]
        return [tokens[: self._limit] for tokens in encoded]


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
        starts = [self._start(fitted.tokens) for fitted in asked]
        how = {"opening": start, "stops": stops}
        yield from self._write(asked, questions, lambda text: text or None, starts, **how)

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
