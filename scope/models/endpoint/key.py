"""The key of an endpoint: where it comes from, and how it is kept out of all that leaves here."""

from __future__ import annotations

import base64
import os
import re
from dataclasses import dataclass, field
from functools import cached_property

from scope.errors import ModelError

KEY_VARIABLE = "OPENAI_API_KEY"
"""The one place from which a key is taken."""

NO_KEY = "none"
"""Sent where there is no key, since some servers want any."""

HIDDEN = "[key]"
"""Written in the place of a key."""

LEAST_SECRET = 8
"""Characters of a key that answers are searched for: a shorter one may be a word of an answer."""

MOST_CHARACTERS = 4096
"""Of a key: servers take no header that is much longer."""

_BETWEEN = r"[\x00-\x1f\x7f-\x9f\xad\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff]*"
"""What may stand between two characters and not be seen."""


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
        """Whether it is long enough to be told from a word, as keys such as ``EMPTY`` are not."""
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
        When it is too long, or holds what no header can carry; the message does not show it.
    """
    value = os.environ.get(KEY_VARIABLE, "").strip()
    if re.search(r"[^!-~]", value):
        raise ModelError(
            f"a key in {KEY_VARIABLE} with a space or a character beyond ASCII in it",
            expected="the key exactly as the server issued it",
            fix=f"copy the key into {KEY_VARIABLE} again",
        )
    if len(value) > MOST_CHARACTERS:
        raise ModelError(
            f"a key of {len(value)} characters in {KEY_VARIABLE}",
            expected=f"at most {MOST_CHARACTERS} characters",
            fix=f"put the key itself into {KEY_VARIABLE}",
        )
    return Key(value=value or NO_KEY)


def _character(one: str) -> str:
    """A character of a key as itself or escaped: ``\\u002f``, ``\\x2f``, ``%2f``, ``&#47;``."""
    code = ord(one)
    named = {"&": "|&amp;", "<": "|&lt;", ">": "|&gt;", '"': "|&quot;", "'": "|&apos;"}
    escaped = rf"(?:\\+(?:u00|x)|%(?:25)*|&#x0*){code:02x};?|&#0*{code};?"
    return rf"(?:\\*{re.escape(one)}|{escaped}{named.get(one, '')})"


def _encoded(value: str) -> tuple[str, ...]:
    """What of the key shows in Base64, wherever in the encoded bytes it begins, and in hex."""
    found = [value.encode().hex()]
    for encode in (base64.b64encode, base64.urlsafe_b64encode):
        for before in range(3):
            whole = encode(b"\0" * before + value.encode()).decode()
            # The characters at both ends hold bits of the neighbours too.
            found.append(whole[-(-before * 8 // 6) : (before + len(value)) * 8 // 6])
    return tuple(one for one in dict.fromkeys(found) if len(one) >= LEAST_SECRET)
