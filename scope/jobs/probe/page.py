"""The page of a probe: how well the layers of frozen models predict human scores."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterator, Sequence
from dataclasses import replace
from operator import attrgetter
from typing import NamedTuple, cast

from reports import blocks
from reports.estimates import in_two, table_of
from reports.prose import Span, Text, joined, plain, prose, together, written
from reports.sections import asked, code, model_lines, page_of_run
from reports.wording import Cell, count_rivals, number, short
from scope import records
from scope.records import Estimate, ProbeFindings, ProbeResult, StepScore

MOST_BOXES = 2
"""Most models in the heading, and with a text each in a terminal; others have a row each."""

MOST_PAIRS = 2
"""Most pairs of sentences on the first screen."""

_CLAIMS: dict[str, tuple[str, str]] = {
    "more": (
        "✓ Train the probe: it follows people’s scores with r = {last}, {plain} with r = {first}",
        "Keep the trained probe with ``--save FOLDER``: it scores new pairs.",
    ),
    "unclear": (
        "? Too early to say whether training helps: the trained probe follows people’s scores with "
        "r = {last}, {plain} with r = {first}",
        "Use the plain cosine (``--step raw``), or decide with more test pairs (``--test``).",
    ),
    "less": (
        "!!✗!! Do not train: {plain} follows people’s scores better than the trained probe, "
        "r = {first} against {last}",
        "Use the plain cosine (``--step raw``), which needs no training.",
    ),
    "alone": (
        "People’s scores are followed with r = {last}",
        "Compare with a trained probe: ``--step raw --step final``.",
    ),
}
"""Words and advice for each sign of the gain over plain cosines, and without a comparison."""


class Answer(NamedTuple):
    """What a model's probe shows: in one sentence, how sure that is, and what to do."""

    heading: Text
    about: Text
    to_do: Text


def page(result: ProbeResult) -> blocks.Page:
    """The whole report of a probe: the answer and the largest errors are open."""
    findings = result.findings
    answers = answers_of(findings)
    more = [prose("{n} more below", n=len(answers) - MOST_BOXES)] * (len(answers) > MOST_BOXES)
    saved = [(prose("saved"), joined(findings.files))] if findings.files else []
    return page_of_run(
        result.manifest,
        result.clock,
        title=f"{result.manifest.job}: {', '.join(model.name for model in findings.models)}",
        heading=joined([*(each.heading for each in answers[:MOST_BOXES]), *more], between="; "),
        about=together(answers[0].about, _MEANING),
        answer=(answer_block(findings),),
        details=(
            wrong_section(findings),
            steps_section(findings),
            layers_section(findings),
            _limits(findings),
            _asked(result),
        ),
        brief=(
            *(blocks.Paragraph(each.about) for each in answers if len(answers) <= MOST_BOXES),
            *filter(None, [steps_table(findings)]),
        ),
        facts=(*model_lines(result.manifest), *saved),
    )


_MEANING = prose("Pearson’s r is 1 if scores follow people’s exactly, 0 if not at all.")


def answers_of(findings: ProbeFindings) -> list[Answer]:
    """The answer for each model, by its last step."""
    return [answer_of(findings, last) for last in {s.model: s for s in findings.scores}.values()]


def answer_block(findings: ProbeFindings) -> blocks.Block:
    """The curve over layers, where the probe fails, the worst pairs, and what to do."""
    answers = answers_of(findings)
    pictures: dict[str, tuple[blocks.Block, ...]] = {
        "Each layer alone": tuple(layer_curve(findings)),
        "The other models": tuple(blocks.Paragraph(each.about) for each in answers[1:]),
    }
    again = blocks.paragraph("Run the [[reproduce|command]] again with this option.")
    words = {
        "Where it fails": tuple(counts_of_errors(findings)),
        "For example": tuple(_worst(findings)),
        "What to do": (
            *map(blocks.Paragraph, dict.fromkeys(each.to_do for each in answers)),
            again,
        ),
    }
    return in_two(words, pictures)


def _worst(findings: ProbeFindings) -> Iterator[blocks.Block]:
    """The pairs of sentences that are scored worst."""
    for error in worst_first(findings)[:MOST_PAIRS]:
        yield blocks.paragraph(
            f"“{{first}}” / “{{second}}” People **{error.wanted:.1f}**, {{model}} "
            f"**{error.given:.1f}** (from {findings.low:g} to {findings.high:g}).",
            first=error.first,
            second=error.second,
            model=error.model if findings.models[1:] else method_of(findings),
        )


def answer_of(findings: ProbeFindings, last: StepScore) -> Answer:
    """A model's last step, compared with the cosine of its best layer."""
    first, *later = (score for score in findings.scores if score.model == last.model)
    whole, base = last.pearson, first.pearson
    # Over several steps the gain has no interval: the intervals must not overlap.
    gain = last.gain if len(later) == 1 else None
    side, sure = "alone", plain(written(whole))
    if later and first.step == RAW:
        side = "unclear" if gain is None else gain.side()
        if gain is None and isinstance(whole, Estimate) and isinstance(base, Estimate):
            apart = not count_rivals(whole, [base])
            side = ("more" if whole.value > base.value else "less") if apart else "unclear"
        unknown = [r for r in (whole, base) if not isinstance(r, Estimate)]
        sure = "Not decided: the intervals of both overlap."
        if difference := next(iter(unknown), gain):
            sure = f"Not decided: the difference of r is {plain(written(difference))}."
    if better := {"more": "better", "less": "worse"}.get(side):
        sure = (
            f"A probe as good as the plain cosine would look this much {better} by luck in at most "
            f"1 run of 40 ({findings.test:,} test pairs)."
        )
    claim, to_do = _CLAIMS[side]
    r = [number(x.value) if isinstance(x, Estimate) else "undefined" for x in (whole, base)]
    layer = "a layer" if first.layer is None else f"layer {first.layer}"
    head = prose(claim.format(last=r[0], first=r[1], plain=f"the plain cosine of {layer}"))
    if findings.models[1:]:
        head += prose(" ({model})", model=last.model)
    return Answer(head, prose("**How sure?** {sure}", sure=sure), prose(to_do))


def _limits(findings: ProbeFindings) -> blocks.Section:
    """What the numbers do not show, and the rules that were applied."""
    rules = (
        "A high correlation shows that layers hold the information, not that the model uses it; "
        "other kinds of sentences may give other results.",
        f"Intervals are from a jackknife over {findings.groups} groups of test pairs, and not "
        "corrected for multiple comparisons: about 1 of 20 excludes 0 by chance.",
        "Whether the saved probe was trained on these pairs is unknown." * (not findings.train),
    )
    bullets = blocks.Bullets((*map(prose, filter(None, rules)), *map(written, findings.notes)))
    return blocks.Section(anchor="limits", title="Limits", blocks=(bullets,))


def _asked(result: ProbeResult) -> blocks.Section:
    """The models and how they were read, the pairs, and the task."""
    findings = result.findings
    shared = asked(result.manifest, capabilities="Task")
    numbers, texts = ("Layers", "Width"), ("Read at", "Precision", "Prompt")
    layers = blocks.Table.of(
        {"Model": "name", **dict.fromkeys(numbers, "number"), **dict.fromkeys(texts, "text")},
        map(attrgetter("name", "layers", "width", "readout", "dtype", "prompt"), findings.models),
    )
    pairs = blocks.paragraph(
        f"{findings.train:,} pairs for training, {findings.development:,} for development and "
        f"{findings.test:,} for testing, of {findings.sentences:,} different sentences; "
        f"{findings.unlabelled:,} sentences without scores."
    )
    return replace(shared, blocks=(blocks.heading("Layers"), layers, pairs, *shared.blocks))


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


def steps_table(findings: records.ProbeFindings) -> blocks.Table | None:
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


def steps_section(findings: records.ProbeFindings) -> blocks.Section:
    """The steps of all models in one table, and their meanings."""
    steps = {score.step for score in findings.scores}
    meanings = tuple(
        (code(step), prose(words)) for step, words in STEP_MEANINGS.items() if step in steps
    )
    about = blocks.note(
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
    parts = (about, steps_table(findings), differences, blocks.Terms(meanings, facts=True))
    return blocks.Section(anchor="steps", title="Steps", blocks=tuple(filter(None, parts)))


def worst_first(findings: records.ProbeFindings) -> list[records.MisjudgedPair]:
    """The pairs with the largest errors, each with every model's score."""
    return sorted(findings.misjudged, key=lambda error: -abs(error.given - error.wanted))


def wrong_section(findings: records.ProbeFindings) -> blocks.Section:
    """The largest errors in a table."""
    texts, numbers = ("Sentence 1", "Sentence 2"), ("People", "Probe")
    table = blocks.Table.of(
        {**dict.fromkeys(texts, "passage"), **dict.fromkeys(numbers, "number"), "Model": "text"},
        (
            (error.first, error.second, number(error.wanted), number(error.given), error.model)
            for error in worst_first(findings)
        ),
        tall=True,
    )
    return blocks.Section(anchor="wrong", title="Where probes are wrong", blocks=(table,))


def method_of(findings: records.ProbeFindings) -> str:
    """Whose errors are shown."""
    steps = {error.step or findings.scores[-1].step for error in findings.misjudged}
    return "the trained probe" if RAW not in steps else "the plain cosine"


def counts_of_errors(findings: records.ProbeFindings) -> Iterator[blocks.Paragraph]:
    """How many of the largest errors are too low or high, and on sentences that share words."""
    if errors := findings.misjudged:
        low = sum(error.given <= error.wanted for error in errors)
        yield blocks.paragraph(
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
        yield blocks.paragraph(f"On new sentences alone r is {' and '.join(r)}.")


def _share_words(pair: records.MisjudgedPair) -> bool:
    """Whether the shorter sentence has at least half of its words from the other."""
    first, second = (set(text.lower().split()) for text in (pair.first, pair.second))
    return 2 * len(first & second) >= min(len(first), len(second))


MOST_WRITTEN = 32
"""A map with more columns shows only colours; the numbers are tooltips."""


def layer_curve(findings: records.ProbeFindings) -> Iterator[blocks.Block]:
    """The correlation of each layer alone, and a line for each trained probe."""
    dots: dict[str, list[blocks.Dot]] = {score.model: [] for score in findings.layers}
    for score in findings.layers:
        if isinstance(raw := score.raw, records.Estimate):
            title = f"{score.model}, layer {score.layer}: {plain(written(raw))}"
            dot = blocks.Dot(title=title, x=score.layer, y=raw.value, interval=(raw.low, raw.high))
            dots[score.model].append(dot)
    last = {score.model: score for score in findings.scores if score.step != RAW}.values()
    trained = {x.model: x.pearson.value for x in last if isinstance(x.pearson, records.Estimate)}
    if ends := [end for of in dots.values() for dot in of for end in dot.interval or ()]:
        ends += trained.values()
        sides = (-0.5, max(score.layer for score in findings.layers) + 0.5)
        chart = blocks.Chart(
            label="Pearson’s correlation by layer; the numbers are in the table of layers",
            series=tuple(
                blocks.Series(
                    dots=tuple(of), name=f"{name}, plain cosine, 95\u00a0% band", shape=place
                )
                for place, (name, of) in enumerate(dots.items())
            ),
            guides=tuple(
                blocks.Guide((sides[0], r), (sides[1], r), f"{name}, trained probe: {number(r)}")
                for name, r in trained.items()
            ),
            x_title="layer",
            y_title="Pearson’s r with people’s scores",
            joined=1,
            ends=(sides, (math.floor(10 * min(ends)) / 10, math.floor(10 * max(ends) + 1) / 10)),
            size=(430, 250),
        )
        yield blocks.Figure(chart)


def layers_section(findings: records.ProbeFindings) -> blocks.Section:
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
    about = blocks.note(
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
    shown = (about, *filter(None, (table, refitted)), *similar_layers(findings.alignments))
    return blocks.Section(anchor="layers", title="Layers", blocks=shown)


def similar_layers(alignments: Sequence[records.LayerAlignment]) -> Iterator[blocks.Block]:
    """The most similar layers of each two models in a sentence, and the map in a fold."""
    for alignment in alignments:
        yield from _map(alignment)
    if alignments:
        yield blocks.note(
            "Linear centred kernel alignment (CKA) of each layer of the first model, a row, with "
            "each of the second: 1 if both represent the texts alike, 0 if they share nothing; "
            "both may represent a text’s length. Values up to the maximum with shuffled texts, in "
            "95 of 100 permutations, are not coloured."
        )


def _map(alignment: records.LayerAlignment) -> Iterator[blocks.Block]:
    first, second = alignment.first, alignment.second
    chance = alignment.chance
    cells = {(f"{row}", f"{column}"): cell for (row, column), cell in alignment.cells().items()}
    rows, columns = (tuple(dict.fromkeys(side)) for side in zip(*cells, strict=True))
    row, column = max(cells, key=lambda place: cells[place].value)
    most, last = short(cells[row, column]), short(cells[rows[-1], columns[-1]])
    above = sum(max(values) > chance for values in alignment.values)
    yield blocks.paragraph(
        f"The most similar layers are {row} of **{{first}}** and {column} of **{{second}}**, CKA "
        f"{most}; the last layers have {last}. {above} of {len(rows)} layers of {{first}} are "
        f"similar to a layer of {{second}} above chance, {number(chance)} ({alignment.sentences} "
        "texts).",
        first=first,
        second=second,
    )
    shown = blocks.grid("CKA", cells, rows=rows, columns=columns, heading="Layer", start=chance)
    dense = replace(cast("blocks.Grid", shown), dense=len(columns) > MOST_WRITTEN)
    yield blocks.Fold(
        prose("All layers of {first} and {second}", first=first, second=second), (dense,)
    )
