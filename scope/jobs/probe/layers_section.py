"""The section with layers: the correlation of each, and the decrease without it."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from operator import attrgetter
from typing import NamedTuple

from reports.blocks import (
    Beside,
    Block,
    Bullets,
    Column,
    Figure,
    Fold,
    Heading,
    Row,
    Section,
    Table,
    heading,
    note,
    paragraph,
)
from reports.charts import LayerChart, LayerMark, LayerRun
from reports.prose import Text, prose
from reports.wording import Cell
from scope.records import Estimate, LayerScore, ProbeFindings, Undefined

OfLayer = Callable[[LayerScore], Estimate | Undefined | None]
"""Selects one of a layer's values."""

_GRAIN = 0.1
"""The axes of correlations end at multiples of this."""


of_raw, of_encoded, of_lost = map(attrgetter, ("raw", "encoded", "lost"))
by_layer = attrgetter("layer")
_PANELS = (("Raw layers", of_raw), ("Encoded layers", of_encoded))


def curve_charts(scores: Sequence[LayerScore]) -> tuple[LayerChart, ...]:
    """One chart of the raw layers and one of the encoded ones, with the same axes."""
    names = models_of(scores)
    panels = [(title, _runs(scores, names, of)) for title, of in _PANELS]
    marks = [mark for _, runs in panels for run in runs for mark in run.marks]
    if not marks:
        return ()
    start = math.floor(min(mark.low for mark in marks) / _GRAIN + 1e-9) * _GRAIN
    end = math.ceil(max(mark.high for mark in marks) / _GRAIN - 1e-9) * _GRAIN
    return tuple(
        LayerChart(
            title=title,
            label=f"{title}: Pearson’s correlation by layer; the numbers are in the tables",
            keys=tuple(enumerate(names)),
            runs=runs,
            layers=max(score.layer for score in scores) + 1,
            start=start,
            end=max(end, start + _GRAIN),
        )
        for title, runs in panels
        if runs
    )


def loss_charts(scores: Sequence[LayerScore]) -> tuple[LayerChart, ...]:
    """One chart per model, because bars would overlap; with the same axis."""
    names = models_of(scores)
    every = _runs(scores, names, of_lost)
    ends = [end for run in every for mark in run.marks for end in (mark.low, mark.high)]
    return tuple(
        LayerChart(
            title=name,
            label=f"Decrease for {name} without each layer; the numbers are in the tables",
            keys=((place, name),),
            runs=runs,
            layers=max(score.layer for score in scores if score.model == name) + 1,
            start=min(0.0, *ends),
            end=max(0.0, *ends),
            bars=True,
        )
        for place, name in enumerate(names)
        if (runs := tuple(run for run in every if run.series == place))
    )


def models_of(scores: Sequence[LayerScore]) -> tuple[str, ...]:
    """The models of these layers."""
    return tuple(dict.fromkeys(score.model for score in scores))


def _runs(
    scores: Sequence[LayerScore], names: tuple[str, ...], of: OfLayer
) -> tuple[LayerRun, ...]:
    """The defined values of each model, split at undefined ones."""
    made: list[LayerRun] = []
    for place, name in enumerate(names):
        run: list[LayerMark] = []
        for score in sorted((one for one in scores if one.model == name), key=by_layer):
            estimate = of(score)
            if run and (not isinstance(estimate, Estimate) or score.layer > run[-1].layer + 1):
                made.append(LayerRun(series=place, marks=tuple(run)))
                run = []
            if isinstance(estimate, Estimate):
                run.append(_mark(score, estimate))
        if run:
            made.append(LayerRun(series=place, marks=tuple(run)))
    return tuple(made)


def _mark(score: LayerScore, estimate: Estimate) -> LayerMark:
    cell = Cell.of(estimate)
    return LayerMark(
        layer=score.layer,
        value=estimate.value,
        low=estimate.low,
        high=estimate.high,
        title=f"{score.model}, layer {score.layer}: {cell.value} {cell.interval}, n = {cell.n:,}",
    )


class LayerBullets(NamedTuple):
    """The layers that stand out: of the highest correlation, and of the largest decrease."""

    best: tuple[Block, ...]
    decreases: tuple[Block, ...]


def layer_bullets(findings: ProbeFindings) -> LayerBullets:
    """What stands out among the layers of each model; empty without results by layer."""
    models = [scores for _, scores in _models(findings)]
    decreases = tuple(_decrease(scores) for scores in models if _losses(scores))
    return LayerBullets(
        best=(
            Bullets(tuple(map(_best, models))),
            note(
                "These layers are selected on the test pairs, so their correlations are slightly "
                "optimistic. Layers whose intervals overlap are not distinguishable."
            ),
        )
        if models
        else (),
        decreases=(
            Bullets(decreases),
            note(
                "The intervals are not corrected for the number of layers: about 1 of 40 layers is "
                "significant by chance. The layer with the largest decrease is selected on the "
                "test pairs, so its decrease is slightly optimistic."
            ),
        )
        if decreases
        else (),
    )


def _models(findings: ProbeFindings) -> Iterator[tuple[str, list[LayerScore]]]:
    for name in models_of(findings.layers):
        scores = [one for one in findings.layers if one.model == name]
        yield name, sorted(scores, key=by_layer)


def _best(scores: Sequence[LayerScore]) -> Text:
    raw, encoded = _greatest(scores, of_raw), _greatest(scores, of_encoded)
    model = scores[0].model
    if raw is None:
        reason = next((one.raw.reason for one in scores if isinstance(one.raw, Undefined)), "")
        first = prose(
            "**{model}**: no raw layer has a correlation ({reason})", model=model, reason=reason
        )
    else:
        first = prose(
            "**{model}**: of the raw layers, layer {layer} has the highest correlation with "
            "{estimate}",
            model=model,
            layer=raw[0],
            estimate=raw[1],
        )
    if encoded is None:
        return prose("{first}.", first=first)
    return prose(
        "{first}; of the layers as encoded by the probe, layer {layer} with {estimate}.",
        first=first,
        layer=encoded[0],
        estimate=encoded[1],
    )


def _decrease(scores: Sequence[LayerScore]) -> Text:
    losses, most = _losses(scores), _greatest(scores, of_lost, least=0.0)
    largest = (
        prose("removing a layer causes no decrease")
        if most is None
        else prose(
            "the largest decrease is {estimate}, without layer {layer}",
            estimate=most[1],
            layer=most[0],
        )
    )
    significant = sum(one.low > 0 for one in losses)
    return prose(
        "**{model}**: {largest}; the decrease is significant for {significant} of {tested} "
        f"layer{'' if len(losses) == 1 else 's'}.",
        model=scores[0].model,
        largest=largest,
        significant=significant or prose("none"),
        tested=len(losses),
    )


def _losses(scores: Sequence[LayerScore]) -> list[Estimate]:
    return [score.lost for score in scores if isinstance(score.lost, Estimate)]


def _greatest(
    scores: Sequence[LayerScore], of: OfLayer, *, least: float = -math.inf
) -> tuple[int, Estimate] | None:
    """The layer with the largest value above ``least``; None if there is none."""
    known = [
        (score.layer, found)
        for score in scores
        if isinstance(found := of(score), Estimate) and found.value > least
    ]
    return max(known, key=lambda one: one[1].value, default=None)


def layers_section(findings: ProbeFindings, bullets: LayerBullets) -> Section | None:
    """The layers of all models; None if there are no results by layer."""
    if not findings.layers:
        return None
    return Section(
        anchor="layers",
        title="Layers",
        blocks=(
            paragraph(
                "For each single layer, Pearson’s correlation of the cosine similarity of its "
                "vectors with human scores, on the test pairs. Layers are counted from 0, without "
                "the input embeddings. A probe’s scores, also those of the step ``raw``, are "
                "calibrated to the range of human scores by a nonlinear function, so their Pearson "
                "correlation differs from that of the layer; Spearman’s does not."
            ),
            *bullets.best,
            *_curves(curve_charts(findings.layers)),
            *_decreases(loss_charts(findings.layers), bullets.decreases),
            heading("The numbers"),
            *(_numbers(name, scores) for name, scores in _models(findings)),
        ),
    )


def _curves(charts: Sequence[LayerChart]) -> Iterator[Block]:
    if not charts:
        return
    yield Beside(tuple((Heading(prose(one.title)), Figure(one)) for one in charts))
    same = "; both charts have the same axes" if len(charts) > 1 else ""
    yield note(
        f"Bands are confidence intervals{same}. Hover over a mark to see its values. A gap is a "
        "layer with an undefined value; the reason is in the table."
    )


def _decreases(charts: Sequence[LayerChart], bullets: tuple[Block, ...]) -> Iterator[Block]:
    if not charts:
        return
    yield heading("Without one layer")
    yield paragraph(
        "The decrease of Pearson’s correlation when one layer is removed from the last step’s "
        "probe without retraining. The contribution of the remaining layers is rescaled, so a "
        "smaller sum alone causes no decrease. A layer with a small decrease may still be "
        "informative: its neighbours may contain the same information."
    )
    yield from bullets
    yield Beside(tuple((Figure(one),) for one in charts))
    yield note("Bars are the decreases, lines their intervals.")


def _numbers(model: str, scores: Sequence[LayerScore]) -> Fold:
    encoded = any(score.encoded is not None for score in scores)
    lost = any(score.lost is not None for score in scores)
    table = Table(
        columns=(
            Column("Layer", "name"),
            Column("Raw", "estimate"),
            *([Column("Encoded", "estimate")] if encoded else []),
            *([Column("Decrease without", "estimate")] if lost else []),
        ),
        rows=tuple(
            Row(
                cells=(
                    score.layer,
                    Cell.of(score.raw),
                    *([_cell(score.encoded)] if encoded else []),
                    *([_cell(score.lost, signed=True)] if lost else []),
                )
            )
            for score in scores
        ),
        tall=True,
    )
    title = f"{{model}}: {{layers}} layer{'' if len(scores) == 1 else 's'}"
    return Fold(prose(title, model=model, layers=len(scores)), (table,))


def _cell(estimate: Estimate | Undefined | None, *, signed: bool = False) -> Cell | None:
    return None if estimate is None else Cell.of(estimate, signed=signed)
