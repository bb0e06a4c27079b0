"""The ids of rows: their own, or a hash of their content."""

from __future__ import annotations

import hashlib
import json
from collections import Counter


class Ids:
    """Ids serve as long as every row has one of its own; without them rows go by their content."""

    def __init__(self) -> None:
        self.serve = True
        self._seen: set[bytes] = set()

    def judge(self, own_id: str | None) -> None:
        """Take note of the next row's id.

        Examples
        --------
        >>> ids = Ids()
        >>> ids.judge("a"), ids.serve
        (None, True)
        >>> ids.judge("a"), ids.serve
        (None, False)
        """
        if not self.serve:
            return
        if own_id is None or (key := short_hash(own_id)) in self._seen:
            self.serve = False
            self._seen.clear()
        else:
            self._seen.add(key)


class Repeats:
    """Keys of rows that may say the same: they follow from the content, and count its repeats."""

    def __init__(self) -> None:
        self._met: Counter[bytes] = Counter()

    def key(self, *said: object) -> bytes:
        """The key of the next row.

        Examples
        --------
        >>> repeats = Repeats()
        >>> first, second = repeats.key("Who?", ["Ann"]), repeats.key("Who?", ["Ann"])
        >>> first == content_key("Who?", ["Ann"]), first == second
        (True, False)
        """
        key = content_key(*said)
        self._met[key] += 1
        earlier = self._met[key] - 1
        return content_key(*said, earlier) if earlier else key


def content_key(*said: object) -> bytes:
    """Sixteen bytes that follow from what a row says, as JSON would hold it."""
    return short_hash(json.dumps(said))


def content_id(key: bytes) -> str:
    """The name of a row that has none of its own: sixteen hexadecimal digits of its key."""
    return key.hex()[:16]


def short_hash(text: str) -> bytes:
    """Sixteen bytes that stand for a text where many must be remembered."""
    return hashlib.blake2b(text.encode(), digest_size=16).digest()
