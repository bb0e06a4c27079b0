"""The models of a pair: their size, their speed, and how alike their layers are."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from reports.blocks import Block, Column, Fold, Paragraph, Row, Section, Table, note
from reports.prose import Text, prose
from reports.wording import number
from scope.jobs.probe.layer_similarity import similarity_grid
from scope.records import LayerAlignment, ModelFacts, PairResult


def models_section(result: PairResult) -> Iterator[Section]:
    """One section; none of results of earlier releases."""
    if result.facts:
        blocks = (*_facts(result.facts), *(b for one in result.alignments for b in _layers(one)))
        yield Section(anchor="models", title="Models", blocks=blocks)


def _facts(facts: tuple[ModelFacts, ...]) -> Iterator[Block]:
    rows: list[tuple[str, Callable[[ModelFacts], Any], Callable[[Any], str]]] = [
        ("parameters", lambda one: one.parameters, "{:,}".format),
        ("files of weights", lambda one: one.stored, _megabytes),
        ("precision", lambda one: one.dtype, str),
        ("memory of the weights", lambda one: one.memory, _megabytes),
        ("seconds an answer", lambda one: one.seconds, "{:.2g}".format),
        ("answers timed", lambda one: one.timed or None, "{:,}".format),
    ]
    yield Table(
        columns=(
            Column("", "name"),
            *(Column(prose("{name}", name=one.model), "number") for one in facts),
        ),
        rows=tuple(
            Row(cells=(name, *(_known(of(one), write) for one in facts)))
            for name, of, write in rows
        ),
    )
    for one in facts:
        if one.reason:
            yield note("Unknown of {model}: {reason}.", model=one.model, reason=one.reason)
    yield note(
        "Memory is that of the parameters alone; what a batch takes comes on top. Answers were "
        "timed in batches on the machine of this run, with whatever else ran there."
    )


def _known(value: Any, write: Callable[[Any], str]) -> str:
    return "unknown" if value is None else write(value)


def _megabytes(count: int) -> str:
    """
    >>> _megabytes(90_867_952)
    '90.9 MB'
    """
    return f"{count / 1e6:,.1f} MB"


def _layers(found: LayerAlignment) -> Iterator[Block]:
    yield Paragraph(most_similar_layers(found))
    about = note(
        "Linear centred kernel alignment (CKA) of each layer of {first}, a row, with each of "
        "{second}: 1 if both arrange the texts alike. Of shuffled texts the greatest value is "
        "below {chance} in 95 of 100 maps.",
        first=found.first,
        second=found.second,
        chance=number(found.chance),
    )
    yield Fold(prose("All layers"), (about, similarity_grid(found)))


def most_similar_layers(found: LayerAlignment) -> Text:
    """The most similar layers of two models, and what their last layers have."""
    places = [(row, column) for row, of in enumerate(found.values) for column in range(len(of))]
    row, column = max(places, key=lambda place: found.values[place[0]][place[1]])
    return prose(
        "The most similar layers are {row} of **{first}** and {column} of **{second}**, CKA "
        "{value}\u00a0±\u00a0{margin}; the last layers have {last} "
        "(n\u00a0=\u00a0{n} texts; up to {chance} is chance).",
        first=found.first,
        second=found.second,
        row=row,
        column=column,
        value=number(found.values[row][column]),
        margin=number(found.margins[row][column]),
        last=number(found.values[-1][-1]),
        n=found.sentences,
        chance=number(found.chance),
    )
