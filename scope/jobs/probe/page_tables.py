"""The steps and the largest errors on a probe's page."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import replace

from reports.blocks import Section, Table, Terms, paragraph
from reports.builders.estimates import table_of
from reports.builders.run import code
from reports.prose import Span, joined, prose
from reports.wording import Cell, number, short
from scope.records import Estimate, MisjudgedPair, ProbeFindings, StepScore

RAW = "raw"
"""The step that only selects a layer."""

STEP_MEANINGS = {
    RAW: "nothing is trained: the cosine of the best layer on the development pairs",
    "mlp": "a trained linear layer on the cosines of all layers",
    "siamese": "an encoder a layer before the cosine, trained from a random initialization",
    "autoencoder": "the same, initialized from autoencoders of sentences without scores",
    "published": "FREEZE’s last step: raw latents, autoencoders 256 and 512 wide, one layer as the "
    "head; loss log Var(ŷ − y)",
    "final": "encoders from whitened principal components; loss log Var(ŷ − y) + 0.1 mean(ŷ − y)²",
}

MOST_ROWS = 8
"""The most rows in a terminal: every step of every model, or else the last steps."""


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
    first = {score.model: score for score in reversed(scores)}
    rows = (
        (
            score.model if first[score.model] is score else None,
            score.step,
            *(
                (Span(short(value, narrow=True) if isinstance(value, Estimate) else "–"),)
                for value in (score.pearson, score.spearman, score.gain)
            ),
        )
        for score in scores
    )
    numbers = ("Pearson", "Spearman", "Gain")
    return Table.of(
        {"Model": "name", "Step": "text", **dict.fromkeys(numbers, "number")},
        rows,
        most=MOST_ROWS,
        close=True,
    )


def steps_section(findings: ProbeFindings) -> Section:
    """The steps of all models in one table, and the differences of models."""
    table = table_of(
        "Estimates are those of the first seed. Error: the mean absolute difference from human "
        f"scores of {findings.low:g} to {findings.high:g}. Gain: over the previous step.",
        ("Step", "Trained parameters", "Pearson", "On new sentences", "Spearman", "Error", "Gain"),
        (
            (
                (*code(score.step), Span("\n"), Span(score.model, "note", foreign=True)),
                score.parameters,
                replace(Cell.of(score.pearson), remark=spread(score.pearsons)),
                Cell.of(score.unseen) if some_seen(findings) else None,
                replace(Cell.of(score.spearman), remark=spread(score.spearmans)),
                Cell.of(score.error),
                score.gain and Cell.of(score.gain, signed=True),
            )
            for score in findings.scores
        ),
    )
    steps = {score.step for score in findings.scores}
    meanings = tuple(
        (code(step), prose(words)) for step, words in STEP_MEANINGS.items() if step in steps
    )
    differences = table_of(
        "Pearson of the first model minus the second",
        ("Step", "First", "Second", "Difference"),
        (
            (code(each.step), each.first, each.second, Cell.of(each.pearson, signed=True))
            for each in reversed(findings.differences)
        ),
    )
    blocks = [block for block in (table, Terms(meanings, facts=True), differences) if block]
    return Section(anchor="steps", title="Steps", blocks=tuple(blocks))


def wrong_section(findings: ProbeFindings) -> Section:
    """The largest errors, counted by kind, each pair once with every model's score."""
    errors = findings.misjudged
    ordered = sorted(errors, key=lambda error: -abs(error.given - error.wanted))
    pairs = {error.id: [each for each in errors if each.id == error.id] for error in ordered}
    counts = paragraph(
        "Of the {n} largest errors **{high}** are too high and **{low}** too low; in **{alike}** "
        "the shorter sentence has at least half of its words from the other.",
        n=len(errors),
        high=sum(error.given > error.wanted for error in errors),
        low=sum(error.given < error.wanted for error in errors),
        alike=sum(map(_share_words, errors)),
    )
    table = Table.of(
        {"Sentence 1": "passage", "Sentence 2": "passage", "Human": "number", "Probe": "text"},
        (
            (
                *(pair[0].first, pair[0].second, number(pair[0].wanted)),
                joined(
                    prose("{model} **{given}**", model=error.model, given=number(error.given))
                    for error in pair
                ),
            )
            for pair in pairs.values()
        ),
        tall=True,
    )
    return Section(anchor="wrong", title="Where probes are wrong", blocks=(counts, table))


def _share_words(pair: MisjudgedPair) -> bool:
    """Whether the shorter sentence has at least half of its words from the other."""
    first, second = (set(text.lower().split()) for text in (pair.first, pair.second))
    return 2 * len(first & second) >= min(len(first), len(second))
