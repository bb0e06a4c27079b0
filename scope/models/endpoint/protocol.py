"""OpenAI's protocol: the bodies of requests, and what replies, refusals and lists of models say."""

from __future__ import annotations

import json
import math
import re
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from types import MappingProxyType
from typing import Any, Literal

from scope.errors import ModelError, counted
from scope.models.endpoint.address import KEY_VARIABLE, Key
from scope.models.options import Thinking
from scope.models.replies import Position, PromptToken, Reply, begins_thought, without_thought

Path = Literal["chat", "completions", "models"]


@dataclass(frozen=True, kw_only=True, slots=True)
class EndpointRequest:
    """One request. Equal requests have equal replies, so each is given once.

    ``likeliest`` is how many of the likeliest tokens are requested at each position, ``earlier``
    the messages of a chat before the prompt. The server goes on from ``begun``, the beginning of
    its reply; not all can. ``of_prompt`` asks for the log-probabilities of the tokens of the
    prompt, where ``begun`` is a whole reply. ``truncated`` is whether words of the question were
    left out, so that it fits. Of the reply the first line that answers is enough if ``one_line``.
    With a ``seed`` the reply is drawn at temperature 1.
    """

    path: Path
    prompt: str = ""
    earlier: tuple[tuple[str, str], ...] = ()
    most_tokens: int = 1
    likeliest: int = 0
    begun: str = ""
    truncated: bool = False
    of_prompt: bool = False
    one_line: bool = False
    seed: int | None = None

    @property
    def tokens_in_words(self) -> str:
        """The bound on the reply, for messages."""
        return f"at most {counted(self.most_tokens, 'token')}"


OK = 200

REDIRECTS = (301, 302, 307, 308)

LONGEST_WAIT = 600.0
"""Seconds; a request is not retried if the server requires a longer wait."""

MOST_SHOWN = 200
"""Characters of a server's words that a message shows."""

_MAY_PASS = (OK, 408, 409, 425, 429)
_FIXES: Mapping[int | None, str] = MappingProxyType(
    {
        None: "check that the server runs and can be reached at this URL",
        401: f"this server refuses the key in {KEY_VARIABLE}: set it to one of its keys",
        403: f"use a key in {KEY_VARIABLE} with access to this model",
        **dict.fromkeys(
            REDIRECTS,
            "give the URL of the answering server in the model spec: "
            "prompts and the key are sent to that server only",
        ),
        404: "check the base URL, which usually ends in /v1, and the name of the model",
        429: "lower --requests, or wait",
    }
)
_OF_ALL = (401, 402, 403, 404, 405, 501, *REDIRECTS)
"""Statuses that every request will get."""

_FILTERED = re.compile(
    r"content[ _-]?(?:filter|management|moderation|policy|exists risk)|responsible ?ai"
    r"|data_inspection|inappropriate content|(?:prompt|input|request|content) (?:was |is )?flagged"
    r"|prohibited_content|safety (?:system|polic|filter|check)",
    re.IGNORECASE,
)
_ONLY_STREAMS = re.compile(
    r"^a stream of events|\bstream\b.*\btrue\b|only.*\bstream", re.IGNORECASE
)
_TOO_LONG = re.compile(
    r"context[ _-]?(?:length|size|window)|maximum context|prompt is too long|too many tokens",
    re.IGNORECASE,
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Failure:
    """One request that brought no reply.

    ``said`` is the server's message, or the error of the connection, without control characters.
    ``status`` is None where no reply came, and 200 for a reply that cannot be read. ``wait`` is the
    delay in seconds that the server requires.
    """

    said: str
    status: int | None = None
    code: str = ""
    wait: float | None = None

    @property
    def may_pass(self) -> bool:
        """Whether the same request may succeed a little later.

        Examples
        --------
        >>> [Failure(said="", status=status).may_pass for status in (None, 429, 503, 400, 404)]
        [True, True, True, False, False]
        """
        passing = self.status is None or self.status in _MAY_PASS or self.status >= 500
        return passing and not self.is_of_all

    @property
    def is_of_all(self) -> bool:
        """Whether every other request would fail, too."""
        return (
            self.status in _OF_ALL
            or self.code == "insufficient_quota"
            or (self.wait or 0) > LONGEST_WAIT
            or self.only_streams
        )

    @property
    def only_streams(self) -> bool:
        """Whether the server answers in streams of events alone."""
        return self.status in (OK, 400, 422) and bool(_ONLY_STREAMS.search(self.said))

    @property
    def is_filtered(self) -> bool:
        """Whether a filter refuses the content of the question.

        Examples
        --------
        >>> said = "The prompt triggered our content management policy"
        >>> [Failure(said=said, status=status).is_filtered for status in (400, 500)]
        [True, False]
        """
        match = _FILTERED.search(f"{self.code} {self.said}")
        return self.status in (400, 403, 422, 451) and bool(match)

    @property
    def is_too_long(self) -> bool:
        """Whether the question is longer than the model's context."""
        match = _TOO_LONG.search(self.said) or "context" in self.code
        return self.status in (400, 413, 422) and bool(match)

    def __str__(self) -> str:
        words = self.said if len(self.said) <= MOST_SHOWN else f"{self.said[:MOST_SHOWN]}…"
        if self.status in (None, OK):
            return words
        return f"status {self.status}: {words or 'no words'}"


class EndpointError(ModelError):
    """An endpoint that gave no further replies; ``failure`` is the last of its failures."""

    def __init__(self, problem: str, failure: Failure, *, key: Key) -> None:
        super().__init__(
            f"{problem}; last error: {failure}",
            expected="an OpenAI-compatible server that answers",
            fix=f"{_how_to_fix(failure, key)}; the same command resumes the run",
        )
        self.failure = failure


def without_key(outcome: Reply | Failure, key: Key) -> Reply | Failure:
    """The same without the key, which a server may repeat: answers are shown and stored.

    Examples
    --------
    >>> key = Key(value="sk-12345678")
    >>> print(without_key(Failure(said="no such key: sk-12345678", status=401), key))
    status 401: no such key: [key]
    """
    hide = key.hide
    if isinstance(outcome, Failure):
        return replace(outcome, said=hide(outcome.said), code=hide(outcome.code))
    if not key.is_secret:
        return outcome
    positions = tuple(
        Position(token=hide(p.token), likeliest=tuple((hide(t), m) for t, m in p.likeliest))
        for p in outcome.positions
    )
    names, model = tuple(map(hide, outcome.names)), hide(outcome.model)
    return replace(outcome, text=hide(outcome.text), names=names, model=model, positions=positions)


def _how_to_fix(failure: Failure, key: Key) -> str:
    if failure.only_streams:
        return "this server only streams: put a proxy before it that sends a reply as a whole"
    if failure.status == 401 and not key.is_set:
        return f"{KEY_VARIABLE} is not set: set it to one of this server's keys"
    if failure.status in _FIXES:
        return _FIXES[failure.status]
    if failure.may_pass:
        return "check the server's log, or wait until it recovers"
    return "correct what the server rejects"


def refusal(status: int, headers: Mapping[str, str], content: bytes) -> Failure:
    """The message of a reply with an error status."""
    text = content.decode("utf-8", "replace")
    try:
        body = json.loads(text)
    except (ValueError, RecursionError):
        body = None
    code = ""
    match body:
        case {"error": {"code": str(words)}} | {"error": {"type": str(words)}}:
            code = clean(words)
    return Failure(said=said_in(body) or clean(text), status=status, code=code, wait=_wait(headers))


def said_in(body: object) -> str:
    """The message in the body of an error; empty where there is no text."""
    match body:
        case (
            {"error": {"message": str(message)}}
            | {"error": str(message)}
            | {"message": str(message)}
            | {"detail": str(message)}
        ):
            return clean(message)
    return ""


def clean(words: str) -> str:
    """Foreign text on one line, without control and formatting characters.

    It is not cut here: a cut through a key would leave a part that is not recognised.

    Examples
    --------
    >>> clean("too \\x1b[31mmany\\nrequests")
    'too [31mmany requests'
    """
    line = " ".join(words.split())
    return "".join(letter for letter in line if unicodedata.category(letter)[0] != "C")


def _wait(headers: Mapping[str, str]) -> float | None:
    """Seconds in ``Retry-After``, a number or a date; None where it is neither."""
    text = headers.get("retry-after", "")
    try:
        seconds = float(text)
        return seconds if seconds >= 0 else None
    except ValueError:
        pass
    try:
        seconds = (parsedate_to_datetime(text) - datetime.now(UTC)).total_seconds()
    # Dates without a time zone cannot be subtracted; years beyond 9999 do not exist.
    except (ValueError, TypeError, OverflowError):
        return None
    return max(seconds, 0.0)


def outcome_of(
    ask: EndpointRequest, status: int, headers: Mapping[str, str], content: bytes
) -> Reply | Failure:
    """The reply in a response, or why there is none."""
    if status < 300:
        try:
            return read_reply(ask, content)
        except MalformedReplyError as error:
            return Failure(said=str(error), status=OK)
    failure = refusal(status, headers, content)
    if failure.is_filtered:
        return Reply(missing="refused")
    return Reply(missing="cut off") if failure.is_too_long else failure


class MalformedReplyError(Exception):
    """A reply that violates OpenAI's protocol, or whose body cannot be read; the text says how."""


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
    if ask.of_prompt:
        return _of_prompt(ask, body, choice)
    cut = choice.get("finish_reason") in _CUT
    if ask.path == "completions":
        positions = _positions(choice.get("logprobs"))
        return Reply(text=_text(choice.get("text"), ask), positions=positions, model=model, cut=cut)
    if choice.get("error") or choice.get("finish_reason") == "error":
        raise MalformedReplyError(f"a failure in place of a reply: {_shown(content)}")
    if (message := _message(choice, content)) is None:
        # Log-probabilities of a withheld text are no answer either.
        return Reply(model=model, missing="refused")
    whole, thinks = _joined(message.get("content"))
    whole = _text(whole, ask)
    text = without_thought(whole)
    match body:
        case {"usage": {"completion_tokens_details": {"reasoning_tokens": int(tokens)}}}:
            thinks = thinks or tokens > 0
    thinks = thinks or any(map(message.get, _THOUGHTS))
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
_WITHHELD = ("content_filter", "safety", "prohibited_content", "blocklist", "refusal")


def _joined(content: object) -> tuple[object, bool]:
    """The text of a content in parts, and whether one of them is a thought."""
    if not isinstance(content, list):
        return content, False
    parts = [part for part in content if isinstance(part, dict)]
    texts = [part.get("text") for part in parts if part.get("type") in ("text", "output_text")]
    is_thought = any(part.get("type") in ("thinking", "reasoning") for part in parts)
    return "".join(text for text in texts if isinstance(text, str)), is_thought


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
        case {"finish_reason": str(reason)} if reason.lower().startswith(_WITHHELD):
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


def _of_prompt(ask: EndpointRequest, body: dict[str, Any], choice: dict[str, Any]) -> Reply:
    """The tokens of a prompt, as vLLM gives them with a chat or as a completion echoes them.

    There are none where the server ignores the request for them.
    """
    rows: list[list[Any]] = []
    try:
        match ask.path, body, choice:
            case "chat", {"prompt_logprobs": [*places]}, _:
                # The token itself comes first, then the likeliest ones.
                rows = [
                    [(name, entry["decoded_token"], entry["logprob"]) for name, entry in row]
                    for row in ((place or {}).items() for place in places)
                ]
            case "completions", _, {"logprobs": {"tokens": [*tokens], "token_logprobs": values}}:
                tables = choice["logprobs"].get("top_logprobs") or [None] * len(tokens)
                echoed = zip(tokens, values, tables, strict=True)
                rows = [
                    [(token, token, value), *((name, name, table[name]) for name in table or ())]
                    for token, value, table in echoed
                ]
                # What the model writes after the prompt; nothing if that is the end of the text.
                del rows[len(rows) - (body.get("usage") or {}).get("completion_tokens", 1) :]
        read = tuple(map(_prompt_token, rows))
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise MalformedReplyError(
            f"log-probabilities of a prompt in an unknown form: {error!r:.200}"
        ) from error
    written = choice.get("text")
    after = written.removeprefix(ask.prompt) if isinstance(written, str) else ""
    return Reply(text=_text(after, ask), cut=choice.get("finish_reason") in _CUT, read=read)


def _prompt_token(row: list[tuple[Any, Any, Any]]) -> PromptToken:
    """A token in the prompt: its name, text and log-probability, before those of others."""
    (name, text, value), *others = row or [("", "", None)]
    return PromptToken(
        name=_token(name),
        text=_token(text or ""),
        log_probability=math.nan if value is None else _logarithm(value),
        others=tuple((_token(its), _logarithm(at)) for key, its, at in others if key != name),
    )


def _of_chat(entry: Any) -> Position:
    likeliest = entry.get("top_logprobs") or ()
    return _position(_name(entry), [(_name(token), token["logprob"]) for token in likeliest])


def _name(entry: Any) -> Any:
    """A token's text; llama.cpp gives none for the first bytes of a character."""
    written = entry.get("bytes")
    if entry["token"] == "" and isinstance(written, list):
        return bytes(written).decode("utf-8", "replace")
    return entry["token"]


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
    return math.exp(_logarithm(logprob))


def _logarithm(logprob: Any) -> float:
    # Whole numbers may have more digits than fit into a float. No comparison with NaN is true.
    if isinstance(logprob, bool) or not logprob <= LEAST_ABOVE_0:
        raise ValueError("a log-probability that is above 0, or no number")
    return float(min(max(logprob, LEAST_LOGPROB), 0.0))


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
        """The request in the form that this server accepts: greedy, or drawn by its seed."""
        body: dict[str, Any] = {"model": self._model} | {
            name: values[0]
            for name, values in self._optional.items()
            if values and not (ask.path == "completions" and name in _SWITCHES)
        }
        if ask.seed is not None:
            drawn = {"temperature": 1, "seed": ask.seed}
            body |= {name: value for name, value in drawn.items() if name in body}
        likeliest = ask.likeliest
        if ask.path == "completions":
            asked = {"logprobs": likeliest} if likeliest else {}
            asked |= {"echo": True} if ask.of_prompt else {}
            return body | {"prompt": ask.prompt, "max_tokens": ask.most_tokens} | asked
        if self._most_likeliest is not None:
            likeliest = min(likeliest, self._most_likeliest)
        if ask.of_prompt:
            if "chat_template_kwargs" in body:
                # A given answer has no thought before it.
                body["chat_template_kwargs"] = dict.fromkeys(body["chat_template_kwargs"], False)
            body |= {"prompt_logprobs": likeliest, "add_generation_prompt": not ask.begun}
        elif likeliest:
            body |= {"logprobs": True, "top_logprobs": likeliest}
        body[self._limit] = ask.most_tokens
        begun = [("assistant", ask.begun)] if ask.begun else []
        chat = (*ask.earlier, ("user", ask.prompt), *begun)
        return body | {"messages": [{"role": role, "content": text} for role, text in chat]}

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
                values = self._optional[name]
                if name == "temperature" and values and values[0] != sent[name]:
                    return False  # drawn answers are refused; the others stay greedy
                # Of these there is only one setting, which scores or seeds change.
                if values[:1] == [sent[name]] or (
                    values and name in ("chat_template_kwargs", "seed")
                ):
                    values.pop(0)
                return True
        return False

    def leave_out_switches(self) -> None:
        """Let the model think or not as it does by itself."""
        self._optional |= {name: [] for name in _SWITCHES}
