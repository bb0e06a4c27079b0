"""What is asked of a server, and what its replies say."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from typing import Any, Literal

from scope.models.endpoint.failures import clean, said_in


@dataclass(frozen=True, kw_only=True, slots=True)
class Ask:
    """One request. Equal ones have equal replies, so each is given once.

    ``likeliest`` is how many of the likeliest tokens are to be told at each position.
    """

    path: Literal["chat", "completions", "models"]
    prompt: str = ""
    most_tokens: int = 1
    likeliest: int = 0


@dataclass(frozen=True, kw_only=True, slots=True)
class Position:
    """One generated token, and the likeliest tokens in its place with their probabilities."""

    token: str
    likeliest: tuple[tuple[str, float], ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Reply:
    """What came back: words, and log-probabilities where the server gives them.

    Both are empty where the model refused or its words were held back; ``names`` are the server's
    models, where these were asked for; ``too_long`` says that the model did not answer, since the
    request is longer than its context.
    """

    text: str = ""
    positions: tuple[Position, ...] = ()
    names: tuple[str, ...] = ()
    too_long: bool = False


class MalformedReplyError(Exception):
    """A reply that is none in OpenAI's protocol; the words say in what way."""


def read_reply(ask: Ask, content: bytes) -> Reply:
    """The reply in the body of a response.

    Raises
    ------
    MalformedReplyError
        When it is no JSON, or lacks what a reply must hold.

    Examples
    --------
    >>> body = b'{"choices": [{"message": {"content": "in 1066"}}]}'
    >>> read_reply(Ask(path="chat", prompt="When?"), body).text
    'in 1066'
    """
    try:
        body = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise MalformedReplyError(
            f"a reply that is no JSON: {clean(content.decode('utf-8', 'replace'))!r}"
        ) from error
    if ask.path == "models":
        return Reply(names=_names(body))
    choice = _first_choice(body)
    if ask.path == "chat" and _is_refusal(choice):
        # What was likely before words were held back is no answer either.
        return Reply()
    text = _message(choice) if ask.path == "chat" else choice.get("text")
    if text is not None and not isinstance(text, str):
        raise MalformedReplyError(f"a reply whose text is {clean(repr(text))}")
    try:
        positions = _positions(choice.get("logprobs"))
    except (TypeError, ValueError, KeyError, AttributeError) as error:
        raise MalformedReplyError(
            f"log-probabilities in an unknown form: {clean(repr(choice['logprobs']))}"
        ) from error
    return Reply(text=_storable(text or ""), positions=positions)


def _names(body: object) -> tuple[str, ...]:
    match body:
        # Of a list in pages, the first says little.
        case {"data": [*_], "has_more": True}:
            return ()
        case {"data": [*entries]}:
            return tuple(name for entry in entries for name in _names_of(entry))
    raise MalformedReplyError("a list of models in an unknown form")


def _names_of(entry: object) -> tuple[str, ...]:
    """A model's name, and those that llama.cpp's server takes in its place."""
    match entry:
        case {"id": str(name), "aliases": [*aliases]}:
            return (name, *(alias for alias in map(str, aliases) if alias != name))
        case {"id": str(name)}:
            return (name,)
    return ()


def _first_choice(body: object) -> dict[str, Any]:
    match body:
        case {"choices": [dict() as choice, *_]}:
            return choice
    raise MalformedReplyError(
        f"a reply without `choices`: {said_in(body) or clean(json.dumps(body))}"
    )


def _is_refusal(choice: dict[str, Any]) -> bool:
    match choice:
        case {"finish_reason": "content_filter"}:
            return True
        case {"message": {"refusal": str(refusal)}}:
            return bool(refusal)
    return False


def _message(choice: dict[str, Any]) -> Any:
    match choice:
        case {"message": {"content": content}}:
            return content
        case {"message": dict()}:
            return None
    raise MalformedReplyError(f"a choice without a message: {clean(json.dumps(choice))}")


def _positions(logprobs: Any) -> tuple[Position, ...]:
    """Log-probabilities in the form of chats, or in that of the older completions."""
    match logprobs:
        case {"content": [*entries]}:
            found = [
                (
                    entry["token"],
                    [(one["token"], one["logprob"]) for one in entry.get("top_logprobs") or ()],
                )
                for entry in entries
            ]
        case {"tokens": [*tokens], "top_logprobs": [*tables]}:
            found = [
                (token, list((table or {}).items()))
                for token, table in zip(tokens, tables, strict=True)
            ]
        case _:
            return ()
    positions = tuple(
        Position(
            token=_storable(token),
            likeliest=tuple((_storable(text), _probability(value)) for text, value in likeliest),
        )
        for token, likeliest in found
    )
    # A server that tells only the token it took tells no distribution.
    return positions if any(position.likeliest for position in positions) else ()


def _probability(logprob: float) -> float:
    if math.isnan(logprob):
        raise ValueError("a log-probability that is no number")
    # Rounding may carry one above 0.
    return math.exp(min(float(logprob), 0.0))


def _storable(text: str) -> str:
    """Without the halves of characters that JSON can hold and UTF-8 cannot."""
    return text.encode("utf-8", "replace").decode("utf-8")
