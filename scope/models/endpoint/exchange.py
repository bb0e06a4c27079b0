"""One request over HTTP: where it may go, and how much of the reply is read.

Nothing here trusts the server. A redirect is followed within the server alone, so that prompts
and the key reach the server that the user named and no other. A body is read as it comes, up to a
bound that follows from the request. Cookies are not kept.
"""

from __future__ import annotations

import json
import re
import unicodedata
import zlib
from collections.abc import Mapping
from contextlib import aclosing
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from scope.errors import ModelError
from scope.models.endpoint.address import KEY_VARIABLE, Connections, Key
from scope.printing import counted, first_line

if TYPE_CHECKING:
    import httpx


@dataclass(frozen=True, kw_only=True, slots=True)
class EndpointRequest:
    """One request. Equal requests have equal replies, so each is given once.

    ``likeliest`` is how many of the likeliest tokens are requested at each position.
    """

    path: Literal["chat", "completions", "models"]
    prompt: str = ""
    most_tokens: int = 1
    likeliest: int = 0

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

    def without(self, key: Key) -> Failure:
        """The same, without the key, which a server may repeat in its message.

        Examples
        --------
        >>> key = Key(value="sk-123")
        >>> print(Failure(said="no such key: sk-123", status=401).without(key))
        status 401: no such key: [key]
        """
        return replace(self, said=key.hide(self.said), code=key.hide(self.code))

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


MOST_REDIRECTS = 5

KIBIBYTE = 1024

ENVELOPE = 256 * KIBIBYTE
"""Bytes of a reply besides its tokens: identifiers, counts, and the reasoning of some models."""

BYTES_A_TOKEN = 2 * KIBIBYTE
"""Bytes of a token, and of each likely alternative, as JSON; usually about 100."""

MOST_BYTES = 8 * KIBIBYTE**2
"""Most bytes of any reply, for any number of tokens."""

MOST_LISTED_BYTES = 4 * KIBIBYTE**2
"""Bytes of a list of models: about ten thousand, with all that servers list about each."""

MOST_REFUSAL_BYTES = 64 * KIBIBYTE
"""Bytes of a reply with an error status."""


class HttpResponse(NamedTuple):
    """A server's response, its body bounded."""

    status: int
    headers: Mapping[str, str]
    content: bytes


class MalformedReplyError(Exception):
    """A reply that violates OpenAI's protocol, or whose body cannot be read; the text says how."""


async def exchange(
    connections: Connections, ask: EndpointRequest, body: dict[str, Any]
) -> HttpResponse | Failure:
    """The server's response to a request; the caller bounds the time."""
    import httpx

    content = None if ask.path == "models" else json.dumps(body).encode()
    method = "GET" if content is None else "POST"
    try:
        url = connections.urls[ask.path]
        with connections.one() as connection:
            for _ in range(MOST_REDIRECTS + 1):
                sent = httpx.Request(method, url, headers=connections.headers, content=content)
                response = await connection.handle_async_request(sent)
                async with aclosing(response):
                    status = response.status_code
                    if status not in REDIRECTS:
                        body_read = await _read(response, ask)
                        return HttpResponse(status, response.headers, body_read)
                    location = response.headers.get("location", "")
                target = url.join(location)
                if not location or _origin(target) != _origin(url):
                    way = f"from {_origin(url)} to {_origin(target)}"
                    words = f"a redirect {way}, which is another server: nothing is sent there"
                    return Failure(said=words, status=status)
                url = target
    # Besides errors of httpx: host names that cannot be encoded, and sockets.
    except (httpx.HTTPError, httpx.InvalidURL, ValueError, OSError) as error:
        return Failure(said=clean(f"{type(error).__name__}: {error}"))
    return Failure(said=f"more than {MOST_REDIRECTS} redirects from one to the next", status=status)


def _origin(url: httpx.URL) -> str:
    """Scheme, host and port alone: the rest of a URL may hold secrets."""
    port = url.port or {"http": 80, "https": 443}.get(url.scheme)
    return clean(f"{url.scheme}://{url.host}:{port}")[:100]


def most_bytes(ask: EndpointRequest, status: int) -> int:
    """The longest reply that is read.

    Examples
    --------
    >>> most_bytes(EndpointRequest(path="chat", most_tokens=32), 200)
    327680
    >>> most_bytes(EndpointRequest(path="chat"), 500)
    65536
    """
    if status >= 400:
        return MOST_REFUSAL_BYTES
    if ask.path == "models":
        return MOST_LISTED_BYTES
    return min(ENVELOPE + ask.most_tokens * (1 + ask.likeliest) * BYTES_A_TOKEN, MOST_BYTES)


async def _read(response: httpx.Response, ask: EndpointRequest) -> bytes:
    """The body, decompressed within its bound; compression was not requested."""
    most = most_bytes(ask, response.status_code)
    encoding = response.headers.get("content-encoding", "").strip().lower()
    if encoding not in ("", "identity", "gzip", "x-gzip", "deflate"):
        raise MalformedReplyError(
            f"a reply compressed as {clean(encoding)!r}, which was not requested"
        )
    # 32 more bits: gzip or zlib, by the first bytes.
    inflating = zlib.decompressobj(zlib.MAX_WBITS | 32)
    content, came = bytearray(), 0
    async for chunk in response.aiter_raw():
        came += len(chunk)
        try:
            packed = encoding not in ("", "identity")
            content += inflating.decompress(chunk, most + 1) if packed else chunk
        except zlib.error as error:
            raise MalformedReplyError(
                f"a reply that cannot be decompressed ({first_line(error)})"
            ) from error
        # The bytes that came count too: compressed, nothing at all can be endless.
        if max(came, len(content)) > most:
            if response.status_code >= 400:
                return f"an error in more than {most:,} bytes".encode()
            what = "the list of models" if ask.path == "models" else ask.tokens_in_words
            raise MalformedReplyError(
                f"a reply of more than {most:,} bytes to a request for {what}"
            )
    return bytes(content)
