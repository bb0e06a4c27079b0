"""OpenAI's protocol: the bodies of requests, and the content of replies.

Which option a reply names, and the probabilities of all options.

A reply names an option by its letter, or in full. Probabilities come from the log-probabilities of
tokens.
"""

from __future__ import annotations

import json
import math
import re
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from scope.models.endpoint.address import Key
from scope.models.endpoint.exchange import (
    EndpointRequest,
    Failure,
    MalformedReplyError,
    clean,
    said_in,
)
from scope.models.options import Thinking
from scope.models.prompts import option_letter
from scope.models.questions import rounded
from scope.models.replies import begins_thought, line, without_thought
from scope.records import NoAnswer, Probabilities

SPARE_CHARACTERS = 1024

CHARACTERS_A_TOKEN = 128
"""No tokenizer in use has longer tokens, except blanks."""

MOST_CHARACTERS_OF_A_TOKEN = 512

MOST_MASS = 1.05
"""Greatest sum of the likeliest tokens' probabilities: rounding may raise it slightly above 1."""

LEAST_LOGPROB = -1e6
"""Lower log-probabilities also count as a probability of 0."""

LEAST_ABOVE_0 = 0.01
"""A log-probability may be rounded to a little above 0; one higher than this is none."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Position:
    """One generated token, and the likeliest tokens in its place with their probabilities."""

    token: str
    likeliest: tuple[tuple[str, float], ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Reply:
    """A reply: its text without the model's thought, and log-probabilities where they are given.

    Both are empty where it cannot hold an answer; ``missing`` says why. Whether the model
    ``thinks`` may stand in the content, beside it, or be counted alone; the thought is ``opened``
    where only its end stands in the content. ``cut`` is true if the reply ended at the limit on its
    tokens. ``names`` are the server's models, where requested; ``model`` is the model id in the
    reply.
    """

    text: str = ""
    missing: NoAnswer = ""
    thinks: bool = False
    opened: bool = False
    cut: bool = False
    positions: tuple[Position, ...] = ()
    names: tuple[str, ...] = ()
    model: str = ""

    @property
    def lacks_answer(self) -> bool:
        """Whether nothing follows a thought: its end is missing, or was put in the wrong place."""
        return self.thinks and not self.text.strip()

    def without(self, key: Key) -> Reply:
        """The same without the key, which a server may repeat: answers are shown and stored.

        Examples
        --------
        >>> Reply(text="you sent sk-12345678").without(Key(value="sk-12345678")).text
        'you sent [key]'
        """
        if not key.is_secret:
            return self
        hide = key.hide
        positions = tuple(
            Position(token=hide(p.token), likeliest=tuple((hide(t), m) for t, m in p.likeliest))
            for p in self.positions
        )
        names, model = tuple(map(hide, self.names)), hide(self.model)
        return replace(self, text=hide(self.text), names=names, model=model, positions=positions)


def read_reply(ask: EndpointRequest, content: bytes) -> Reply:
    """The reply in the body of a response.

    Raises
    ------
    MalformedReplyError
        When it is not JSON, or lacks a required field.

    Examples
    --------
    >>> body = b'{"choices": [{"message": {"content": "in 1066"}}]}'
    >>> read_reply(EndpointRequest(path="chat", prompt="When?"), body).text
    'in 1066'
    """
    try:
        body = json.loads(content)
    # For example numbers of too many digits, wrong characters, or endless nesting.
    except (ValueError, RecursionError) as error:
        kind = "a stream of events" if content.startswith(b"data:") else "a reply that is not JSON"
        raise MalformedReplyError(f"{kind}: {_shown(content)!r}") from error
    if ask.path == "models":
        return Reply(names=_names(body))
    choice = _first_choice(body, content)
    model = clean(body["model"]) if isinstance(body.get("model"), str) else ""
    if ask.path == "completions":
        positions = _positions(choice.get("logprobs"))
        return Reply(text=_text(choice.get("text"), ask), positions=positions, model=model)
    if choice.get("error") or choice.get("finish_reason") == "error":
        raise MalformedReplyError(f"a failure in place of a reply: {_shown(content)}")
    if (message := _message(choice, content)) is None:
        # Log-probabilities of a withheld text are no answer either.
        return Reply(model=model, missing="refused")
    whole, thinks = _joined(message.get("content"))
    whole = _text(whole, ask)
    text = without_thought(whole)
    thinks = thinks or any(map(message.get, _THOUGHTS)) or _counts_thought(body)
    cut = choice.get("finish_reason") in _CUT
    unfinished = text is None or (thinks and cut and not text.strip())
    return Reply(
        text=text or "",
        missing="thought not finished" if unfinished else "",
        thinks=thinks or text != whole,
        opened=text not in (None, whole) and not begins_thought(whole),
        cut=cut,
        positions=_positions(choice.get("logprobs")),
        model=model,
    )


_THOUGHTS = ("reasoning_content", "reasoning", "reasoning_details")
"""Where servers put a thought beside the content."""

_CUT = ("length", "max_tokens", "MAX_TOKENS")
_FILTERED = ("content_filter", "safety", "prohibited_content", "blocklist", "refusal")


def _joined(content: object) -> tuple[object, bool]:
    """The text of a content in parts, and whether one of them is a thought."""
    if not isinstance(content, list):
        return content, False
    parts = [part for part in content if isinstance(part, dict)]
    texts = [part.get("text") for part in parts if part.get("type") in ("text", "output_text")]
    is_thought = any(part.get("type") in ("thinking", "reasoning") for part in parts)
    return "".join(text for text in texts if isinstance(text, str)), is_thought


def _counts_thought(body: object) -> bool:
    match body:
        case {"usage": {"completion_tokens_details": {"reasoning_tokens": int(tokens)}}}:
            return tokens > 0
    return False


def most_characters(ask: EndpointRequest) -> int:
    """The most characters of a reply's text.

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
        raise MalformedReplyError("a reply whose text is not a string")
    if len(text) > most_characters(ask):
        raise MalformedReplyError(
            f"a reply of {len(text):,} characters to a request for {ask.tokens_in_words}"
        )
    return _storable(text)


def _names(body: object) -> tuple[str, ...]:
    match body:
        # The first page of a list is not all of it.
        case {"data": [*_], "has_more": True}:
            return ()
        case {"data": [*entries]}:
            return tuple(clean(name) for entry in entries for name in _names_of(entry))
    raise MalformedReplyError("a list of models in an unknown form")


def _names_of(entry: object) -> tuple[str, ...]:
    """A model's name, and those that llama.cpp's server accepts instead."""
    match entry:
        case {"id": str(name), "aliases": [*aliases]}:
            return (name, *(alias for alias in aliases if isinstance(alias, str) and alias != name))
        case {"id": str(name)}:
            return (name,)
    return ()


def _first_choice(body: object, content: bytes) -> dict[str, Any]:
    match body:
        case {"choices": [dict() as choice, *_]}:
            return choice
    raise MalformedReplyError(f"a reply without `choices`: {said_in(body) or _shown(content)}")


def _message(choice: dict[str, Any], content: bytes) -> dict[str, Any] | None:
    """The message of a choice; None where the model refuses, or its text is withheld."""
    match choice:
        case {"finish_reason": str(reason)} if reason.lower().startswith(_FILTERED):
            return None
        case {"message": dict() as message}:
            refusal = message.get("refusal")
            return None if refusal and isinstance(refusal, str) else message
    raise MalformedReplyError(f"a choice without a message: {_shown(content)}")


def _positions(logprobs: object) -> tuple[Position, ...]:
    """Log-probabilities in the form of chats, or in that of the older completions."""
    try:
        match logprobs:
            case {"content": [*entries]}:
                positions = tuple(map(_of_chat, entries))
            case {"tokens": [*tokens], "top_logprobs": [*tables]}:
                rows = zip(tokens, tables, strict=True)
                positions = tuple(_position(token, (table or {}).items()) for token, table in rows)
            case _:
                return ()
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise MalformedReplyError(
            f"log-probabilities in an unknown form: {error!r:.200}"
        ) from error
    # A server that gives only the sampled token gives no distribution.
    return positions if any(position.likeliest for position in positions) else ()


def _of_chat(entry: Any) -> Position:
    likeliest = entry.get("top_logprobs") or ()
    return _position(entry["token"], [(token["token"], token["logprob"]) for token in likeliest])


def _position(token: Any, likeliest: Iterable[tuple[Any, Any]]) -> Position:
    masses = tuple((_token(text), _probability(value)) for text, value in likeliest)
    if (total := math.fsum(mass for _, mass in masses)) > MOST_MASS:
        raise ValueError(f"probabilities that add up to {total:.4g}")
    return Position(token=_token(token), likeliest=masses)


def _token(token: Any) -> str:
    if len(token) > MOST_CHARACTERS_OF_A_TOKEN:
        raise ValueError(f"a token of {len(token):,} characters")
    return _storable(token)


def _probability(logprob: Any) -> float:
    """A probability; minus infinity, which some servers give, is that of an impossible token."""
    # Whole numbers may have more digits than fit into a float. No comparison with NaN is true.
    if isinstance(logprob, bool) or not logprob <= LEAST_ABOVE_0:
        raise ValueError("a log-probability that is above 0, or no number")
    return math.exp(min(max(logprob, LEAST_LOGPROB), 0.0))


def _storable(text: str) -> str:
    """Without lone surrogates, which JSON can hold and UTF-8 cannot."""
    return text.encode("utf-8", "replace").decode("utf-8")


FEWER_LIKELIEST = 5
"""Most log-probabilities that some servers give, where others give twenty."""


def _refused(name: str) -> re.Pattern[str]:
    """The complaint about a parameter; a server may also repeat it in another complaint."""
    return re.compile(
        rf"(?:\bun\w+|invalid|\bnot\b|extra)[^.]{{0,60}}{name}|{name}[^.]{{0,60}}"
        r"(?:\bun\w+|invalid|\bnot\b|only|must|should|deprecated|cannot)",
        re.IGNORECASE,
    )


_REFUSED = MappingProxyType(
    {
        "temperature": _refused("temperature"),
        "seed": _refused(r"\bseed\b"),
        "reasoning_effort": _refused("reasoning[_ ]?effort"),
        "chat_template_kwargs": _refused("(?:chat_template|enable_thinking)"),
    }
)
"""What one server takes and another refuses; without it the question is the same."""

_SWITCHES = ("reasoning_effort", "chat_template_kwargs")
"""Those that turn a model's thoughts off or on."""


class Dialect:
    """Leaves out or replaces the parameters that a server rejects."""

    def __init__(self, model: str, thinking: Thinking = "auto") -> None:
        self._model = model
        thinks = thinking == "on"
        # Some templates have the one name, some the other; servers without templates an effort.
        named = {"enable_thinking": thinks, "thinking": thinks}
        # Each with what is tried in its place.
        self._optional: dict[str, list[Any]] = {
            "temperature": [0],
            "seed": [0],
            "chat_template_kwargs": [named],
            "reasoning_effort": [] if thinks else ["none", "minimal", "low"],
        }
        self._limit = "max_tokens"
        self._most_likeliest: int | None = None

    @property
    def sampled(self) -> bool:
        """Whether the server takes no temperature: then the model draws its answers."""
        return not self._optional["temperature"]

    def body(self, ask: EndpointRequest) -> dict[str, Any]:
        """The request in the form that this server accepts: greedy, hence always the same."""
        body: dict[str, Any] = {"model": self._model} | {
            name: values[0]
            for name, values in self._optional.items()
            if values and not (ask.path == "completions" and name in _SWITCHES)
        }
        likeliest = ask.likeliest
        if ask.path == "completions":
            asked = {"logprobs": likeliest} if likeliest else {}
            return body | {"prompt": ask.prompt, "max_tokens": ask.most_tokens} | asked
        if self._most_likeliest is not None:
            likeliest = min(likeliest, self._most_likeliest)
        if likeliest:
            body |= {"logprobs": True, "top_logprobs": likeliest}
        body[self._limit] = ask.most_tokens
        return body | {"messages": [{"role": "user", "content": ask.prompt}]}

    def learn(self, failure: Failure, sent: dict[str, Any]) -> bool:
        """Whether the request now differs from the one that was sent.

        Log-probabilities of a chat are left out only after fewer of them are refused, too: a choice
        can still be read from the text. Those of a completion are always requested.
        """
        if failure.status not in (400, 422):
            return False
        if "max_completion_tokens" in failure.said and "max_tokens" in sent and "messages" in sent:
            self._limit = "max_completion_tokens"
            return True
        if "logprobs" in failure.said and (sent_likeliest := sent.get("top_logprobs")):
            self._most_likeliest = FEWER_LIKELIEST if sent_likeliest > FEWER_LIKELIEST else 0
            return True
        for name, complaint in _REFUSED.items():
            if name in sent and complaint.search(failure.said):
                if self._optional[name][:1] == [sent[name]]:
                    self._optional[name].pop(0)
                return True
        return False

    def leave_out_switches(self) -> None:
        """Let the model think or not as it does by itself."""
        self._optional |= {name: [] for name in _SWITCHES}


MOST_OPTIONS = 26
"""The number of letters."""

_AROUND = " \t\n.,:;()[]{}<>*_\"'`"
"""Characters allowed around a letter in a token or a text: ``(A)``, `` A.``, ``**A**``."""

_OPENS = re.compile(r"[(\[*_`]*([A-Z])[.:)\]*_`]+(?=\s|$)")
_FOLLOWS = re.compile(
    r"(?:\b(?:answer\s+is|answer\s*:|(?<!not )option(?:\s+is)?)|\\boxed\s*\{(?:\\text\w*\{)?)"
    r"[\s:(\[*_`\"']*(?-i:([A-Z]))"
    # Else it may be a word: the answer is A cat.
    r"(?=[.,;:!?)\]}$*_`\"'’]+(?:\s|$)|\s*(?:\n|$)|\s+(?:[-–—(\[]|(?:because|since|as|or|and)\b"
    r"|is\s+(?:the\s+)?(?:correct|right|best)\b))",
    re.IGNORECASE,
)

_SEVERAL = re.compile(r"[^\w\n]*(?:\b(?:or|and)\b|[&/])|,\s*[A-HJ-Z]\b")
"""Follows a letter that is not the only answer."""


class Letter(NamedTuple):
    """A letter written as the answer: the index of its option, and its position in the text."""

    option: int
    place: int


def option_of(token: str, options: int) -> int | None:
    """The option whose letter the token is, with or without space and punctuation around it.

    Examples
    --------
    >>> [option_of(token, 4) for token in ("A", " B", "C.", "(D", "E", "a", "An")]
    [0, 1, 2, 3, None, None, None]
    """
    bare = token.strip(_AROUND)
    letters = [option_letter(index) for index in range(options)]
    return letters.index(bare) if bare in letters else None


def is_letter(reply: str) -> bool:
    """Whether the first line of a reply is over, and is a letter.

    Examples
    --------
    >>> is_letter("B" + chr(10)), is_letter("B"), is_letter("A cat" + chr(10))
    (True, False, False)
    """
    first, *over = (without_thought(reply) or "").lstrip().split("\n")
    return bool(over) and option_of(first, MOST_OPTIONS) is not None


def written_letter(text: str, options: int) -> Letter | None:
    """The letter that a text gives as its answer; None where it gives none, or several.

    Some letters are words, and any text may contain letters. So a letter counts only if it is the
    whole first line; if it opens the text and is marked, as in ``B.``, ``(B)`` or ``**B**``; or if
    it follows ``answer is``, ``answer:``, ``option`` or ``\\boxed{``, and the next word, if any,
    gives a reason or confirms the answer. Letters joined by ``or`` or ``and`` do not count.

    Examples
    --------
    >>> written_letter("(B)", 4), written_letter("The answer is C, since", 4)
    (Letter(option=1, place=1), Letter(option=2, place=14))
    >>> written_letter("I would say B", 9), written_letter("Option A or option B", 4)
    (None, None)
    """
    start = len(text) - len(text.lstrip())
    first = text[start:].partition("\n")[0]
    option = option_of(first, options)
    if option is not None:
        return Letter(option, start + first.index(option_letter(option)))
    opening = _OPENS.match(text, start)
    for matches in ([opening] if opening else [], list(_FOLLOWS.finditer(text))):
        named = [
            Letter(option, match.start(1))
            for match in matches
            if (option := option_of(match[1], options)) is not None
        ]
        if named:
            alone = not any(_SEVERAL.match(text, letter.place + 1) for letter in named)
            return named[0] if alone and len({letter.option for letter in named}) == 1 else None
    return None


def spelled_option(text: str, options: Sequence[str]) -> int | None:
    """The option whose text is the first line, ignoring case and surrounding marks.

    Examples
    --------
    >>> spelled_option("Paris.", ("Rome", "Paris")), spelled_option("In Paris", ("Rome", "Paris"))
    (1, None)
    >>> spelled_option("Paris", ("Paris", "paris"))
    """
    words = _bare(line(text))
    same = [index for index, option in enumerate(options) if words and _bare(option) == words]
    return same[0] if len(same) == 1 else None


def _bare(text: str) -> str:
    return text.strip(_AROUND).casefold()


_AFTER_TEXT = re.compile(r"\s*(?:(?:<[^<>\s]*>|\[/?[A-Z]+\])\s*)*")
"""What may follow a text among the tokens: those that end it."""

LEAST_MASS = 0.5
"""Least sum of the letters' probabilities where no letter is written, but for labels."""


def option_probabilities(
    positions: Sequence[Position],
    options: int,
    text: str,
    written: Letter | None,
    *,
    least: float = LEAST_MASS,
) -> Probabilities:
    """One probability per option, rounded to six decimals; empty where no letter was likely.

    The text is the end of the tokens, which may begin with the model's thought; where it is not,
    nothing is known of its probabilities. They are read at the position of the letter that the
    model writes as its answer. If it writes none, they are read at the first position where the
    letters together are at least as likely as all other tokens, except positions where it writes a
    letter as a word. The spellings of a letter are summed. The letters are scaled to a sum of 1,
    since other tokens are not options; an option that is not among the likeliest tokens gets 0.

    Parameters
    ----------
    positions
        The tokens of the reply, with those of a thought.
    options
        Number of options.
    text
        The text that answers.
    written
        The letter that is the text's answer, if it gives one.
    least
        Least sum of the letters' probabilities where no letter is written.

    Examples
    --------
    >>> likeliest = (("B", 0.5), (" B", 0.1), ("A", 0.2), ("The", 0.1))
    >>> option_probabilities([Position(token="B", likeliest=likeliest)], 3, "B", Letter(1, 0))
    (0.25, 0.75, 0.0)
    >>> refusal = Position(token="I", likeliest=(("I", 0.999), ("B", 1e-9)))
    >>> option_probabilities([refusal], 2, "I", None)
    ()
    """
    tokens = "".join(position.token for position in positions)
    start = tokens.rfind(text)
    if start < 0 or not _AFTER_TEXT.fullmatch(tokens, start + len(text)):
        return ()
    ends = list(accumulate(len(position.token) for position in positions))
    if written:
        position = positions[bisect_right(ends, start + written.place)]
        # If a token is longer, such as `B. cat`, its alternatives do not show the letters.
        is_letter = option_of(position.token, written.option + 1) is not None
        return _scaled(_masses(position, options)) if is_letter else ()
    for position in positions[bisect_right(ends, start) :]:
        masses = _masses(position, options)
        if option_of(position.token, options) is None and math.fsum(masses) >= least:
            return _scaled(masses)
    return ()


def _masses(position: Position, options: int) -> list[float]:
    masses = [0.0] * options
    for token, probability in position.likeliest:
        if (option := option_of(token, options)) is not None:
            masses[option] += probability
    return masses


def _scaled(masses: Sequence[float]) -> Probabilities:
    total = math.fsum(masses)
    return tuple(rounded(np.array(masses) / total).tolist()) if total else ()
