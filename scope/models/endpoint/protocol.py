"""OpenAI's protocol: the bodies of requests, and what a reply says."""

from __future__ import annotations

import json
import math
import re
from dataclasses import dataclass, replace
from typing import Any

from scope.models.endpoint.address import Key
from scope.models.endpoint.exchange import EndpointRequest, Failure, clean, said_in

SPARE_CHARACTERS = 1024

CHARACTERS_A_TOKEN = 128
"""No tokenizer in use has longer tokens, save of blanks."""

MOST_CHARACTERS_OF_A_TOKEN = 512

MOST_MASS = 1.05
"""Of the likeliest tokens together: rounding may carry them above 1, but not far."""

LEAST_LOGPROB = -1e6
"""Lower ones are those of a probability of 0 too."""

LEAST_ABOVE_0 = 0.01
"""A log-probability may be rounded to a little above 0; one higher than this is none."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Position:
    """One generated token, and the likeliest tokens in its place with their probabilities."""

    token: str
    likeliest: tuple[tuple[str, float], ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Reply:
    """What came back: words, and log-probabilities where the server gives them.

    Both are empty where the model refused or its words were held back; ``names`` are the server's
    models, where these were asked for; ``model`` is the id by which the server says that it has
    answered; ``too_long`` says that the model did not answer, since the request is longer than its
    context.
    """

    text: str = ""
    positions: tuple[Position, ...] = ()
    names: tuple[str, ...] = ()
    model: str = ""
    too_long: bool = False

    def without(self, key: Key) -> Reply:
        """The same without the key, which a server may repeat: answers are shown and kept.

        Examples
        --------
        >>> Reply(text="you sent sk-12345678").without(Key(value="sk-12345678")).text
        'you sent [key]'
        """
        if not key.is_secret:
            return self
        return replace(
            self,
            text=key.hide(self.text),
            names=tuple(map(key.hide, self.names)),
            model=key.hide(self.model),
            positions=tuple(
                Position(
                    token=key.hide(position.token),
                    likeliest=tuple((key.hide(text), mass) for text, mass in position.likeliest),
                )
                for position in self.positions
            ),
        )


class MalformedReplyError(Exception):
    """A reply that is none in OpenAI's protocol; the words say in what way."""


def read_reply(ask: EndpointRequest, content: bytes) -> Reply:
    """The reply in the body of a response.

    Raises
    ------
    MalformedReplyError
        When it is no JSON, or lacks what a reply must hold.

    Examples
    --------
    >>> body = b'{"choices": [{"message": {"content": "in 1066"}}]}'
    >>> read_reply(EndpointRequest(path="chat", prompt="When?"), body).text
    'in 1066'
    """
    try:
        body = json.loads(content)
    # Numbers of too many digits, wrong characters, and nesting without end are among the reasons.
    except (ValueError, RecursionError) as error:
        raise MalformedReplyError(f"a reply that is not JSON: {_shown(content)!r}") from error
    if ask.path == "models":
        return Reply(names=_names(body))
    choice = _first_choice(body, content)
    model = _model(body)
    if ask.path == "chat" and _is_refusal(choice):
        # What was likely before words were held back is no answer either.
        return Reply(model=model)
    text = _message(choice, content) if ask.path == "chat" else choice.get("text")
    return Reply(text=_text(text, ask), positions=_positions(choice.get("logprobs")), model=model)


def most_characters(ask: EndpointRequest) -> int:
    """How long the text of a reply may be.

    Examples
    --------
    >>> most_characters(EndpointRequest(path="chat", most_tokens=32))
    5120
    """
    return SPARE_CHARACTERS + CHARACTERS_A_TOKEN * ask.most_tokens


def _shown(content: bytes) -> str:
    return clean(content.decode("utf-8", "replace"))


def _text(text: object, ask: EndpointRequest) -> str:
    if text is None:
        return ""
    if not isinstance(text, str):
        raise MalformedReplyError(f"a reply whose text is not a string but a {_kind(text)}")
    if len(text) > most_characters(ask):
        raise MalformedReplyError(
            f"a reply of {len(text):,} characters to a request for {ask.tokens_in_words}"
        )
    return _storable(text)


def _names(body: object) -> tuple[str, ...]:
    match body:
        # Of a list in pages, the first says little.
        case {"data": [*_], "has_more": True}:
            return ()
        case {"data": [*entries]}:
            return tuple(clean(name) for entry in entries for name in _names_of(entry))
    raise MalformedReplyError("a list of models in an unknown form")


def _names_of(entry: object) -> tuple[str, ...]:
    """A model's name, and those that llama.cpp's server takes in its place."""
    match entry:
        case {"id": str(name), "aliases": [*aliases]}:
            return (
                name,
                *(aliase for aliase in aliases if isinstance(aliase, str) and aliase != name),
            )
        case {"id": str(name)}:
            return (name,)
    return ()


def _model(body: object) -> str:
    match body:
        case {"model": str(name)}:
            return clean(name)
    return ""


def _first_choice(body: object, content: bytes) -> dict[str, Any]:
    match body:
        case {"choices": [dict() as choice, *_]}:
            return choice
    raise MalformedReplyError(f"a reply without `choices`: {said_in(body) or _shown(content)}")


def _is_refusal(choice: dict[str, Any]) -> bool:
    match choice:
        case {"finish_reason": "content_filter"}:
            return True
        case {"message": {"refusal": str(refusal)}}:
            return bool(refusal)
    return False


def _message(choice: dict[str, Any], content: bytes) -> object:
    match choice:
        case {"message": {"content": words}}:
            return words
        case {"message": dict()}:
            return None
    raise MalformedReplyError(f"a choice without a message: {_shown(content)}")


def _positions(logprobs: object) -> tuple[Position, ...]:
    """Log-probabilities in the form of chats, or in that of the older completions."""
    match logprobs:
        case {"content": [*entries]}:
            positions = tuple(map(_of_chat, entries))
        case {"tokens": [*tokens], "top_logprobs": [*tables]} if len(tokens) == len(tables):
            positions = tuple(map(_of_completion, tokens, tables))
        case {"tokens": [*tokens], "top_logprobs": [*tables]}:
            raise _unknown_form(f"{len(tokens)} tokens, and the likeliest of {len(tables)}")
        case _:
            return ()
    # A server that gives only the sampled token gives no distribution.
    return positions if any(position.likeliest for position in positions) else ()


def _of_chat(entry: object) -> Position:
    match entry:
        case {"token": token, "top_logprobs": [*likeliest]}:
            return _position(token, [_pair(one) for one in likeliest])
        case {"token": token, "top_logprobs": None}:
            return _position(token, [])
        case {"token": token, **others} if "top_logprobs" not in others:
            return _position(token, [])
    raise _unknown_form(f"a {_kind(entry)} without a token, or without a list of the likeliest")


def _pair(one: object) -> tuple[object, object]:
    match one:
        case {"token": token, "logprob": logprob}:
            return token, logprob
    raise _unknown_form(f"a {_kind(one)} without a token and its `logprob`")


def _of_completion(token: object, table: object) -> Position:
    if not isinstance(table, dict | None):
        raise _unknown_form(f"a {_kind(table)} in the place of a table of the likeliest")
    return _position(token, list((table or {}).items()))


def _position(token: object, likeliest: list[tuple[object, object]]) -> Position:
    position = Position(
        token=_token(token),
        likeliest=tuple((_token(text), _probability(value)) for text, value in likeliest),
    )
    if (mass := math.fsum(probability for _, probability in position.likeliest)) > MOST_MASS:
        raise _unknown_form(f"probabilities that add up to {mass:.4g}")
    return position


def _token(token: object) -> str:
    if not isinstance(token, str):
        raise _unknown_form(f"a token that is a {_kind(token)}")
    if len(token) > MOST_CHARACTERS_OF_A_TOKEN:
        raise _unknown_form(f"a token of {len(token):,} characters")
    return _storable(token)


def _probability(logprob: object) -> float:
    """A probability; minus infinity, which some servers give, is that of what cannot come."""
    if not isinstance(logprob, int | float) or isinstance(logprob, bool):
        raise _unknown_form(f"a log-probability that is a {_kind(logprob)}")
    # Whole numbers may have thousands of digits, more than fit into a float. None is equal to NaN.
    if not logprob <= LEAST_ABOVE_0:
        raise _unknown_form("a log-probability that is above 0, or no number")
    return math.exp(min(max(logprob, LEAST_LOGPROB), 0.0))


def _unknown_form(found: str) -> MalformedReplyError:
    return MalformedReplyError(f"log-probabilities in an unknown form: {found}")


def _kind(value: object) -> str:
    """What JSON calls it."""
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    names = {str: "string", int: "number", float: "number", list: "list", dict: "object"}
    return names[type(value)]


def _storable(text: str) -> str:
    """Without the halves of characters that JSON can hold and UTF-8 cannot."""
    return text.encode("utf-8", "replace").decode("utf-8")


FEWER_LIKELIEST = 5
"""Most log-probabilities that some servers give, where others give twenty."""


class Dialect:
    """The parameters that a server is found not to take are left out, or put otherwise."""

    def __init__(self, model: str) -> None:
        self._model = model
        self._takes_seed = True
        self._limit = "max_tokens"
        self._most_likeliest: int | None = None

    def body(self, ask: EndpointRequest) -> dict[str, Any]:
        """The request as this server takes it: greedy, hence the same whenever it is asked."""
        body: dict[str, Any] = {"model": self._model, "temperature": 0}
        if self._takes_seed:
            body["seed"] = 0
        likeliest = ask.likeliest
        if ask.path == "completions":
            return body | {"prompt": ask.prompt, "max_tokens": ask.most_tokens} | _some(likeliest)
        if self._most_likeliest is not None:
            likeliest = min(likeliest, self._most_likeliest)
        if likeliest:
            body |= {"logprobs": True, "top_logprobs": likeliest}
        body[self._limit] = ask.most_tokens
        return body | {"messages": [{"role": "user", "content": ask.prompt}]}

    def learn(self, failure: Failure, sent: dict[str, Any]) -> bool:
        """Whether the request is now put otherwise than it was sent.

        Log-probabilities of a chat are left out only after fewer of them are refused too: without
        them a choice is still read from the text. Those of a completion are all that is asked.
        """
        if failure.status not in (400, 422):
            return False
        if "max_completion_tokens" in failure.said and "max_tokens" in sent and "messages" in sent:
            self._limit = "max_completion_tokens"
        elif "logprobs" in failure.said and (sent_likeliest := sent.get("top_logprobs")):
            self._most_likeliest = FEWER_LIKELIEST if sent_likeliest > FEWER_LIKELIEST else 0
        elif re.search(r"\bseed\b", failure.said) and "seed" in sent:
            self._takes_seed = False
        else:
            return False
        return True


def _some(likeliest: int) -> dict[str, int]:
    return {"logprobs": likeliest} if likeliest else {}
