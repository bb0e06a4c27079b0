"""Where an endpoint is, and which of its models is meant."""

from __future__ import annotations

import ipaddress
import re
import unicodedata
from dataclasses import dataclass
from urllib.parse import urlsplit

from scope.errors import SpecError
from scope.models.endpoint.key import KEY_VARIABLE, Key

_EXAMPLE = "openai:http://localhost:8000/v1#my-model"

_SECRET = re.compile(
    r"(?:key|token|secret|passw(?:or)?d|auth(?:orization)?)\s*(?:=|%3d)|bearer(?:\s|%20|\+)"
    r"|\bsk-[A-Za-z0-9_-]{16,}",
    re.IGNORECASE,
)
"""What announces a secret, or looks like a key, in a URL or behind the name of a model."""

MOST_CHARACTERS = 2000
"""Of a URL, and of a model's name: they are shown and kept."""

_MOST_SHOWN = 200

_HOST = re.compile(r"[a-z0-9._-]{1,253}", re.IGNORECASE)


@dataclass(frozen=True, kw_only=True, slots=True)
class Address:
    """A server's base URL, without a slash at its end, and the name of one of its models."""

    base_url: str
    model: str

    @property
    def spec(self) -> str:
        """The string that names this model again; it never holds a key."""
        return f"openai:{self.base_url}#{self.model}"


def parse_address(rest: str, key: Key) -> Address:
    """What ``BASE_URL#MODEL`` says.

    Raises
    ------
    SpecError
        When it is no http(s) URL with a model's name, or has room for a password in it or the
        key: specs are shown and kept.

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
    """Where a user name, a password or a query may stand, there is nothing else to be."""
    host = base_url.partition("://")[2].partition("/")[0]
    if re.search(r"[@?\\]|%40|%3f", base_url, re.IGNORECASE) or "%" in host:
        found = "an endpoint's URL with a user name, a password or a query in it"
    elif "?" in model or _SECRET.search(model) or _SECRET.search(base_url):
        found = "an endpoint's model spec with a query or a secret in it"
    elif key.is_in(f"{base_url}#{model}"):
        found = f"an endpoint's model spec with the key of {KEY_VARIABLE} in it"
    else:
        return
    # The spec is not shown: what stands there may be a secret.
    raise SpecError(
        found,
        expected=f"openai:BASE_URL#MODEL, such as {_EXAMPLE}",
        fix=f"remove it from the spec; set the key in the environment variable {KEY_VARIABLE}",
    )


def _is_web_address(url: str) -> bool:
    try:
        parts = urlsplit(url)
        # Reading the port checks it.
        return (
            len(url) <= MOST_CHARACTERS
            and parts.scheme in ("http", "https")
            and parts.port != 0
            and _is_host(parts.hostname or "", "[" in parts.netloc)
            and re.search(r"[\s\x00-\x1f\x7f]", url) is None
            and url.isprintable()
        )
    except ValueError:
        return False


def _is_host(host: str, in_brackets: bool) -> bool:
    if in_brackets:
        return ipaddress.ip_address(host).version == 6
    # Names in other scripts become ASCII as they are looked up; an empty or long part fails.
    return bool(_HOST.fullmatch(host.encode("idna").decode("ascii")))


def _is_name(model: str) -> bool:
    """Whether it is a name that can be shown and kept: no control characters or half ones."""
    return 0 < len(model.strip()) <= MOST_CHARACTERS and not any(
        unicodedata.category(one) in ("Cc", "Cs") for one in model.strip()
    )
