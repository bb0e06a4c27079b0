"""Turns rows into a task's items: named, counted, deduplicated and sampled."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from scope.data.sampling import (
    Candidate,
    Drawn,
    Repeats,
    Selection,
    content_key,
    fingerprint_of,
)
from scope.errors import DataError
from scope.protocols import TaskData
from scope.records import Item

Draft = Candidate[Item]
"""A row's content: its own id, if any, and an item without a name, if the row makes one."""


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
    drafts: Iterable[Draft], wanted: Wanted, spec: str, n: int | None, seed: int
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
    repeats = Repeats()

    def key(own_id: str | None, item: Item) -> tuple[bytes, tuple[bool, bytes]]:
        words = item.question.text, item.question.context, item.question.options
        whole = (*words, item.gold, item.right, item.category, own_id)
        same = content_key(*words) if wanted.once else repeats.key(*whole)
        return same, (not item.gold, content_key(*whole))

    chosen = Selection(drafts, key, n, seed)
    if not chosen.drawn:
        raise DataError(
            f"no item in {spec}: {chosen.rows} {wanted.rows}, {chosen.empty} of them "
            f"{wanted.unfit}",
            expected=f"at least one item for the task {wanted.task}",
            fix="check the data, or choose other data",
        )
    items = tuple(map(_named, chosen.drawn))
    labelled = sum(bool(item.gold) for item in items)
    return TaskData(
        items=items, card=chosen.card(spec, item_fingerprint(items), labelled, wanted.task)
    )


def item_fingerprint(items: Iterable[Item]) -> str:
    """Sixteen hexadecimal digits that change with anything in any item, or their order.

    Examples
    --------
    >>> from scope.records import Question
    >>> item_fingerprint([Item(question=Question(id="0", text="Who?"), gold=("Ann",))])
    '3716ef94deccae10'
    """
    return fingerprint_of(
        [asked.id, asked.text, asked.context, asked.options, item.gold, item.right, item.category]
        for item in items
        for asked in [item.question]
    )


def _named(drawn: Drawn[Item]) -> Item:
    name = drawn.id or str(drawn.row)
    return replace(drawn.item, question=replace(drawn.item.question, id=name, row=drawn.row))
