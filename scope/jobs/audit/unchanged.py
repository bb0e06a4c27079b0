"""The unchanged texts to which a model gives another label than the reference."""

from __future__ import annotations

from collections.abc import Iterator

from reports.blocks import Block, Column, Row, Table, heading
from reports.prose import prose
from scope.records import AuditResult, label_of

MOST_TEXTS = 10
"""Texts shown at most."""


def unchanged_texts(result: AuditResult) -> Iterator[Block]:
    """The first ones in the order of the data, with every label; nothing where there are none."""
    labels = result.manifest.reference.labels
    names = [card.name for card in result.manifest.targets]
    found = []
    for one in result.examples:
        answers: dict[str, list[str]] = {}
        for name, target in zip(names, one.targets, strict=True):
            if target.choice != one.reference.choice:
                answers.setdefault(label_of(target, labels), []).append(name)
        if answers:
            said = [f"reference: {label_of(one.reference, labels)}"]
            said += [f"{', '.join(who)}: {label}" for label, who in answers.items()]
            said += [f"gold: {one.example.label}"] if one.example.label else []
            found.append(Row(cells=(one.example.text, "; ".join(said))))
    if not found:
        return
    yield heading("Unchanged texts with another label")
    yield Table(
        columns=(Column("Text", "passage"), Column("Labels")),
        rows=tuple(found[:MOST_TEXTS]),
        caption=prose(
            "{shown} of {total} unchanged texts to which a model gives another label than the "
            "reference, in the order of the data",
            shown=min(MOST_TEXTS, len(found)),
            total=len(found),
        ),
    )
