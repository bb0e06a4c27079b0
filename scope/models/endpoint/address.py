"""The address of an endpoint, the name of its model, and its key.

The key comes from the environment, and is removed from all output.
"""

from __future__ import annotations

import base64
import os
import re
import unicodedata
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from scope.errors import ModelError, SpecError

if TYPE_CHECKING:
    pass


KEY_VARIABLE = "OPENAI_API_KEY"
"""The environment variable that holds the key."""

NO_KEY = "none"
"""Sent where there is no key, since some servers require one."""

HIDDEN = "[key]"
"""Replaces a key in output."""

LEAST_SECRET = 8
"""Least characters of a key that is searched for in answers: a shorter one may be a word."""

MOST_CHARACTERS_OF_A_KEY = 4096
"""Most characters of a key: servers accept no header that is much longer."""

_BETWEEN = r"[\x00-\x1f\x7f-\x9f\xad\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff]*"
"""Invisible characters that may occur between two others."""


@dataclass(frozen=True, kw_only=True)
class Key:
    """A key, or ``NO_KEY``; its representation does not show it."""

    value: str = field(repr=False)

    @property
    def is_set(self) -> bool:
        """Whether there is a key at all."""
        return self.value != NO_KEY

    @property
    def is_secret(self) -> bool:
        """Whether it is too long to be a word; keys such as ``EMPTY`` are not."""
        return self.is_set and len(self.value) >= LEAST_SECRET

    @cached_property
    def _spellings(self) -> re.Pattern[str]:
        """The key as it is, escaped for JSON, URLs or HTML, in Base64 and in hexadecimal digits."""
        escaped = _BETWEEN.join(map(_character, self.value))
        return re.compile("|".join((escaped, *map(re.escape, _encoded(self.value)))), re.IGNORECASE)

    def hide(self, words: str) -> str:
        r"""The words, with ``[key]`` in the place of the key in any spelling.

        Examples
        --------
        >>> key = Key(value="sk-12/34")
        >>> print(key.hide(r"sk-12/34, sk-12\/34, sk\u002d12%2f34, c2stMTIvMzQ="), key)
        [key], [key], [key], [key]Q= Key()
        """
        return self._spellings.sub(HIDDEN, words) if self.is_set else words

    def is_in(self, words: str) -> bool:
        """Whether the key, in any spelling, is part of the words."""
        return self.is_secret and self._spellings.search(words) is not None


def read_key() -> Key:
    """The key in the environment, or ``NO_KEY``.

    Raises
    ------
    ModelError
        When it is too long, or has characters that no header may contain; the message does not show
        it.
    """
    value = os.environ.get(KEY_VARIABLE, "").strip()
    if re.search(r"[^!-~]", value):
        raise ModelError(
            f"a key in {KEY_VARIABLE} with a space or a character beyond ASCII in it",
            expected="the key exactly as the server issued it",
            fix=f"copy the key into {KEY_VARIABLE} again",
        )
    if len(value) > MOST_CHARACTERS_OF_A_KEY:
        raise ModelError(
            f"a key of {len(value)} characters in {KEY_VARIABLE}",
            expected=f"at most {MOST_CHARACTERS_OF_A_KEY} characters",
            fix=f"put the key itself into {KEY_VARIABLE}",
        )
    return Key(value=value or NO_KEY)


def _character(character: str) -> str:
    """A character of a key as itself or escaped: ``\\u002f``, ``\\x2f``, ``%2f``, ``&#47;``."""
    code = ord(character)
    named = {"&": "|&amp;", "<": "|&lt;", ">": "|&gt;", '"': "|&quot;", "'": "|&apos;"}
    escaped = rf"(?:\\+(?:u00|x)|%(?:25)*|&#x0*){code:02x};?|&#0*{code};?"
    return rf"(?:\\*{re.escape(character)}|{escaped}{named.get(character, '')})"


def _encoded(value: str) -> tuple[str, ...]:
    """The key in hex, and its recognisable part in Base64 at each offset in the encoded bytes."""
    parts = [value.encode().hex()]
    for encode in (base64.b64encode, base64.urlsafe_b64encode):
        for before in range(3):
            whole = encode(b"\0" * before + value.encode()).decode()
            # The characters at both ends hold bits of the neighbours too.
            parts.append(whole[-(-before * 8 // 6) : (before + len(value)) * 8 // 6])
    return tuple(part for part in dict.fromkeys(parts) if len(part) >= LEAST_SECRET)


_EXAMPLE = "openai:http://localhost:8000/v1#my-model"

_SECRET = re.compile(
    r"(?:key|token|secret|passw(?:or)?d|auth(?:orization)?)\s*(?:=|%3d)|bearer(?:\s|%20|\+)"
    r"|\bsk-[A-Za-z0-9_-]{16,}",
    re.IGNORECASE,
)
"""A parameter for a secret, or a string like a key, in a URL or after a model's name."""

MOST_CHARACTERS = 2000
"""Most characters of a URL, and of a model's name: they are shown and stored."""

_MOST_SHOWN = 200


@dataclass(frozen=True, kw_only=True, slots=True)
class Address:
    """A server's base URL, without a slash at its end, and the name of one of its models."""

    base_url: str
    model: str

    @property
    def spec(self) -> str:
        """The string that names this model again; it never holds a key."""
        return f"openai:{self.base_url}#{self.model}"

    @property
    def identity(self) -> str:
        """What the model is known by."""
        return self.spec


def parse_address(rest: str, key: Key) -> Address:
    """Parse ``BASE_URL#MODEL``.

    Raises
    ------
    SpecError
        When it is not an http(s) URL with a model's name, or may contain a password or the key:
        specs are shown and stored.

    Examples
    --------
    >>> parse_address("http://localhost:8000/v1/#my-model", Key(value="sk-12345678"))
    Address(base_url='http://localhost:8000/v1', model='my-model')
    """
    base_url, _, model = rest.partition("#")
    _refuse_secrets(base_url, model, key)
    if not _is_web_address(base_url) or not _is_name(model):
        shown = rest if len(rest) <= _MOST_SHOWN else f"{rest[:_MOST_SHOWN]}…"
        lacks = " without the name of a model" if _is_web_address(base_url) else ""
        raise SpecError(
            f"the model spec `openai:{shown}`{lacks}",
            expected="openai:BASE_URL#MODEL, with an http or https URL",
            fix=f"write for example {_EXAMPLE}",
        )
    return Address(base_url=base_url.rstrip("/"), model=model.strip())


def _refuse_secrets(base_url: str, model: str, key: Key) -> None:
    """Refuse every spec that may contain a user name, a password, a query or the key."""
    host = base_url.partition("://")[2].partition("/")[0]
    if re.search(r"[@?\\]|%40|%3f", base_url, re.IGNORECASE) or "%" in host:
        problem = "an endpoint's URL with a user name, a password or a query in it"
    elif "?" in model or _SECRET.search(model) or _SECRET.search(base_url):
        problem = "an endpoint's model spec with a query or a secret in it"
    elif key.is_in(f"{base_url}#{model}"):
        problem = f"an endpoint's model spec with the key of {KEY_VARIABLE} in it"
    else:
        return
    # The spec is not shown: it may contain a secret.
    raise SpecError(
        problem,
        expected=f"openai:BASE_URL#MODEL, such as {_EXAMPLE}",
        fix=f"remove it from the spec; set the key in the environment variable {KEY_VARIABLE}",
    )


def _is_web_address(url: str) -> bool:
    """Whether it is an http(s) URL; a host that does not exist fails at the first request."""
    try:
        parts = urlsplit(url)
        # Reading the port checks it.
        is_url = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False
    return is_url and len(url) <= MOST_CHARACTERS and url.isprintable() and " " not in url


def _is_name(model: str) -> bool:
    """Whether it can be shown and stored: no control characters or lone surrogates."""
    return 0 < len(model.strip()) <= MOST_CHARACTERS and not any(
        unicodedata.category(character) in ("Cc", "Cs") for character in model.strip()
    )
