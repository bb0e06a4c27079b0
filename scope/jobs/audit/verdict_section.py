"""The verdict on each target in words, what it rests on, and the unchanged texts behind it."""

from __future__ import annotations

from collections.abc import Iterator

from scope.records import AuditResult, label_of
from scope.sections.blocks import Block, Column, Row, Table
from scope.sections.prose import Text, prose, written
from scope.sections.wording import Cell

MOST_TEXTS = 10


def verdict_sentences(result: AuditResult) -> list[Text]:
    """One for each target; none where the audit reaches no verdict."""
    return [prose("{sentence}", sentence=one.sentence) for one in result.verdicts]


def verdict_blocks(result: AuditResult) -> Iterator[Block]:
    """What the verdicts rest on, and unchanged texts on which targets differ."""
    if not result.verdicts:
        return
    yield Table(
        columns=(
            Column("Target", "name"),
            Column("Verdict rests on"),
            Column("Value", "estimate"),
            Column("Limit", "number"),
            Column("State"),
        ),
        rows=tuple(
            Row(
                cells=(
                    verdict.target,
                    one.name,
                    Cell.of(one.estimate),
                    "" if one.limit is None else f"{one.limit:g}",
                    one.state,
                )
            )
            for verdict in result.verdicts
            for one in verdict.endpoints
        ),
        caption=prose(
            "Accuracy is the target’s minus the reference’s; with a baseline, agreement and "
            "concordance are the target’s minus the baseline’s. A state is that of its row alone; "
            "the verdict is corrected over rows and targets"
        ),
    )
    labels = result.manifest.reference.labels
    names = [card.name for card in result.manifest.targets]
    differing = [
        one
        for one in result.examples
        if any(target.choice != one.reference.choice for target in one.targets)
    ]
    if differing:
        yield Table(
            columns=tuple(map(Column, map(written, ("Text", "Gold", "Reference", *names)))),
            rows=tuple(
                Row(
                    cells=(
                        one.example.text,
                        one.example.label or "",
                        label_of(one.reference, labels),
                        *(
                            "same"
                            if target.choice == one.reference.choice
                            else label_of(target, labels)
                            for target in one.targets
                        ),
                    )
                )
                for one in differing[:MOST_TEXTS]
            ),
            caption=prose(
                "{shown} of {total} unchanged texts to which a model gives another label than the "
                "reference, in the order of the data",
                shown=min(MOST_TEXTS, len(differing)),
                total=len(differing),
            ),
        )
