"""The random changes of an audit as dots: how far each moves the reference, and each target."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterator, Sequence

import numpy as np

from reports.blocks import Block, Card, Fold, Moves, Passage, Table, paragraph
from reports.charts import Colour, Panel
from reports.prose import joined, mark_changes, prose
from reports.wording import number, short
from scope.estimation.pairs import random_changes
from scope.jobs.audit.examples import Shown, answer_in_short, changed_texts
from scope.records import AuditResult, Estimate, ModelCard

MOST_CHANGES, _MOST_DOTS = 400, 2_000
"""Most changes in a panel, and most dots in all panels, unless a panel has a hundred."""

_INSIDE = 0.98
"""The share of moves within the sides of a panel; the others are at its edge."""

_HARDLY = 0.2
"""A strength of reaction that is surely below this is nearly none."""


def moves_blocks(result: AuditResult) -> tuple[Block, ...]:
    """How models react to random changes; nothing where none was drawn, or all give labels alone.

    Capabilities that no verdict assesses are left out, and all but the first are folded.
    """
    assessed = {end.name for verdict in result.verdicts for end in verdict.endpoints}
    parts = [
        (card.name, blocks)
        for card in result.manifest.capabilities
        if not assessed or f"concordance on {card.name}" in assessed
        if (blocks := tuple(_on_capability(result, card.name)))
    ]
    others = (Fold(prose("Changes of {name}", name=name), blocks) for name, blocks in parts[1:])
    return (*(parts[0][1] if parts else ()), *others)


def _on_capability(result: AuditResult, capability: str) -> Iterator[Block]:
    """What a dot is, and a panel for every target that has probabilities."""
    numbers = {
        (row.metric, row.target): row.estimate
        for row in result.measurements
        if (row.capability, row.subset) == (capability, None)
        if isinstance(row.estimate, Estimate)
    }
    reference, *targets = result.manifest.models
    models = [n for n, card in enumerate(targets) if ("reach", card.name) in numbers]
    if not models or not result.candidates:
        return
    drawn = random_changes(capability, result.examples, result.candidates)
    rows = _sample(drawn.example_ids, min(MOST_CHANGES, max(100, _MOST_DOTS // len(models))))
    moved = np.array([drawn.moved(place)[rows] for place in (None, *models)])
    most = max(1, math.ceil(float(np.nanquantile(np.abs(moved), _INSIDE))))
    yield paragraph(
        "A dot is a random change of a text ({capability}; {shown} of {drawn}): across, how far it "
        "moves {reference}’s answer; up, the model’s (log odds, at most ±{most}). On the dashed "
        "line both move alike; in the red they move in opposite directions.",
        capability=capability,
        shown=len(rows),
        drawn=len(drawn.example_ids),
        reference=reference.name,
        most=most,
    )
    panels = []
    for place, up in zip(models, moved[1:].tolist(), strict=True):
        name = targets[place].name
        remark, verdict = _remark(result, targets[place], capability, numbers["reach", name])
        pairs = zip(moved[0].tolist(), up, strict=True)
        share = numbers.get(("concordance", name))
        same = [f"same reaction: {100 * share.value:.0f} of 100"] if share else []
        panels.append(
            Panel(
                name=name,
                remark=remark,
                verdict=verdict,
                words=(f"as strongly: {short(numbers['reach', name]).partition(' [')[0]}", *same),
                moves=tuple(None if math.isnan(pair[1]) else pair for pair in pairs),
                slope=numbers["reach", name].value,
                most=most,
            )
        )
    chosen = [each for each in result.candidates if each.capability == capability]
    texts, columns = [*changed_texts(result, "flipped", chosen)], [0, *(n + 1 for n in models)]
    of_changes = zip(rows, moved.T.tolist(), strict=True)
    cards = (_card(result, texts[row], columns, of_models) for row, of_models in of_changes)
    yield Moves(tuple(panels), tuple(cards))


def _sample(ids: Sequence[str], most: int) -> list[int]:
    """The rows that are shown, text by text in the order of the digests of their ids."""
    digests = {id_: hashlib.sha256(id_.encode(errors="replace")).digest() for id_ in ids}
    return sorted(range(len(ids)), key=lambda row: digests[ids[row]])[:most]


def _remark(
    result: AuditResult, card: ModelCard, capability: str, strength: Estimate
) -> tuple[str, Colour]:
    """What the verdict's limits on reactions say, or what the model is compared for."""
    states = {
        end.state
        for verdict in result.verdicts
        for end in verdict.endpoints
        if verdict.target == card.name and end.state != "not judged"
        if end.name in (f"concordance on {capability}", f"reach on {capability}")
    }
    if card.role != "target" or not states:
        roles = {"baseline": "yardstick", "floor": "trained independently"}
        return roles.get(card.role, ""), "pale"
    if "beyond" in states:
        return "✗ hardly reacts" if strength.high < _HARDLY else "✗ reacts otherwise", "bad"
    return ("✓ reacts alike", "good") if states == {"within"} else ("? too early to say", "open")


def _card(result: AuditResult, text: Shown, columns: Sequence[int], moved: Sequence[float]) -> Card:
    """A change: its words, and the answers and moves of the models in these columns."""
    example, labels = text.before.example, result.manifest.reference.labels
    names = (result.manifest.reference.name, *(card.name for card in result.manifest.targets))
    rows = (
        (
            names[column],
            joined((answer_in_short(side, labels) for side in text.models[column]), between=" → "),
            "–" if math.isnan(move) else number(move, signed=True),
        )
        for column, move in zip(columns, moved, strict=True)
    )
    changed = "" if text.after is None else text.after.perturbation.text or ""
    gold = () if example.label is None else prose(" · gold label {label}", label=example.label)
    return Card(
        note=prose("example {id}{gold}", id=example.id, gold=gold),
        blocks=(
            *map(Passage, mark_changes(example.text, changed)),
            Table.of({"Model": "name", "Answer": "text", "Move": "number"}, rows),
        ),
    )
