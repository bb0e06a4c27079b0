"""The steps, the largest errors and the layers on a probe's page."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterator, Sequence
from dataclasses import replace
from operator import attrgetter
from typing import cast

from reports.blocks import Block, Figure, Fold, Paragraph, Section, Table, Terms, note, paragraph
from reports.builders.estimates import table_of
from reports.builders.run import code
from reports.charts import Chart, Dot, Grid, Guide, Series, grid
from reports.prose import Span, plain, prose, written
from reports.wording import Cell, number, short
from scope import records

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
"""The most rows in a terminal."""


def some_seen(findings: records.ProbeFindings) -> bool:
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
    seeds = f"{len(known)} of {len(values)} seeds" if None in values else f"{len(values)} seeds"
    if len(known) < 2:
        return f"{seeds}: {number(known[0]) if known else 'undefined'}"
    return f"{seeds}: {number(statistics.mean(known))}\xa0±\xa0{number(statistics.stdev(known))}"


def steps_table(findings: records.ProbeFindings) -> Table | None:
    """A row a step of every model; a terminal leaves out what the first screen does not need."""
    wide = ("Over seeds", "On new sentences", "Error", "Gain", "Parameters")
    return table_of(
        "",
        ("Model", "Step", "Pearson", "Spearman", *wide),
        (
            (
                *(score.model, code(score.step), Cell.of(score.pearson), Cell.of(score.spearman)),
                spread(score.pearsons),
                Cell.of(score.unseen) if some_seen(findings) else None,
                Cell.of(score.error),
                score.gain and Cell.of(score.gain, signed=True),
                score.parameters,
            )
            for score in findings.scores
        ),
        spacious=wide,
        most=MOST_ROWS,
    )


def steps_section(findings: records.ProbeFindings) -> Section:
    """The steps of all models in one table, and their meanings."""
    steps = {score.step for score in findings.scores}
    meanings = tuple(
        (code(step), prose(words)) for step, words in STEP_MEANINGS.items() if step in steps
    )
    about = note(
        "Estimates are those of the first seed, over seeds: Pearson. Error: the mean absolute "
        f"difference from human scores of {findings.low:g} to {findings.high:g}. Gain: over the "
        "previous step. Parameters: those trained."
    )
    differences = table_of(
        "Pearson of the first model minus the second",
        ("Step", "First", "Second", "Difference"),
        (
            (code(each.step), each.first, each.second, Cell.of(each.pearson, signed=True))
            for each in reversed(findings.differences)
        ),
    )
    parts = (about, steps_table(findings), differences, Terms(meanings, facts=True))
    return Section(anchor="steps", title="Steps", blocks=tuple(filter(None, parts)))


def worst_first(findings: records.ProbeFindings) -> list[records.MisjudgedPair]:
    """The pairs with the largest errors, each with every model's score."""
    return sorted(findings.misjudged, key=lambda error: -abs(error.given - error.wanted))


def wrong_section(findings: records.ProbeFindings) -> Section:
    """The largest errors in a table."""
    texts, numbers = ("Sentence 1", "Sentence 2"), ("People", "Probe")
    table = Table.of(
        {**dict.fromkeys(texts, "passage"), **dict.fromkeys(numbers, "number"), "Model": "text"},
        (
            (error.first, error.second, number(error.wanted), number(error.given), error.model)
            for error in worst_first(findings)
        ),
        tall=True,
    )
    return Section(anchor="wrong", title="Where probes are wrong", blocks=(table,))


def method_of(findings: records.ProbeFindings) -> str:
    """Whose errors are shown."""
    steps = {error.step or findings.scores[-1].step for error in findings.misjudged}
    return "the trained probe" if RAW not in steps else "the plain cosine"


def counts_of_errors(findings: records.ProbeFindings) -> Iterator[Paragraph]:
    """How many of the largest errors are too low or high, and on sentences that share words."""
    if errors := findings.misjudged:
        low = sum(error.given <= error.wanted for error in errors)
        yield paragraph(
            f"Of the {len(errors)} largest errors of {method_of(findings)} **{low}** are too low, "
            f"**{len(errors) - low}** too high; in **{sum(map(_share_words, errors))}** at least "
            "half of the shorter sentence’s words stand in the other."
        )
    ends = {score.step: score.unseen for score in (findings.scores[0], findings.scores[-1])}
    r = [
        f"{number(unseen.value)} with ``--step {step}`` ({unseen.n} pairs)"
        for step, unseen in ends.items()
        if isinstance(unseen, records.Estimate)
    ]
    if r and some_seen(findings) and not findings.models[1:]:
        yield paragraph(f"On new sentences alone r is {' and '.join(r)}.")


def _share_words(pair: records.MisjudgedPair) -> bool:
    """Whether the shorter sentence has at least half of its words from the other."""
    first, second = (set(text.lower().split()) for text in (pair.first, pair.second))
    return 2 * len(first & second) >= min(len(first), len(second))


MOST_WRITTEN = 32
"""A map with more columns shows only colours; the numbers are tooltips."""


def layer_curve(findings: records.ProbeFindings) -> Iterator[Block]:
    """The correlation of each layer alone, and a line for each trained probe."""
    dots: dict[str, list[Dot]] = {score.model: [] for score in findings.layers}
    for score in findings.layers:
        if isinstance(raw := score.raw, records.Estimate):
            title = f"{score.model}, layer {score.layer}: {plain(written(raw))}"
            dot = Dot(title=title, x=score.layer, y=raw.value, interval=(raw.low, raw.high))
            dots[score.model].append(dot)
    last = {score.model: score for score in findings.scores if score.step != RAW}.values()
    trained = {x.model: x.pearson.value for x in last if isinstance(x.pearson, records.Estimate)}
    if ends := [end for of in dots.values() for dot in of for end in dot.interval or ()]:
        ends += trained.values()
        sides = (-0.5, max(score.layer for score in findings.layers) + 0.5)
        chart = Chart(
            label="Pearson’s correlation by layer; the numbers are in the table of layers",
            series=tuple(
                Series(dots=tuple(of), name=f"{name}, plain cosine, 95\u00a0% band", shape=place)
                for place, (name, of) in enumerate(dots.items())
            ),
            guides=tuple(
                Guide((sides[0], r), (sides[1], r), f"{name}, trained probe: {number(r)}")
                for name, r in trained.items()
            ),
            x_title="layer",
            y_title="Pearson’s r with people’s scores",
            joined=1,
            ends=(sides, (math.floor(10 * min(ends)) / 10, math.floor(10 * max(ends) + 1) / 10)),
            size=(430, 250),
        )
        yield Figure(chart)


def layers_section(findings: records.ProbeFindings) -> Section:
    """Every layer in a table, and the similar layers of two models."""

    def named(layers: str, model: str) -> tuple[Span, Span]:
        return Span(f"{layers}\n"), Span(model, "note", foreign=True)

    estimates = attrgetter("raw", "encoded", "lost", "reconstruction")
    table = table_of(
        "",
        ("Layer", "Raw", "Encoded", "Decrease without", "Reconstruction error"),
        (
            (
                named(f"{score.layer}", score.model),
                *(estimate and Cell.of(estimate) for estimate in estimates(score)),
            )
            for score in findings.layers
        ),
        tall=True,
    )
    about = note(
        "Raw: Pearson’s r of the cosine of a layer’s vectors with human scores; encoded: of the "
        "probe’s encodings. Decrease without: what the last step’s probe loses when the layer is "
        "removed without retraining. Reconstruction error: the share of variance that its "
        "autoencoder leaves unexplained. Layers are counted from 0, without the input embeddings."
    )
    refitted = table_of(
        "The last step fitted again without some layers: decrease on the test pairs",
        ("Without layers", "Pearson", "Spearman"),
        (
            (
                named(" to ".join(dict.fromkeys((f"{each.first}", f"{each.last}"))), each.model),
                *(Cell.of(lost, signed=True) for lost in (each.pearson, each.spearman)),
            )
            for each in findings.ablations
        ),
    )
    blocks = (about, *filter(None, (table, refitted)), *similar_layers(findings.alignments))
    return Section(anchor="layers", title="Layers", blocks=blocks)


def similar_layers(alignments: Sequence[records.LayerAlignment]) -> Iterator[Block]:
    """The most similar layers of each two models in a sentence, and the map in a fold."""
    for alignment in alignments:
        yield from _map(alignment)
    if alignments:
        yield note(
            "Linear centred kernel alignment (CKA) of each layer of the first model, a row, with "
            "each of the second: 1 if both represent the texts alike, 0 if they share nothing; "
            "both may represent a text’s length. Values up to the maximum with shuffled texts, in "
            "95 of 100 permutations, are not coloured."
        )


def _map(alignment: records.LayerAlignment) -> Iterator[Block]:
    first, second = alignment.first, alignment.second
    chance = alignment.chance
    cells = {(f"{row}", f"{column}"): cell for (row, column), cell in alignment.cells().items()}
    rows, columns = (tuple(dict.fromkeys(side)) for side in zip(*cells, strict=True))
    row, column = max(cells, key=lambda place: cells[place].value)
    most, last = short(cells[row, column]), short(cells[rows[-1], columns[-1]])
    above = sum(max(values) > chance for values in alignment.values)
    yield paragraph(
        f"The most similar layers are {row} of **{{first}}** and {column} of **{{second}}**, CKA "
        f"{most}; the last layers have {last}. {above} of {len(rows)} layers of {{first}} are "
        f"similar to a layer of {{second}} above chance, {number(chance)} ({alignment.sentences} "
        "texts).",
        first=first,
        second=second,
    )
    shown = grid("CKA", cells, rows=rows, columns=columns, heading="Layer", start=chance)
    dense = replace(cast("Grid", shown), dense=len(columns) > MOST_WRITTEN)
    yield Fold(prose("All layers of {first} and {second}", first=first, second=second), (dense,))
