"""The section with the most informative questions, for reuse and against it."""

from __future__ import annotations

from dataclasses import dataclass

from reports.view import wording
from scope.records import InformativeItem, Verdict

LONG_TEXT = 500
"""A text of more characters is folded behind its beginning."""

BEGINNING = 200
"""Number of characters shown of a folded text."""


@dataclass(frozen=True, kw_only=True)
class FoldedText:
    """A text, with its ``beginning`` if it is folded."""

    text: str
    beginning: str | None


@dataclass(frozen=True, kw_only=True)
class ItemView:
    """One question as it is shown; ``gold`` is None where no right answer is known."""

    id: str
    text: FoldedText
    gold: FoldedText | None
    reference: FoldedText
    suspect: FoldedText
    same: bool
    expected: str
    weight: str


@dataclass(frozen=True, kw_only=True)
class InformativeItems:
    """The questions of one verdict, for and against reuse; ``total`` includes those left out."""

    reference: str
    groups: tuple[tuple[str, tuple[ItemView, ...]], ...]
    shown: int
    total: int


def informative_item_rows(
    verdicts: tuple[Verdict, ...], *, limit: int
) -> tuple[InformativeItems, ...]:
    """The questions of every verdict that has any, the strongest first.

    ``limit`` is shared between the verdicts.
    """
    with_items = [verdict for verdict in verdicts if verdict.items]
    return tuple(_of_verdict(verdict, limit // len(with_items)) for verdict in with_items)


def _of_verdict(verdict: Verdict, limit: int) -> InformativeItems:
    strongest = sorted(verdict.items, key=lambda item: -abs(item.weight))[:limit]
    groups = (
        ("For reuse", tuple(_item(item) for item in strongest if item.weight > 0)),
        ("Against reuse", tuple(_item(item) for item in strongest if item.weight <= 0)),
    )
    return InformativeItems(
        reference=verdict.reference,
        groups=tuple(group for group in groups if group[1]),
        shown=len(strongest),
        total=len(verdict.items),
    )


def _item(item: InformativeItem) -> ItemView:
    return ItemView(
        id=item.id,
        text=folded_text(item.text),
        gold=None if item.gold is None else folded_text(item.gold),
        reference=folded_text(item.reference),
        suspect=folded_text(item.suspect),
        same=item.reference == item.suspect,
        expected=f"{wording.percent(item.expected)}\u00a0%",
        weight=wording.number(item.weight, signed=True),
    )


def folded_text(text: str) -> FoldedText:
    """The text, with its beginning on one line if it is long.

    >>> folded_text("short").beginning is None
    True
    >>> len(folded_text("long " * 200).beginning)
    201
    """
    if len(text) <= LONG_TEXT:
        return FoldedText(text=text, beginning=None)
    return FoldedText(text=text, beginning=f"{' '.join(text.split())[:BEGINNING]}…")
