"""The steps and the largest errors on a probe's page."""

from __future__ import annotations

import statistics
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from reports.blocks import (
    Block,
    Card,
    Cards,
    Column,
    Passage,
    Row,
    Section,
    Table,
    Terms,
    paragraph,
)
from reports.builders.run import code
from reports.prose import Span, Text, joined, prose, together, written
from reports.wording import Cell, number, short
from scope.records import (
    Estimate,
    MisjudgedPair,
    ProbeFindings,
    StepScore,
)

RAW = "raw"
"""The step that only selects a layer."""

STEP_MEANINGS: Mapping[str, str] = MappingProxyType(
    {
        RAW: "nothing is trained: the cosine of the best layer on the development pairs",
        "mlp": "a trained linear layer on the cosines of all layers",
        "siamese": "an encoder a layer before the cosine, trained from a random initialization",
        "autoencoder": "the same, initialized from autoencoders of sentences without scores",
        "published": "FREEZE’s last step: raw latents, autoencoders 256 and 512 wide, one layer as "
        "the head; loss log Var(ŷ − y)",
        "final": "encoders initialized from whitened principal components; loss log Var(ŷ − y) "
        "+ 0.1 mean(ŷ − y)²",
    }
)

MOST_IN_TERMINAL = 12
"""The most steps in a terminal."""


def of_model(findings: ProbeFindings, model: str) -> tuple[StepScore, ...]:
    """A model's scores in the order of the steps."""
    return tuple(score for score in findings.scores if score.model == model)


def last_scores(findings: ProbeFindings) -> tuple[StepScore, ...]:
    """The score of each model's last step, in the order of the models."""
    by_model = (of_model(findings, model.name) for model in findings.models)
    return tuple(scores[-1] for scores in by_model if scores)


def some_seen(findings: ProbeFindings) -> bool:
    """Whether some test pairs share a sentence with the training pairs; False for a saved probe."""
    return findings.train > 0 and findings.unseen < findings.test


def spread(values: Sequence[float | None]) -> str:
    """Mean and standard deviation over several seeds; empty for fewer than two seeds.

    >>> spread([0.75, 0.78, 0.81]), spread([0.75])
    ('3 seeds: 0.780\xa0±\xa00.030', '')
    >>> spread([0.75, None, 0.81]), spread([None, None])
    ('2 of 3 seeds: 0.780\xa0±\xa00.042', '0 of 2 seeds: undefined')
    """
    if len(values) < 2:
        return ""
    known = [value for value in values if value is not None]
    mean = number(statistics.mean(known)) if known else "undefined"
    deviation = f"\xa0±\xa0{number(statistics.stdev(known))}" if len(known) > 1 else ""
    defined = "" if len(known) == len(values) else f"{len(known)} of "
    return f"{defined}{len(values)} seeds: {mean}{deviation}"


def short_table(scores: Sequence[StepScore]) -> Table:
    """A row a step for the terminal, with the model's name in its first row."""
    names = ["", *(score.model for score in scores)]
    rows = []
    for before, score in zip(names, scores, strict=False):
        estimates = (
            (Span(short(value, narrow=True)),) if isinstance(value, Estimate) else prose("–")
            for value in (score.pearson, score.spearman, score.gain)
        )
        name = score.model if score.model != before else None
        rows.append((name, score.step, *estimates))
    numbers = ("Pearson", "Spearman", "Gain")
    return Table.of(
        {"Model": "name", "Step": "text", **dict.fromkeys(numbers, "number")},
        rows,
        most=MOST_IN_TERMINAL,
        close=True,
    )


def steps_section(findings: ProbeFindings) -> Section | None:
    """The steps of all models in one table, and the differences of models; None without steps."""
    if not findings.scores:
        return None
    unseen = some_seen(findings)
    numbers = ["Pearson", "Spearman", "Mean error", "Gain over previous step"]
    numbers[1:1] = ["Unseen"] if unseen else []
    seeds = max(len(score.pearsons) for score in findings.scores)
    first = "Estimates are those of the first of {seeds} seeds."
    new = "Unseen: pairs that share no sentence with training or development pairs."
    error = "Error: the mean absolute difference from human scores of {low} to {high}."
    caption = together(
        prose(first, seeds=seeds) if seeds > 1 else (),
        prose(new) if unseen else (),
        prose(error, low=f"{findings.low:g}", high=f"{findings.high:g}"),
    )
    table = Table.of(
        {
            **{"Step": "name", "Trained parameters": "number"},
            **dict.fromkeys(numbers, "estimate"),
        },
        (_step_cells(score, unseen=unseen) for score in findings.scores),
        caption=caption,
    )
    steps = dict.fromkeys(score.step for score in findings.scores)
    meanings = tuple(
        (code(step), prose(STEP_MEANINGS[step])) for step in steps if step in STEP_MEANINGS
    )
    blocks: list[Block] = [table, Terms(meanings, facts=True)]
    if findings.differences:
        differences = Table.of(
            {"Step": "name", "First": "text", "Second": "text", "Difference": "estimate"},
            (
                (code(d.step), d.first, d.second, Cell.of(d.pearson, signed=True))
                for d in reversed(findings.differences)
            ),
            caption=prose("Pearson of the first model minus the second"),
        )
        blocks.append(differences)
    return Section(anchor="steps", title="Steps", blocks=tuple(blocks))


def _step_cells(score: StepScore, *, unseen: bool) -> tuple[Any, ...]:
    return (
        (*code(score.step), Span("\n"), Span(score.model, "note", foreign=True)),
        score.parameters,
        replace(Cell.of(score.pearson), remark=spread(score.pearsons)),
        *([Cell.of(score.unseen)] if unseen else []),
        replace(Cell.of(score.spearman), remark=spread(score.spearmans)),
        Cell.of(score.error),
        None if score.gain is None else Cell.of(score.gain, signed=True),
    )


HALF = 0.5
"""Two sentences with this share of common words share their words."""

MOST_FINDINGS = 3


def wrong_section(findings: ProbeFindings) -> Section | None:
    """Up to three findings on the largest errors, each with a pair; None without errors."""
    errors = sorted(findings.misjudged, key=lambda pair: -abs(pair.given - pair.wanted))
    models = Counter(pair.id for pair in errors)
    tests: tuple[tuple[str, Callable[[MisjudgedPair], bool]], ...] = (
        ("are too high", lambda pair: pair.given > pair.wanted),
        ("are too low", lambda pair: pair.given < pair.wanted),
        ("are of pairs that several models misjudge", lambda pair: models[pair.id] > 1),
        ("are of sentences that share half of their words", _share_words),
    )
    cards: dict[str, Card] = {}
    for what, test in tests:
        pairs = list(filter(test, errors))
        shown = next((pair.id for pair in pairs if pair.id not in cards), None)
        if shown is not None and len(cards) < MOST_FINDINGS:
            sentence = f"**{{part}}** of the {{all}} largest errors {what}"
            finding = prose(sentence, part=len(pairs), all=len(errors))
            # In the order of the models, not of the errors.
            cards[shown] = _card(finding, [p for p in findings.misjudged if p.id == shown])
    if not cards:
        return None
    blocks = (Cards(cards=tuple(cards.values()), narrow=True),)
    return Section(anchor="wrong", title="Where probes are wrong", blocks=blocks)


def _share_words(pair: MisjudgedPair) -> bool:
    """Whether the shorter sentence has at least half of its words from the other."""
    first, second = (set(text.lower().split()) for text in (pair.first, pair.second))
    return len(first & second) >= HALF * min(len(first), len(second))


def _card(finding: Text, of_models: Sequence[MisjudgedPair]) -> Card:
    pair = of_models[0]
    given = joined(
        prose("{model} **{given}**", model=model.model, given=_score(model.given))
        for model in of_models
    )
    return Card(
        note=finding,
        blocks=(
            Passage(written(pair.first)),
            Passage(written(pair.second)),
            paragraph("human **{wanted}**, {given}", wanted=_score(pair.wanted), given=given),
        ),
    )


def errors_section(findings: ProbeFindings) -> Section | None:
    """The pairs with the largest errors, each once with every model's score; None without any."""
    by_pair: dict[tuple[str, str, str, float], dict[str, float]] = defaultdict(dict)
    for pair in findings.misjudged:
        by_pair[pair.id, pair.first, pair.second, pair.wanted][pair.model] = pair.given
    if not by_pair:
        return None
    names = tuple(dict.fromkeys(pair.model for pair in findings.misjudged))
    table = Table(
        columns=(
            *(Column(name, "passage") for name in ("First sentence", "Second sentence")),
            Column("Human", "number"),
            *(Column(written(name), "number") for name in names),
        ),
        rows=tuple(
            Row(cells=(first, second, _score(wanted), *(_score(given.get(name)) for name in names)))
            for (_, first, second, wanted), given in by_pair.items()
        ),
        caption=prose(
            "The pairs that are among the largest errors of a model, with the scores of its last "
            "step’s probe"
        ),
        tall=True,
    )
    return Section(anchor="misjudged", title="Misjudged pairs", blocks=(table,))


def _score(value: float | None) -> str:
    return "" if value is None else f"{value:.2f}".replace("-", "−")
