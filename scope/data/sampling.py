"""Samples in one pass, independent of the order of rows, by a hash of each row's content."""

from __future__ import annotations

import hashlib
import heapq
import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from operator import itemgetter
from typing import Generic, NamedTuple, TypeVar

from scope.errors import DataError
from scope.records import DataCard

Value = TypeVar("Value")


class Keyed(NamedTuple, Generic[Value]):
    """What may be drawn. Those of one key are one, of which that of the least rank stays."""

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
        number = _number(candidate.key, seed)
        if number in drawn:
            # One that was crowded out once stays out: the numbers that are left are smaller.
            if candidate.rank < drawn[number][1].rank:
                drawn[number] = (place, candidate)
        elif n is None or len(drawn) < n:
            heapq.heappush(greatest_first, -number)
            drawn[number] = (place, candidate)
        elif number < -greatest_first[0]:
            del drawn[-heapq.heapreplace(greatest_first, -number)]
            drawn[number] = (place, candidate)
    return [one.value for _, one in sorted(drawn.values(), key=itemgetter(0))]


def _number(key: bytes, seed: int) -> int:
    """Sixteen bytes, so that no two keys share a number."""
    drawn = hashlib.blake2b(f"{seed} ".encode() + key, digest_size=16)
    return int.from_bytes(drawn.digest(), "big")


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


class Candidate(NamedTuple, Generic[Value]):
    """A row's content: its own id, if any, and what it makes, if anything."""

    id: str | None
    item: Value | None


class Drawn(NamedTuple, Generic[Value]):
    """What was drawn: its row, its own id where those of all rows serve, its key and content."""

    row: int
    id: str | None
    key: bytes
    item: Value


class Selection(Generic[Value]):
    """What one pass over rows draws of them, and counts of what it leaves out.

    Own ids serve as long as every row has one of its own. Hashes are kept rather than texts, so
    that a source larger than memory can be sampled.

    Parameters
    ----------
    candidates
        A row each; one that makes nothing is counted as empty.
    key
        The key and the rank of a row that makes something, by its own id and what it makes; see
        `Keyed`. Rows of one key are counted as duplicates but for the first.
    n, seed
        As of `draw`.

    Raises
    ------
    DataError
        When the sample makes no sense.
    """

    def __init__(
        self,
        candidates: Iterable[Candidate[Value]],
        key: Callable[[str | None, Value], tuple[bytes, tuple[bool, bytes]]],
        n: int | None,
        seed: int,
    ) -> None:
        require_sample(n, seed)
        self.rows = self.empty = self.duplicates = 0
        self._own: set[bytes] | None = set()
        drawn = draw(self._keyed(candidates, key), n, seed)
        self.drawn = drawn if self._own is not None else [one._replace(id=None) for one in drawn]

    def _keyed(
        self,
        candidates: Iterable[Candidate[Value]],
        key: Callable[[str | None, Value], tuple[bytes, tuple[bool, bytes]]],
    ) -> Iterator[Keyed[Drawn[Value]]]:
        seen: set[bytes] = set()
        for row, (own_id, item) in enumerate(candidates):
            self.rows += 1
            self._judge(own_id)
            if item is None:
                self.empty += 1
                continue
            place, rank = key(own_id, item)
            self.duplicates += place in seen
            seen.add(place)
            yield Keyed(place, Drawn(row, own_id, place, item), rank)

    def _judge(self, own_id: str | None) -> None:
        if self._own is None:
            return
        if own_id is None or (hashed := short_hash(own_id)) in self._own:
            self._own = None
        else:
            self._own.add(hashed)

    def card(self, spec: str, fingerprint: str, labelled: int, task: str | None = None) -> DataCard:
        """The data that were drawn, which ``spec`` names, and what was left out of them."""
        return DataCard(
            spec=spec,
            fingerprint=fingerprint,
            rows=self.rows,
            used=len(self.drawn),
            duplicates=self.duplicates,
            empty=self.empty,
            labelled=labelled,
            capability=task,
        )


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
