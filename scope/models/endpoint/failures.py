"""What can go wrong with one request, in words that may be shown, and whether it may pass."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from types import MappingProxyType

from scope.errors import ModelError
from scope.models.endpoint.address import KEY_VARIABLE, Key

OK = 200

REDIRECTS = (301, 302, 307, 308)

LONGEST_WAIT = 600.0
"""Seconds; a server that says to wait longer is asked again by the user, not by us."""

MOST_SHOWN = 200
"""Characters of a server's words that a message shows."""

_MAY_PASS = (OK, 408, 409, 425, 429)
_NOT_OFFERED = 501
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
        429: "wait, or lower --requests",
    }
)
_TOO_LONG = re.compile(
    r"context[ _-]?(?:length|size|window)|maximum context|prompt is too long|too many tokens",
    re.IGNORECASE,
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Failure:
    """One request that brought no reply.

    ``said`` is what the server said, or what became of the connection, without control
    characters. ``status`` is None where no reply came, and 200 where one came
    that cannot be read. ``wait`` is the time in seconds after which the server wants to be asked.
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
        if self.code == "insufficient_quota" or (self.wait or 0) > LONGEST_WAIT:
            return False
        if self.status is None or self.status in _MAY_PASS:
            return True
        return self.status >= 500 and self.status != _NOT_OFFERED

    @property
    def is_too_long(self) -> bool:
        """Whether the question is longer than the model's context."""
        return self.status in (400, 413, 422) and bool(
            _TOO_LONG.search(self.said) or "context" in self.code
        )

    def without(self, key: Key) -> Failure:
        """The same, without the key, which a server may repeat in what it says.

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

    def __init__(self, found: str, failure: Failure, *, key: Key) -> None:
        super().__init__(
            f"{found}; last error: {failure}",
            expected="an OpenAI-compatible server that answers",
            fix=f"{_how_to_fix(failure, key)}; the same command resumes the run",
        )
        self.failure = failure


def _how_to_fix(failure: Failure, key: Key) -> str:
    if failure.status == 401 and not key.is_set:
        return f"{KEY_VARIABLE} is not set: set it to one of this server's keys"
    if failure.status in _FIXES:
        return _FIXES[failure.status]
    if failure.may_pass:
        return "check the server's log, or wait until it recovers"
    return "correct what the server rejects"


def connection_failure(error: Exception) -> Failure:
    """What became of a connection that was refused, cut or never made."""
    return Failure(said=clean(f"{type(error).__name__}: {error}"))


def refusal(status: int, headers: Mapping[str, str], content: bytes) -> Failure:
    """The message of a reply with an error status."""
    said, code = _words(content)
    return Failure(said=said, status=status, code=code, wait=_wait(headers))


def _words(content: bytes) -> tuple[str, str]:
    """The message and the code in an error's body; servers put them in different places."""
    text = content.decode("utf-8", "replace")
    try:
        body = json.loads(text)
    except (ValueError, RecursionError):
        return clean(text), ""
    return said_in(body) or clean(text), code_in(body)


def said_in(body: object) -> str:
    """The message in the body of an error; empty where there is none in words."""
    match body:
        case (
            {"error": {"message": str(message)}}
            | {"error": str(message)}
            | {"message": str(message)}
            | {"detail": str(message)}
        ):
            return clean(message)
    return ""


def code_in(body: object) -> str:
    """The code, or else the type, in the body of an error; empty where there is none."""
    match body:
        case {"error": {"code": str(code)}} | {"error": {"type": str(code)}}:
            return clean(code)
    return ""


def clean(words: str) -> str:
    """Foreign text on one line, without control and formatting characters.

    They are not cut here: a cut through a key would leave a part that is not recognised.

    Examples
    --------
    >>> clean("too \\x1b[31mmany\\nrequests")
    'too [31mmany requests'
    """
    line = " ".join(words.split())
    return "".join(one for one in line if not unicodedata.category(one).startswith("C"))


def _wait(headers: Mapping[str, str]) -> float | None:
    """Seconds in ``Retry-After``, which holds a number or a date; None where it makes no sense."""
    text = headers.get("retry-after", "")
    try:
        seconds = float(text)
    except ValueError:
        return _until(text)
    return seconds if seconds >= 0 else None


def _until(date: str) -> float | None:
    try:
        seconds = (parsedate_to_datetime(date) - datetime.now(UTC)).total_seconds()
    # Without a time zone, dates cannot be subtracted; years beyond 9999 are none.
    except (ValueError, TypeError, OverflowError):
        return None
    return max(seconds, 0.0)
