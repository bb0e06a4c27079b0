"""What a probe of frozen models found, for the terminal: the ladder first, then the models."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from scope.printing import counted, printable
from scope.records import Estimate, LayerScore, ProbeFindings, StepScore, Undefined
from scope.tables.fleet_cells import listing, number

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table

MOST_NOTES = 5

_NARROW: Mapping[str, str] = MappingProxyType({"autoencoder": "auto-\nencoder"})
"""Steps that would leave the numbers too little room."""


def probe(found: ProbeFindings, folder: Path | None = None) -> RenderableType:
    """The main numbers of a probe, each with its n and interval; fits into 80 columns.

    Where the run's folder is given, its report is named with it.
    """
    from rich.console import Group
    from rich.text import Text

    parts: list[RenderableType] = [Text(printable(line)) for line in _head(found)]
    for name in dict.fromkeys(score.model for score in found.scores):
        scores = [score for score in found.scores if score.model == name]
        parts += [_ladder(name, scores), *(Text(line) for line in _below(scores))]
    parts += [one for one in (_differences(found), _layers(found)) if one is not None]
    parts += [Text(printable(line)) for line in (*_alignments(found), *_foot(found, folder))]
    return Group(*parts)


def _head(found: ProbeFindings) -> Iterator[str]:
    learned = (
        f"{found.train:,} pairs to learn from, {found.development:,} for development"
        if found.train
        else "a saved probe"
    )
    beside = f", {found.unlabelled:,} sentences without scores" if found.unlabelled else ""
    yield f"probe: {counted(len(found.models), 'model')}; {learned}, {found.test:,} to test{beside}"
    for model in found.models:
        yield (
            f"{model.name}: {counted(model.layers, 'layer')} of {model.width:,} numbers, "
            f"read at: {model.readout}, {model.dtype}"
        )


def _ladder(name: str, scores: Sequence[StepScore]) -> Table:
    """A model's steps; the four columns of numbers leave the names no more than they need."""
    from rich.table import Table
    from rich.text import Text

    shown = Table(title=Text(printable(f"{name}: likeness to people's scores")))
    shown.title_justify = "left"
    gains = any(score.gain is not None for score in scores)
    shown.add_column("step", overflow="fold")
    for heading in ("Pearson", "Spearman", "error"):
        shown.add_column(heading, overflow="fold", width=len("[0.000, 0.000]"))
    if gains:
        shown.add_column("gain", overflow="fold", width=len("[-0.000, 0.000]"))
    for score in scores:
        cells = (
            _NARROW.get(score.step, score.step),
            number(score.pearson),
            number(score.spearman),
            number(score.error),
            *((_gain(score.gain),) if gains else ()),
        )
        shown.add_row(*(Text(printable(cell)) for cell in cells))
    return shown


def _gain(gain: Estimate | Undefined | None) -> str:
    return "" if gain is None else number(gain) + _remark(gain)


def _remark(difference: Estimate | Undefined) -> str:
    if not isinstance(difference, Estimate):
        return ""
    return "\nmay be chance" if difference.low <= 0 <= difference.high else ""


def _below(scores: Sequence[StepScore]) -> Iterator[str]:
    trained = ", ".join(f"{score.step} {score.parameters:,}" for score in scores)
    yield printable(f"numbers trained: {trained}")
    spreads = [(score, _spread(score.pearsons)) for score in scores]
    told = ", ".join(f"{score.step} {spread}" for score, spread in spreads if spread)
    if told:
        seeds = max(len(score.pearsons) for score in scores)
        yield printable(f"Pearson over {seeds} seeds, mean ± sd: {told}; above stands the first")


def _spread(values: Sequence[float]) -> str | None:
    if len(values) < 2:
        return None
    return f"{statistics.mean(values):.3f} ± {statistics.stdev(values):.3f}"


def _differences(found: ProbeFindings) -> Table | None:
    rows = [
        (one.step, one.first, one.second, number(one.pearson) + _remark(one.pearson))
        for one in reversed(found.differences)
    ]
    headings = ("step", "first", "second", "difference")
    return listing("Pearson, first model minus second", headings, rows)


def _layers(found: ProbeFindings) -> Table | None:
    names = dict.fromkeys(score.model for score in found.layers)
    rows = []
    for name in names:
        layers = [score for score in found.layers if score.model == name]
        rows.append(
            (
                name,
                _greatest(layers, lambda one: one.raw),
                _greatest(layers, lambda one: one.encoded),
                _greatest(layers, lambda one: one.lost, least=0.0),
            )
        )
    title = "layers, counted from 0: which alone follows people best, which is missed most"
    return listing(title, ("model", "best as it is", "best encoded", "missed most"), rows)


def _greatest(
    layers: Sequence[LayerScore],
    of: Callable[[LayerScore], Estimate | Undefined | None],
    *,
    least: float = -math.inf,
) -> str:
    """The layer of the greatest number above ``least``, or a reason, or nothing if not asked."""
    known = [(one.layer, value) for one in layers if isinstance(value := of(one), Estimate)]
    if not known:
        undefined = (value for one in layers if isinstance(value := of(one), Undefined))
        return str(next(undefined, ""))
    layer, value = max(known, key=lambda one: one[1].value)
    if value.value <= least:
        return "none"
    return f"layer {layer}\n{number(value)}"


def _alignments(found: ProbeFindings) -> Iterator[str]:
    for one in found.alignments:
        cells = [
            (value, row, column)
            for row, values in enumerate(one.values)
            for column, value in enumerate(values)
        ]
        if cells:
            value, row, column = max(cells, key=lambda cell: cell[0])
            yield (
                f"most alike: layer {row} of {one.first} and layer {column} of {one.second}, CKA "
                f"{value:.3f} ± {one.margins[row][column]:.3f} (n={one.sentences} sentences, "
                f"chance {one.chance:.3f})"
            )


def _foot(found: ProbeFindings, folder: Path | None) -> Iterator[str]:
    where = "the report" if folder is None else str(folder / "report.html")
    more = (
        "curves of layers" if found.layers else "",
        "maps of CKA" if found.alignments else "",
        "misjudged pairs" if found.misjudged else "",
    )
    told = ", ".join(one for one in more if one)
    if told:
        yield f"in {where}: {told}"
    yield from (f"note: {note}" for note in found.notes[:MOST_NOTES])
    if len(found.notes) > MOST_NOTES:
        yield f"note: {len(found.notes) - MOST_NOTES} more in the report"
    if found.files:
        yield f"saved: {', '.join(found.files)}"
