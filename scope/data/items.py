"""Turns rows into a task's items: named, counted, deduplicated and sampled."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple

from scope.data.ids import Ids, Repeats, content_key
from scope.data.sampling import Keyed, draw, require_sample
from scope.errors import DataError
from scope.protocols import TaskData
from scope.records import DataCard, Item


class Draft(NamedTuple):
    """A row's content: its own id, if any, and an item without a name, if the row makes one."""

    id: str | None
    item: Item | None


@dataclass(frozen=True, kw_only=True, slots=True)
class Wanted:
    """What a task makes items of; used in messages.

    Parameters
    ----------
    task
        The task's name.
    rows
        What a row of the data is called, such as ``sentences``.
    unfit
        What is wrong with a row that makes no item.
    once
        Whether an item that asks the same words as an earlier one is left out. Texts repeat by
        accident; a benchmark's rows are its own, and count in its scores as often as they stand.
    """

    task: str
    rows: str
    unfit: str
    once: bool = False


def gather(
    drafts: Iterable[Draft], wanted: Wanted, *, spec: str, n: int | None, seed: int
) -> TaskData:
    """Make at most ``n`` items of drafts, in their order, and count what is left out.

    Left out are rows that make no item, counted as empty, and, where items are wanted once, of
    those that ask the same words, options included, all but one. An item is named by its row's own
    id where all rows have one of their own, and otherwise by the row's number from 0, which every
    question tells in any case: so answers that were saved by row can be looked up. The sample does
    not depend on the order of the rows.

    Raises
    ------
    DataError
        When no item is left, or the sample makes no sense.
    """
    require_sample(n, seed)
    sieve = _Sieve(once=wanted.once)
    drawn = draw(sieve.items(drafts), n, seed)
    if not drawn:
        raise DataError(
            f"no item in {spec}: {sieve.rows} {wanted.rows}, {sieve.empty} of them {wanted.unfit}",
            expected=f"at least one item for the task {wanted.task}",
            fix="check the data, or choose other data",
        )
    items = tuple(_named(one, one.id if sieve.ids.serve else None) for one in drawn)
    card = DataCard(
        spec=spec,
        fingerprint=item_fingerprint(items),
        rows=sieve.rows,
        used=len(items),
        duplicates=sieve.duplicates,
        empty=sieve.empty,
        labelled=sum(bool(item.gold) for item in items),
        capability=wanted.task,
    )
    return TaskData(items=items, card=card)


def item_fingerprint(items: Iterable[Item]) -> str:
    """Sixteen hexadecimal digits that change with anything in any item, or their order.

    Examples
    --------
    >>> from scope.records import Question
    >>> item_fingerprint([Item(question=Question(id="0", text="Who?"), gold=("Ann",))])
    '3716ef94deccae10'
    """
    digest = hashlib.sha256()
    for item in items:
        asked = item.question
        said = [asked.id, asked.text, asked.context, asked.options]
        digest.update(json.dumps([*said, item.gold, item.right, item.category]).encode() + b"\n")
    return digest.hexdigest()[:16]


class _Entry(NamedTuple):
    """An item that may be drawn, with its row and its own id."""

    row: int
    id: str | None
    item: Item


class _Sieve:
    """Passes over drafts, counts, and lets questions through; where wanted once, equals have one
    key."""

    def __init__(self, *, once: bool) -> None:
        self._once = once
        self.rows = self.empty = self.duplicates = 0
        self.ids = Ids()

    def items(self, drafts: Iterable[Draft]) -> Iterator[Keyed[_Entry]]:
        seen: set[bytes] = set()
        repeats = Repeats()
        for row, (own_id, item) in enumerate(drafts):
            self.rows += 1
            self.ids.judge(own_id)
            if item is None:
                self.empty += 1
                continue
            whole = (*_words(item), item.gold, item.right, item.category, own_id)
            key = content_key(*_words(item)) if self._once else repeats.key(*whole)
            if self._once:
                self.duplicates += key in seen
                seen.add(key)
            rank = (not item.gold, content_key(*whole))
            yield Keyed(key, _Entry(row, own_id, item), rank)


def _words(item: Item) -> tuple[object, ...]:
    asked = item.question
    return asked.text, asked.context, asked.options


def _named(entry: _Entry, own_id: str | None) -> Item:
    name = own_id or str(entry.row)
    return replace(entry.item, question=replace(entry.item.question, id=name, row=entry.row))
