"""Draws by a hash of each candidate's content, in one pass: they depend on no order."""

from __future__ import annotations

import hashlib
import heapq
from collections.abc import Iterable
from operator import itemgetter
from typing import Generic, NamedTuple, TypeVar

from scope.errors import DataError

Value = TypeVar("Value")


class Keyed(NamedTuple, Generic[Value]):
    """A candidate of the draw. Of those with the same key, the one of least rank is kept."""

    key: bytes
    value: Value
    rank: tuple[bool, bytes] = (False, b"")


def by_name(names: Iterable[str]) -> Iterable[Keyed[str]]:
    """Texts that may be drawn, each by itself."""
    return (Keyed(short_hash(name), name) for name in names)


def draw(candidates: Iterable[Keyed[Value]], n: int | None, seed: int) -> list[Value]:
    """The ``n`` candidates with the smallest random numbers, in their own order; all if None.

    The number follows from the seed and the key alone: rows in another order give the same sample.
    A smaller sample of the same seed is part of a larger one.

    Examples
    --------
    >>> draw(by_name("abcdef"), 3, seed=0), draw(by_name("fedcba"), 2, seed=0)
    (['a', 'd', 'e'], ['e', 'd'])
    """
    drawn: dict[int, tuple[int, Keyed[Value]]] = {}
    greatest_first: list[int] = []
    for place, candidate in enumerate(candidates):
        # Sixteen bytes: no two keys share a number.
        hashed = hashlib.blake2b(f"{seed} ".encode() + candidate.key, digest_size=16)
        number = int.from_bytes(hashed.digest(), "big")
        if number in drawn:
            # A displaced candidate never returns: the remaining numbers are smaller.
            if candidate.rank < drawn[number][1].rank:
                drawn[number] = (place, candidate)
        elif n is None or len(drawn) < n:
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


def short_hash(text: str) -> bytes:
    """Sixteen bytes: a hash that saves memory where many texts must be remembered."""
    return hashlib.blake2b(text.encode(), digest_size=16).digest()
