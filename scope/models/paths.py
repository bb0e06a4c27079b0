"""Texts as paths through a tree of tokens: a beginning that texts share is in it once.

A causal model gives a token the same place in its memory whatever stands behind it. So the tokens
of many texts are read together, each distinct beginning once, and what was read is found again.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import NamedTuple

BLOCK = 16
"""Attention is computed for so many places at once, 0 to 15, 16 to 31 and so on. What a place sees
follows from its number alone, and never from the texts that are read beside it."""

MOST_KEYS = 32_768
"""Most keys that are gathered at once, for the sake of memory."""

NOWHERE = -1
"""Stands for a token that there is not."""

Row = Sequence[int]


class Piece(NamedTuple):
    """The tokens of one path that are read within one block.

    ``queries`` are their places among all tokens that are read, ``keys`` the slots of the path up
    to the block's end; both with `NOWHERE` where there is none.
    """

    queries: list[int]
    keys: list[int]


class Plan(NamedTuple):
    """What is read at once.

    ``tokens``, ``positions`` and ``slots`` have an entry for each token that is read; ``pieces``
    stand by the number of their block; ``wanted`` are the places, among the tokens that are read,
    of the last tokens of each row.
    """

    tokens: list[int]
    positions: list[int]
    slots: list[int]
    pieces: dict[int, list[Piece]]
    wanted: list[list[int]]


class Remembered:
    """The slots in which a model's memory of tokens stands, by path.

    Parameters
    ----------
    capacity
        Tokens that are kept; more only as long as a single batch has more.

    Examples
    --------
    >>> remembered = Remembered(8)
    >>> len(remembered.plan([[5, 6, 7], [5, 6, 8]], last=[1, 1]).tokens)
    4
    >>> len(remembered.plan([[5, 6, 9]], last=[1]).tokens)
    1
    """

    def __init__(self, capacity: int) -> None:
        self._least = capacity
        self.forget()

    def forget(self) -> None:
        """Remember nothing."""
        self.capacity = self._least
        self._keep(())

    def plan(self, rows: Sequence[Row], last: Sequence[int]) -> Plan:
        """What is to be read so that rows are known, and so many of each row's last tokens read.

        The model's answer at a token is not kept: a known token is read again where it is wanted.
        """
        self._make_room(rows)
        read = Plan([], [], [], {}, [])
        places: dict[int, int] = {}
        for row, count in zip(rows, last, strict=True):
            wanted = len(row) - count
            path, known = self._path(row)
            queries: dict[int, list[int]] = {}
            for position in range(min(known, wanted), len(row)):
                slot = path[position]
                if slot in places:
                    continue
                places[slot] = len(places)
                read.tokens.append(row[position])
                read.positions.append(position)
                read.slots.append(slot)
                block, place = divmod(position, BLOCK)
                queries.setdefault(block, [NOWHERE] * BLOCK)[place] = places[slot]
            for block, some in queries.items():
                end = (block + 1) * BLOCK
                keys = [*path[:end], *[NOWHERE] * (end - len(path))]
                read.pieces.setdefault(block, []).append(Piece(some, keys))
            read.wanted.append([places[slot] for slot in path[wanted:]])
        return read

    def _path(self, row: Row) -> tuple[list[int], int]:
        """The slots of a row's tokens, and how many of them were known."""
        path, known, before = [], len(row), NOWHERE
        for position, token in enumerate(row):
            slot = self._slots.get((before, token))
            if slot is None:
                known = min(known, position)
                slot = self._slots[before, token] = self._free.pop()
            path.append(slot)
            before = slot
        return path, known

    def _make_room(self, rows: Sequence[Row]) -> None:
        """See that all tokens of the rows have a slot; what others had is forgotten for it."""
        known: set[int] = set()
        new: dict[tuple[int, int], int] = {}
        for row in rows:
            before = NOWHERE
            for token in row:
                slot = self._slots.get((before, token))
                if slot is None:
                    # A number that no slot has stands for one that is still to be given.
                    slot = new.setdefault((before, token), NOWHERE - 1 - len(new))
                else:
                    known.add(slot)
                before = slot
        if len(new) <= len(self._free):
            return
        size = max(self._least, len(known) + len(new))
        if size == self.capacity:
            self._keep(known)
        else:
            self.capacity = size
            self._keep(())

    def _keep(self, slots: Collection[int]) -> None:
        known = getattr(self, "_slots", {})
        self._slots = {key: slot for key, slot in known.items() if slot in slots}
        self._free = sorted(set(range(self.capacity)) - set(slots), reverse=True)


def batches_by_beginning(
    rows: Sequence[Row], more: Sequence[int], token_budget: int, most: int
) -> Iterator[list[int]]:
    """Indices of the rows in each batch; rows that begin alike stand together.

    Parameters
    ----------
    more
        Tokens that are read after each row.
    token_budget
        Most tokens in a batch, a shared beginning counted once; a single row may exceed it.
    most
        Most rows in a batch.

    Examples
    --------
    >>> list(batches_by_beginning([[1, 2, 3], [4, 5], [1, 2, 9]], [0, 0, 0], 4, 48))
    [[0, 2], [1]]
    """
    batch: list[int] = []
    tokens = 0
    for index in sorted(range(len(rows)), key=lambda one: tuple(rows[one])):
        row = rows[index]
        new = len(row) + more[index] - (_shared(rows[batch[-1]], row) if batch else 0)
        if batch and (tokens + new > token_budget or len(batch) == most):
            yield batch
            batch, tokens, new = [], 0, len(row) + more[index]
        batch.append(index)
        tokens += new
    if batch:
        yield batch


def _shared(one: Row, other: Row) -> int:
    """How many tokens two rows have in common before they differ."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((n for n, (a, b) in pairs if a != b), min(len(one), len(other)))
