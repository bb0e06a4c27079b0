"""The section with layers: the correlation of each, and the decrease without it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from reports.view import wording
from reports.view.probe_layer_charts import (
    Found,
    by_layer,
    curve_charts,
    encoded,
    loss_charts,
    lost,
    raw,
)
from scope.records import Estimate, LayerScore, ProbeFindings
from scope.sections.charts import LayerChart


@dataclass(frozen=True, kw_only=True)
class NamedLayer:
    """A layer with its value."""

    layer: int
    cell: wording.Cell


@dataclass(frozen=True, kw_only=True)
class LayerRow:
    """All values of one layer."""

    layer: int
    raw: wording.Cell
    encoded: wording.Cell | None
    lost: wording.Cell | None


@dataclass(frozen=True, kw_only=True)
class ModelLayers:
    """One model's layers; ``missed`` counts those with a significant decrease.

    ``tested`` counts the layers that were removed in turn; ``most_missed`` is the one with the
    largest decrease, if there is any.
    """

    model: str
    best_raw: NamedLayer | None
    best_encoded: NamedLayer | None
    most_missed: NamedLayer | None
    missed: int
    tested: int
    rows: tuple[LayerRow, ...]
    encoded: bool
    left_out: bool


@dataclass(frozen=True, kw_only=True)
class Layers:
    """All models' layers, as curves and as tables."""

    curves: tuple[LayerChart, ...]
    losses: tuple[LayerChart, ...]
    models: tuple[ModelLayers, ...]


def layers(findings: ProbeFindings) -> Layers | None:
    """The layers of all models; None if there are no results by layer."""
    scores = findings.layers
    if not scores:
        return None
    names = tuple(dict.fromkeys(score.model for score in scores))
    return Layers(
        curves=curve_charts(scores, names),
        losses=loss_charts(scores, names),
        models=tuple(_model([one for one in scores if one.model == name]) for name in names),
    )


def _model(scores: Sequence[LayerScore]) -> ModelLayers:
    losses = [score.lost for score in scores if isinstance(score.lost, Estimate)]
    return ModelLayers(
        model=scores[0].model,
        best_raw=_greatest(scores, raw),
        best_encoded=_greatest(scores, encoded),
        most_missed=_greatest(scores, lost, least=0.0),
        missed=sum(one.low > 0 for one in losses),
        tested=len(losses),
        rows=tuple(map(_row, sorted(scores, key=by_layer))),
        encoded=any(score.encoded is not None for score in scores),
        left_out=any(score.lost is not None for score in scores),
    )


def _greatest(
    scores: Iterable[LayerScore], found: Found, *, least: float = -math.inf
) -> NamedLayer | None:
    """The layer with the largest value above ``least``; None if there is none."""
    known = [
        (score.layer, estimate)
        for score in scores
        if isinstance(estimate := found(score), Estimate) and estimate.value > least
    ]
    if not known:
        return None
    layer, estimate = max(known, key=lambda one: one[1].value)
    return NamedLayer(layer=layer, cell=wording.cell(estimate))


def _row(score: LayerScore) -> LayerRow:
    return LayerRow(
        layer=score.layer,
        raw=wording.cell(score.raw),
        encoded=None if score.encoded is None else wording.cell(score.encoded),
        lost=None if score.lost is None else wording.cell(score.lost, signed=True),
    )
