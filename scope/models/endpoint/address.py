"""Where an endpoint is, which of its models is meant, and the key that opens it."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from urllib.parse import urlsplit

from scope.errors import ModelError, SpecError

KEY_VARIABLE = "OPENAI_API_KEY"
"""The one place from which a key is taken."""

NO_KEY = "none"
"""Sent where there is no key: local servers ask for none, but the client library does."""

_EXAMPLE = "openai:http://localhost:8000/v1#my-model"


@dataclass(frozen=True, kw_only=True, slots=True)
class Address:
    """A server's base URL, without a slash at its end, and the name of one of its models."""

    base_url: str
    model: str

    @property
    def spec(self) -> str:
        """The string that names this model again; it never holds a key."""
        return f"openai:{self.base_url}#{self.model}"


def parse_address(rest: str) -> Address:
    """What ``BASE_URL#MODEL`` says.

    Raises
    ------
    SpecError
        When it is no http(s) URL with a model's name, or has room for a password in it: specs are
        shown and kept.

    Examples
    --------
    >>> parse_address("http://localhost:8000/v1/#my-model")
    Address(base_url='http://localhost:8000/v1', model='my-model')
    """
    base_url, _, model = rest.partition("#")
    if "@" in base_url or "?" in base_url:
        # Not shown: what stands there may be a secret.
        raise SpecError(
            "an endpoint's URL with a user name, a password or a query in it",
            expected=f"openai:BASE_URL#MODEL, such as {_EXAMPLE}",
            mend=f"leave that out of the URL; put the key into the environment as {KEY_VARIABLE}",
        )
    if not _is_web_address(base_url) or not model.strip():
        lacks = "" if not _is_web_address(base_url) else " without the name of a model"
        raise SpecError(
            f"the model spec `openai:{rest}`{lacks}",
            expected="openai:BASE_URL#MODEL, with an http or https URL",
            mend=f"write for example {_EXAMPLE}",
        )
    return Address(base_url=base_url.rstrip("/"), model=model.strip())


def _is_web_address(url: str) -> bool:
    try:
        parts = urlsplit(url)
        # Reading the port checks it.
        return parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False


def read_key() -> str:
    """The key in the environment, or ``NO_KEY``.

    Raises
    ------
    ModelError
        When it holds what no header can carry; the message does not show it.
    """
    key = os.environ.get(KEY_VARIABLE, "").strip()
    if re.search(r"[^!-~]", key):
        raise ModelError(
            f"a key in {KEY_VARIABLE} with a space or a character beyond ASCII in it",
            expected="a key as its server gave it out",
            mend=f"copy the key into {KEY_VARIABLE} again",
        )
    return key or NO_KEY
