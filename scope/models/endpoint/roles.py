"""From questions to requests, and from replies to answers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from functools import partial

from scope.errors import ModelError
from scope.models.checkpoint import fingerprint_with
from scope.models.endpoint import protocol as letters
from scope.models.endpoint.address import Address
from scope.models.endpoint.client import Endpoint
from scope.models.endpoint.exchange import EndpointError, EndpointRequest
from scope.models.endpoint.protocol import Position, Reply
from scope.models.options import LETTER_TOKENS, THOUGHT_TOKENS, ModelOptions
from scope.models.prompts import Prompt, prompt_of, with_letters
from scope.models.questions import next_tokens
from scope.models.replies import READ_BY, answer_text, filler, no_answer, without_thought
from scope.protocols import Answers
from scope.records import Answer, Prediction, Question
from scope.records.result import SAMPLED

PROMPTS = ("answer", "cloze", "choice_letters")

LIKELIEST = 20
"""Log-probabilities requested with a letter: the most that the protocol allows."""

_NO_PATH = (404, 405, 501)


class EndpointModel:
    """A model behind an OpenAI-compatible endpoint, queried in chats; completions give next tokens.

    There is no answer where the model refuses, writes nothing, does not end its thought, or writes
    no letter where one was requested; the answer says why. Servers do not report texts that they
    truncate; a question that they refuse as longer than the model's context is marked as truncated.

    The fingerprint covers the address, the model's name and what is asked of it. It cannot cover
    the weights: a server may replace them under the same name. ``served`` is the model id in the
    last reply, which may then change; empty where no reply has given one.
    """

    form, template = "letters", None

    def __init__(
        self,
        address: Address,
        endpoint: Endpoint,
        options: ModelOptions,
        choice_prompt: Prompt | None = None,
    ) -> None:
        self.spec = address.spec
        self.served = ""
        self._address = address
        self._endpoint = endpoint
        self._options = options
        self._labels = choice_prompt is not None
        self._prompts = {name: prompt_of(name, options) for name in PROMPTS}
        if choice_prompt is not None:
            self._prompts["choice_letters"] = choice_prompt
        self.prompts = {name: prompt.template for name, prompt in self._prompts.items()}
        settings = (options.max_answer_tokens, options.next_tokens, options.thinking, READ_BY)
        self.fingerprint = fingerprint_with(address.spec, *settings, *self.prompts.values())
        self.thought_tokens = 0 if options.thinking == "off" else THOUGHT_TOKENS

    @property
    def reproducible(self) -> str:
        """That answers are drawn, once the model has refused to give the likeliest."""
        return SAMPLED if self._endpoint.sampled else ""

    def with_choice_prompt(self, prompt: Prompt) -> EndpointModel:
        """The same model, asked to choose with another prompt, which ends in the lettered options.

        A prompt that lists the options with their letters is unchanged.
        """
        return EndpointModel(self._address, self._endpoint, self._options, with_letters(prompt))

    def prompt_as_read(self, name: str, question: Question) -> str:
        """A question in the prompt of that name, which the server puts into its template."""
        return self._prompts[name].parts(question).message

    def answer(self, questions: Sequence[Question]) -> Answers:
        """Answer each question with the first line of the reply; none where that says nothing."""
        asks = self._chats("answer", questions, most_tokens=self._options.max_answer_tokens)
        return self._answers(asks, questions, partial(words_of, answer_text))

    def fill(self, questions: Sequence[Question]) -> Answers:
        """Fill each blank with one word of the reply."""
        asks = self._chats("cloze", questions, most_tokens=self._options.max_answer_tokens)
        return self._answers(asks, questions, partial(words_of, filler))

    def choose(self, questions: Sequence[Question]) -> Answers:
        """Choose by the letter of an option, with probabilities where the server gives them.

        The probabilities are those of the letters, where the model writes one as its answer or most
        likely would have. Without them the text of the reply counts: a letter, or an option in
        full.

        Raises
        ------
        ModelError
            When a question has more options than there are letters.
        """
        require_letters(questions)
        bounds = {"most_tokens": LETTER_TOKENS, "likeliest": LIKELIEST}
        asks = self._chats("choice_letters", questions, **bounds)
        return self._answers(asks, questions, partial(choice_of, labels=self._labels))

    def predict_next(self, texts: Sequence[str]) -> list[Prediction]:
        """The likeliest next tokens of every text; see `stream_next`."""
        predictions = dict(self.stream_next(texts))
        return [predictions[place] for place in range(len(texts))]

    def stream_next(self, texts: Sequence[str]) -> Iterator[tuple[int, Prediction]]:
        """The likeliest next tokens of every text, as the server's replies come.

        The request goes to the older endpoint, which adds no words to a text.

        Raises
        ------
        ModelError
            When the server has no such endpoint, or gives no log-probabilities.
        """
        most = self._options.next_tokens
        asks = [EndpointRequest(path="completions", prompt=text, likeliest=most) for text in texts]
        try:
            with closing(self._endpoint.ask(asks)) as replies:
                for place, reply in replies:
                    self.served = reply.model or self.served
                    yield place, self._prediction(reply, most)
        except EndpointError as error:
            if error.failure.status in _NO_PATH:
                raise ModelError(
                    f"`{self.spec}` has no /completions for this model ({error.failure})",
                    expected="a server with the completions endpoint: a chat template adds "
                    "words, so its next token does not continue the text",
                    fix="serve the model with llama.cpp or vLLM, or use a model of the scheme hf "
                    "or gguf",
                ) from None
            raise

    def _chats(
        self, name: str, questions: Sequence[Question], **bounds: int
    ) -> list[EndpointRequest]:
        asked = [self.prompt_as_read(name, question) for question in questions]
        return [EndpointRequest(path="chat", prompt=prompt, **bounds) for prompt in asked]

    def _answers(
        self, asks: Sequence[EndpointRequest], questions: Sequence[Question], read: Read
    ) -> Answers:
        with closing(self._endpoint.ask(asks)) as replies:
            for place, reply in replies:
                self.served = reply.model or self.served
                yield place, answer_in(reply, questions[place], read)

    def _prediction(self, reply: Reply, most: int) -> Prediction:
        if reply.missing:
            cut = reply.missing == "cut off"
            return Prediction(probabilities=(), truncated=cut, missing=reply.missing)
        if not (reply.positions and reply.positions[0].likeliest):
            raise ModelError(
                f"`{self.spec}`: this server gives no log-probabilities",
                expected="a server that returns log-probabilities with each completion",
                fix="enable log-probabilities in the server, or use a model of the scheme hf "
                "or gguf",
            )
        return next_tokens(reply.positions[0].likeliest, most)


def require_letters(questions: Sequence[Question]) -> None:
    """Refuse a question with more options than there are letters.

    Raises
    ------
    ModelError
        When there is one.
    """
    for question in questions:
        if len(question.options) > letters.MOST_OPTIONS:
            raise ModelError(
                f"the question {question.id!r} has {len(question.options)} options",
                expected=f"at most {letters.MOST_OPTIONS}: models answer with a letter",
                fix="leave that question out, or compare models of the schemes hf and gguf alone, "
                "with --ask words",
            )


Read = Callable[[Reply, Question], Answer]

Words = Callable[[str], str | None]


def reply_of(text: str, *, cut: bool, positions: Sequence[Position] = ()) -> Reply:
    """The reply of a model at hand."""
    if (answer := without_thought(text)) is None:
        return Reply(missing="thought not finished")
    return Reply(text=answer, cut=cut, positions=tuple(positions))


def answer_in(reply: Reply, question: Question, read: Read) -> Answer:
    """What a reply to a question is read as, or why it cannot hold an answer."""
    if reply.missing:
        return Answer(missing=reply.missing, truncated=reply.missing == "cut off")
    return read(reply, question)


def words_of(read: Words, reply: Reply, _: Question) -> Answer:
    """The answer in words that a reply gives."""
    words = read(reply.text)
    return no_answer(reply.text, cut=reply.cut) if words is None else Answer(text=words)


def choice_of(reply: Reply, question: Question, *, labels: bool = False) -> Answer:
    """The option that a reply names by its letter, with probabilities where they can be read.

    Of options that are ``labels``, the letters' probabilities are compared at the first token
    where no letter is written, however unlikely all are: a classifier has some for every text.
    """
    text, options = reply.text.strip(), len(question.options)
    letter = letters.written_letter(text, options)
    read = partial(letters.option_probabilities, reply.positions, options, text, letter)
    probabilities = (read() or (read(least=0.0) if labels else ())) if text else ()
    if probabilities:
        return Answer(choice=probabilities.index(max(probabilities)), probabilities=probabilities)
    choice = letter.option if letter else letters.spelled_option(text, question.options)
    return no_answer(text, cut=reply.cut) if choice is None else Answer(choice=choice)
