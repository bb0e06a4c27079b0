"""Random samples that depend on no order of the rows: by a hash of each row's content."""

from __future__ import annotations

import hashlib
import heapq
import json
from collections import Counter
from collections.abc import Iterable, Sequence
from operator import itemgetter
from typing import Generic, NamedTuple, TypeVar

from scope.errors import DataError

Value = TypeVar("Value")


class Keyed(NamedTuple, Generic[Value]):
    """A candidate of the draw. Of those with the same key, the one of least rank is kept.

    Those of one cluster are drawn one after the other.
    """

    key: bytes
    value: Value
    rank: tuple[bool, bytes] = (False, b"")
    cluster: str = ""


def by_name(names: Iterable[str]) -> Iterable[Keyed[str]]:
    """Texts that may be drawn, each by itself."""
    return (Keyed(short_hash(name), name) for name in names)


def draw(candidates: Iterable[Keyed[Value]], n: int | None, seed: int) -> list[Value]:
    """The ``n`` candidates with the smallest random numbers, in their own order; all if None.

    The number follows from the seed and the key alone: rows in another order give the same sample.
    A smaller sample of the same seed is part of a larger one. Clusters are drawn whole, but for the
    last, of which as many are drawn as are lacking.

    Examples
    --------
    >>> draw(by_name("abcdef"), 3, seed=0), draw(by_name("fedcba"), 2, seed=0)
    (['a', 'd', 'e'], ['e', 'd'])
    """
    drawn: dict[int, tuple[int, Keyed[Value]]] = {}
    greatest_first: list[int] = []
    for place, candidate in enumerate(candidates):
        # Sixteen bytes: no two keys share a number.
        keys = candidate.cluster.encode(), candidate.key
        hashed = [hashlib.blake2b(f"{seed} ".encode() + key, digest_size=16) for key in keys]
        number = int.from_bytes(b"".join(each.digest() for each in hashed), "big")
        if number in drawn:
            # A displaced candidate never returns: the remaining numbers are smaller.
            if candidate.rank < drawn[number][1].rank:
                drawn[number] = (place, candidate)
        elif n is None or len(drawn) < n:
            if n is not None:
                heapq.heappush(greatest_first, -number)
            drawn[number] = (place, candidate)
        elif number < -greatest_first[0]:
            del drawn[-heapq.heapreplace(greatest_first, -number)]
            drawn[number] = (place, candidate)
    return [candidate.value for _, candidate in sorted(drawn.values(), key=itemgetter(0))]


def require_sample(n: int | None, seed: int) -> None:
    """Refuse a sample of nothing, and a seed that no generator takes.

    Raises
    ------
    DataError
        When ``n`` is below 1 or the seed below 0.
    """
    if n is not None and n < 1:
        raise DataError(f"n = {n}", expected="1 or more examples", fix="request at least one")
    if seed < 0:
        raise DataError(f"seed = {seed}", expected="0 or more", fix="choose another seed")


def fingerprint_of(contents: Iterable[Sequence[object]]) -> str:
    """Sixteen hexadecimal digits that change with any value or the order, as JSON has them.

    Examples
    --------
    >>> fingerprint_of([("0", "good", None)])
    'e182fc29afafcf96'
    """
    digest = hashlib.sha256()
    for content in contents:
        digest.update(json.dumps(content).encode() + b"\n")
    return digest.hexdigest()[:16]


class Repeats:
    """Keys of rows that may say the same: they follow from the content, and count its repeats."""

    def __init__(self) -> None:
        self._met: Counter[bytes] = Counter()

    def key(self, *contents: object) -> bytes:
        """The key of the next row.

        Examples
        --------
        >>> repeats = Repeats()
        >>> first, second = repeats.key("Who?", ["Ann"]), repeats.key("Who?", ["Ann"])
        >>> first == content_key("Who?", ["Ann"]), first == second
        (True, False)
        """
        key = content_key(*contents)
        self._met[key] += 1
        earlier = self._met[key] - 1
        return content_key(*contents, earlier) if earlier else key


def content_key(*contents: object) -> bytes:
    """Sixteen bytes: a hash of a row's content as JSON."""
    return short_hash(json.dumps(contents))


def content_id(key: bytes) -> str:
    """The name of a row that has none of its own: sixteen hexadecimal digits of its key."""
    return key.hex()[:16]


def short_hash(text: str) -> bytes:
    """Sixteen bytes: a hash that saves memory where many texts must be remembered."""
    return hashlib.blake2b(text.encode(), digest_size=16).digest()
