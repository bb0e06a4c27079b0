"""Results of a probe in the terminal: the steps first, then models and layers."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from scope.printing import counted, printable
from scope.records import Estimate, LayerScore, ProbeFindings, StepScore, Undefined
from scope.tables.cells import estimate_text, listing

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table

MOST_NOTES = 5

_NARROW: Mapping[str, str] = MappingProxyType({"autoencoder": "auto-\nencoder"})
"""Long names of steps, broken over two lines."""

_POSITIONS: Mapping[str, str] = MappingProxyType(
    {
        "last": "at a text's last token",
        "mean": "as the mean of a text's tokens",
        "prompt": "at the last token of a prompt around each text",
    }
)


def probe(found: ProbeFindings, folder: Path | None = None) -> RenderableType:
    """The main results of a probe, each with its n and interval, in 80 columns.

    If the run's folder is given, the path of the report includes it.
    """
    from rich.console import Group
    from rich.text import Text

    parts: list[RenderableType] = [Text(printable(line)) for line in _head(found)]
    for name in dict.fromkeys(score.model for score in found.scores):
        scores = [score for score in found.scores if score.model == name]
        parts += [_steps(name, scores), *(Text(line) for line in _below(found, scores))]
    parts += [Text(line) for line in _legend(found)]
    parts += [one for one in (_differences(found), _layers(found)) if one is not None]
    parts += [Text(line) for line in _caveats(found)]
    parts += [Text(printable(line)) for line in (*_alignments(found), *_foot(found, folder))]
    return Group(*parts)


def _head(found: ProbeFindings) -> Iterator[str]:
    learned = (
        f"{found.train:,} training pairs, {found.development:,} development pairs"
        if found.train
        else "a saved probe"
    )
    beside = f", {found.unlabelled:,} sentences without scores" if found.unlabelled else ""
    models = counted(len(found.models), "model")
    yield f"probe: {models}; {learned}, {found.test:,} test pairs{beside}"
    for model in found.models:
        yield (
            f"{model.name}: {counted(model.layers, 'layer')} of width {model.width:,}, "
            f"read {_POSITIONS.get(model.readout, model.readout)}, "
            f"in {model.dtype}"
        )


def _steps(name: str, scores: Sequence[StepScore]) -> Table:
    """A table of a model's steps; the names get the width left by four columns of numbers."""
    from rich.table import Table
    from rich.text import Text

    shown = Table(title=Text(printable(f"{name}: correlation with human scores")))
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
            estimate_text(score.pearson),
            estimate_text(score.spearman),
            estimate_text(score.error),
            *((_gain(score.gain),) if gains else ()),
        )
        shown.add_row(*(Text(printable(cell)) for cell in cells))
    return shown


def _gain(gain: Estimate | Undefined | None) -> str:
    return "" if gain is None else estimate_text(gain) + _remark(gain)


def _remark(difference: Estimate | Undefined) -> str:
    if not isinstance(difference, Estimate):
        return ""
    return "\nmay be chance" if difference.side == "unclear" else ""


def _below(found: ProbeFindings, scores: Sequence[StepScore]) -> Iterator[str]:
    last = scores[-1]
    # The training sentences of a saved probe are unknown.
    if found.train and found.unseen < found.test:
        yield printable(
            f"Pearson on {found.unseen:,} unseen test pairs, without sentences of other pairs: "
            f"{last.step} {last.unseen}"
        )
    raw = next((score.pearson for score in scores[:-1] if score.step == "raw"), None)
    whole = last.pearson
    if isinstance(raw, Estimate) and isinstance(whole, Estimate) and whole.value < raw.value:
        yield printable(
            f"training is not shown to help here: {last.step} {whole.value:.3f} is lower than "
            f"raw {raw.value:.3f}"
        )
    trained = ", ".join(f"{score.step} {score.parameters:,}" for score in scores)
    yield printable(f"trained parameters: {trained}")
    spreads = [(score, _spread(score.pearsons)) for score in scores]
    told = ", ".join(f"{score.step} {spread}" for score, spread in spreads if spread)
    if told:
        seeds = max(len(score.pearsons) for score in scores)
        yield printable(f"Pearson over {seeds} seeds, mean ± sd: {told}; the table has the first")


def _legend(found: ProbeFindings) -> Iterator[str]:
    if any(score.step == "raw" for score in found.scores):
        yield "raw: the best raw layer on the development pairs"
    if found.scores:
        ends = f"from {found.low:g} to {found.high:g}"
        yield f"error: mean absolute difference from human scores, which range {ends}"


def _caveats(found: ProbeFindings) -> Iterator[str]:
    read = {model.name: (model.readout, model.prompt) for model in found.models}
    if any(read.get(one.first) != read.get(one.second) for one in found.differences):
        yield (
            "the models are not all read at the same position with the same prompt, which may "
            "cause differences"
        )


def _spread(values: Sequence[float | None]) -> str | None:
    """Mean and standard deviation over seeds; undefined values are counted and excluded."""
    known = [value for value in values if value is not None]
    if len(values) < 2:
        return None
    lacking = f" ({len(values) - len(known)} undefined)" if len(known) < len(values) else ""
    if not known:
        return f"undefined{lacking}"
    apart = f" ± {statistics.stdev(known):.3f}" if len(known) > 1 else ""
    return f"{statistics.mean(known):.3f}{apart}{lacking}"


def _differences(found: ProbeFindings) -> Table | None:
    rows = [
        (one.step, one.first, one.second, estimate_text(one.pearson) + _remark(one.pearson))
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
                _greatest(layers, lambda one: one.lost, least=0.0, chance=True),
            )
        )
    title = (
        "best single layers (counted from 0), and the layer with the largest decrease when "
        "removed; selected on the test pairs, so slightly optimistic"
    )
    return listing(title, ("model", "best raw", "best encoded", "decrease without"), rows)


def _greatest(
    layers: Sequence[LayerScore],
    of: Callable[[LayerScore], Estimate | Undefined | None],
    *,
    least: float = -math.inf,
    chance: bool = False,
) -> str:
    """The layer of the largest value above ``least``, or a reason, or empty if not requested.

    With ``chance``, a value whose interval includes 0 gets the remark "may be chance".
    """
    known = [(one.layer, value) for one in layers if isinstance(value := of(one), Estimate)]
    if not known:
        undefined = (value for one in layers if isinstance(value := of(one), Undefined))
        return str(next(undefined, ""))
    layer, value = max(known, key=lambda one: one[1].value)
    if value.value <= least:
        return "none"
    return f"layer {layer}\n{estimate_text(value)}" + (_remark(value) if chance else "")


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
                f"most similar: layer {row} of {one.first} and layer {column} of {one.second}, CKA "
                f"{value:.3f} ± {one.margins[row][column]:.3f} (n={one.sentences} sentences, "
                f"chance {one.chance:.3f})"
            )


def _foot(found: ProbeFindings, folder: Path | None) -> Iterator[str]:
    where = "the report" if folder is None else str(folder / "report.html")
    more = (
        "layer curves" if found.layers else "",
        "CKA maps" if found.alignments else "",
        "misjudged pairs" if found.misjudged else "",
    )
    told = ", ".join(one for one in more if one)
    if told:
        yield f"in {where}: {told}"
    if found.groups < found.test:
        yield (
            "intervals: jackknife over groups of test pairs that share sentences, "
            f"{counted(found.groups, 'group')}"
        )
    yield from (f"note: {note}" for note in found.notes[:MOST_NOTES])
    if len(found.notes) > MOST_NOTES:
        yield f"note: {len(found.notes) - MOST_NOTES} more in the report"
    if found.files:
        yield f"saved: {', '.join(found.files)}"
