"""``openai:BASE_URL#MODEL``: a model behind an endpoint that speaks OpenAI's protocol.

`address` parses the spec and reads the key; `protocol` turns questions into requests and what a
server sends into a `Reply` or a `Failure`; `client` sends requests, several at once, retries those
that fail, and removes the key from all that comes; `scoring` scores given answers.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from functools import partial
from typing import Never, Self

from scope.errors import ModelError, did_you_mean
from scope.models.checkpoint import fingerprint_with
from scope.models.endpoint.address import Address, parse_address, read_key
from scope.models.endpoint.client import Endpoint, WaitClock
from scope.models.endpoint.protocol import REDIRECTS, EndpointError, EndpointRequest
from scope.models.endpoint.scoring import RETRIES, GivenAnswers
from scope.models.options import LETTER_TOKENS, THOUGHT_TOKENS, ModelOptions, Readout
from scope.models.prompts import Prompt, as_script, prompt_of, with_letters
from scope.models.replies import (
    LIKELIEST,
    READ_BY,
    Read,
    Reply,
    Words,
    answer_in,
    answer_text,
    choice_of,
    filler,
    next_tokens,
    require_letters,
    whole_text,
    words_of,
)
from scope.models.scheme import KnownLabels, Scheme, labels_by_words
from scope.protocols import Answers, ScoredAnswers
from scope.records import GivenAnswer, Prediction, Question
from scope.records.result import SAMPLED

PROMPTS = ("answer", "cloze", "choice_letters")

_NO_PATH = (404, 405, 501)


class EndpointModel:
    """A model behind an OpenAI-compatible endpoint.

    It is queried in chats, or with ``chat`` "no" in completions of plain prompts, as always for
    next tokens. Given answers are scored where the server shows how likely each token of a prompt
    is: see `can_score`.

    There is no answer where the model refuses, writes nothing, does not end its thought, or writes
    no letter where one was requested; the answer says why. Servers do not report texts that they
    truncate; a question that they refuse as longer than the model's context is marked as truncated.

    The fingerprint covers the address, the model's name and what is asked of it. It cannot cover
    the weights: a server may replace them under the same name. ``served`` is the model id in the
    last reply, which may then change; empty where no reply has given one.
    """

    form, template, samples = "letters", None, True

    _read_filler: Words = staticmethod(filler)

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
        settings = [options.max_answer_tokens, options.next_tokens, options.thinking, READ_BY]
        self._plain = options.chat == "no"
        settings += ["plain"] if self._plain else []
        self._given = GivenAnswers(endpoint, options, plain=self._plain)
        self.fingerprint = fingerprint_with(address.identity, *settings, *self.prompts.values())
        self.thought_tokens = 0 if options.thinking == "off" else THOUGHT_TOKENS

    @property
    def reproducible(self) -> str:
        """That answers are drawn, once the model has refused to give the likeliest."""
        return SAMPLED if self._endpoint.dialect.sampled else ""

    def with_choice_prompt(self, prompt: Prompt) -> Self:
        """The same model, asked to choose with another prompt, which ends in the lettered options.

        A prompt that lists the options with their letters is unchanged.
        """
        return type(self)(self._address, self._endpoint, self._options, with_letters(prompt))

    def prompt_as_read(self, name: str, question: Question) -> str:
        """A question in the prompt of that name; a server of chats adds its template."""
        prompt = self._prompts[name]
        if self._plain:
            return as_script(question.messages, prompt.render(question))
        return prompt.parts(question).message

    def answer(self, questions: Sequence[Question]) -> Answers:
        """Answer each question with the first line of the reply; none where that says nothing.

        Where questions are put as they stand, the whole reply is the answer.
        """
        asks = self._chats("answer", questions, most_tokens=self._options.max_answer_tokens)
        read = whole_text if self._prompts["answer"].is_bare else answer_text
        return self._answers(asks, questions, partial(words_of, read))

    def fill(self, questions: Sequence[Question]) -> Answers:
        """Fill each blank with one word of the reply."""
        asks = self._chats("cloze", questions, most_tokens=self._options.max_answer_tokens)
        return self._answers(asks, questions, partial(words_of, self._read_filler))

    def can_score(self) -> bool:
        """Whether the server scores given answers, which the first call finds out by a trial.

        With chats it must have vLLM's ``prompt_logprobs``, and with completions ``echo`` and
        ``logprobs``; the template must leave a reply as it is.

        Raises
        ------
        EndpointError
            When the server cannot be reached, refuses the key, or has too many requests.
        """
        return self._given.trial is not None

    def score_answers(self, items: Sequence[GivenAnswer]) -> ScoredAnswers:
        """How likely each answer is to follow its question; see `scope.protocols.AnswerScorer`.

        In completions the end of an answer is not scored: the server does not name its token.

        Raises
        ------
        ModelError
            When the server cannot score answers.
        """
        if not self.can_score():
            raise ModelError(
                f"`{self.spec}` does not score given answers",
                expected="a server whose chats take `prompt_logprobs`, as vLLM's, or with "
                "--chat no one whose completions take `echo` and `logprobs`",
                fix="serve the model with vLLM, or use a model of the scheme hf or gguf",
            )
        prompts = [self.prompt_as_read("answer", item.question) for item in items]
        yield from self._given.scored(items, prompts)

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
        asks = self._chats(
            "choice_letters", questions, most_tokens=LETTER_TOKENS, likeliest=LIKELIEST
        )
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
        self, name: str, questions: Sequence[Question], *, most_tokens: int, likeliest: int = 0
    ) -> list[EndpointRequest]:
        bounds = {"most_tokens": most_tokens, "likeliest": likeliest}
        return [self._chat(name, question, **bounds) for question in questions]

    def _chat(
        self, name: str, question: Question, *, most_tokens: int, likeliest: int = 0
    ) -> EndpointRequest:
        return EndpointRequest(
            path="completions" if self._plain else "chat",
            prompt=self.prompt_as_read(name, question),
            earlier=question.messages,
            most_tokens=most_tokens,
            likeliest=likeliest,
            seed=question.seed,
        )

    def _answers(
        self, asks: Sequence[EndpointRequest], questions: Sequence[Question], read: Read
    ) -> Answers:
        with closing(self._endpoint.ask(asks)) as replies:
            for place, reply in replies:
                self.served = reply.model or self.served
                answer = answer_in(reply, questions[place], read)
                truncated = answer.truncated or asks[place].truncated
                yield place, replace(answer, truncated=truncated)

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


MOST_NAMES = 12

MOST_COMPARED = 1000
"""Most names that are compared with an unknown name; each comparison takes time."""

MOST_SHOWN = 80
"""Characters of a name that a message shows."""


def load(rest: str, options: ModelOptions, clock: WaitClock | None = None) -> EndpointModel:
    """The model that ``BASE_URL#MODEL`` names; the key, if any, comes from ``OPENAI_API_KEY``.

    A server that does not list its models is assumed to have the model: the first request shows it.

    Raises
    ------
    SpecError
        When the rest is no http(s) URL with a model's name, or holds a secret.
    ModelError
        When the server cannot be reached, refuses the key, or lists no model of that name.
    """
    key = read_key()
    address = parse_address(rest, key)
    endpoint = Endpoint(address, key, options, clock or WaitClock())
    model = EndpointModel(address, endpoint, options)
    retries = min(RETRIES, options.retries)
    try:
        ((_, reply),) = endpoint.ask([EndpointRequest(path="models")], retries=retries)
    except EndpointError as error:
        if error.failure.status in (None, 401, *REDIRECTS):
            raise
        return model
    if reply.names and address.model not in reply.names:
        shown = [name[:MOST_SHOWN] for name in sorted(reply.names)]
        more = f" and {len(shown) - MOST_NAMES} more" if len(shown) > MOST_NAMES else ""
        asked = address.model[:MOST_SHOWN]
        raise ModelError(
            f"{address.base_url} has no model called `{address.model}`",
            expected=f"one of: {', '.join(shown[:MOST_NAMES])}{more}",
            fix=did_you_mean(asked, shown[:MOST_COMPARED], "choose one of these"),
        )
    return model


class OpenAI(Scheme):
    """Endpoints that speak OpenAI's protocol."""

    served = by_letters = True

    def labels(self, rest: str, options: ModelOptions) -> KnownLabels:
        """The label words."""
        return labels_by_words(f"{self.name}:{rest}", options)

    def latent_reader(self, rest: str, options: ModelOptions, readout: Readout | None) -> Never:
        """There is none."""
        raise ModelError(
            f"`{self.name}:{rest}` runs on a server, which does not expose its layers",
            expected="a model that is loaded here, as hf:NAME or hf:FILE.gguf, or an object with "
            "`latents` as python:MODULE:ATTRIBUTE",
            fix="use the checkpoint itself",
        )


SCHEME = OpenAI("openai", load)
