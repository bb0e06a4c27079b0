"""The models of a pair: their size, their speed, and how alike their layers are."""

from __future__ import annotations

from collections.abc import Iterator

from reports.blocks import Block, Column, Fold, Row, Section, Table, note, paragraph
from reports.prose import prose
from reports.wording import number
from scope.jobs.probe.page_layers import similarity_grid
from scope.records import LayerAlignment, ModelFacts, PairResult


def models_section(result: PairResult) -> Iterator[Section]:
    """One section; none of results of earlier releases."""
    if result.facts:
        blocks = (*_facts(result.facts), *(b for one in result.alignments for b in _layers(one)))
        yield Section(anchor="models", title="Models", blocks=blocks)


def _facts(facts: tuple[ModelFacts, ...]) -> Iterator[Block]:
    rows = {
        "parameters": [_known(one.parameters, "{:,}") for one in facts],
        "files of weights": [_known(one.stored, "{:,.1f} MB", 1e6) for one in facts],
        "precision": [one.dtype or "unknown" for one in facts],
        "memory of the weights": [_known(one.memory, "{:,.1f} MB", 1e6) for one in facts],
        "seconds an answer": [_known(one.seconds, "{:#.2g}") for one in facts],
        "answers timed": [f"{one.timed:,}" for one in facts],
    }
    names = (Column(prose("{name}", name=one.model), "number") for one in facts)
    yield Table(
        columns=(Column("", "name"), *names),
        rows=tuple(Row(cells=(name, *values)) for name, values in rows.items()),
    )
    for one in facts:
        if one.reason:
            yield note("Unknown of {model}: {reason}.", model=one.model, reason=one.reason)
    yield note(
        "Memory is that of the parameters alone; what a batch takes comes on top. Answers were "
        "timed in batches on the machine of this run, with whatever else ran there."
    )


def _known(value: float | None, template: str, unit: float = 1) -> str:
    """
    >>> _known(90_867_952, "{:,.1f} MB", 1e6), _known(12, "{:,}"), _known(None, "{}")
    ('90.9 MB', '12', 'unknown')
    """
    return "unknown" if value is None else template.format(value if unit == 1 else value / unit)


def _layers(found: LayerAlignment) -> Iterator[Block]:
    """The most similar layers and the last ones in a sentence, and the map behind a line."""
    places = [(row, column) for row, of in enumerate(found.values) for column in range(len(of))]
    row, column = max(places, key=lambda place: found.values[place[0]][place[1]])
    yield paragraph(
        "The most similar layers are {row} of **{first}** and {column} of **{second}**, CKA "
        "{value}\u00a0±\u00a0{margin}; the last layers have {last} "
        "(n\u00a0=\u00a0{n} texts; up to {chance} is chance).",
        row=row,
        column=column,
        first=found.first,
        second=found.second,
        value=number(found.values[row][column]),
        margin=number(found.margins[row][column]),
        last=number(found.values[-1][-1]),
        n=found.sentences,
        chance=number(found.chance),
    )
    about = note(
        "Linear centred kernel alignment (CKA) of each layer of the first model, a row, with each "
        "of the second: 1 if both arrange the texts alike. Without a background it may be chance."
    )
    yield Fold(prose("All layers"), (about, similarity_grid(found)))
