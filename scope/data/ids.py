"""Whether the ids that rows bring along can name them."""

from __future__ import annotations

import hashlib


class Ids:
    """Ids serve as long as every row has one of its own; without them rows go by number."""

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


def short_hash(text: str) -> bytes:
    """Sixteen bytes that stand for a text where many must be remembered."""
    return hashlib.blake2b(text.encode(), digest_size=16).digest()
