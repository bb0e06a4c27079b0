"""Numbers by layer as static SVG: curves with bands."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

from markupsafe import Markup

from reports.charts import LayerChart, LayerRun
from reports.renderers.svg import (
    BAND,
    LINE,
    TEXT,
    Scale,
    axis_beside,
    colour_of,
    framed,
    mark,
    round_step,
)

_LEFT, _TOP, _WIDTH, _HEIGHT, _RIGHT, _BELOW = 46, 10, 300, 200, 14, 42
_MOST_TICKS, _MOST_SHAPES = 8, 32

_CURVE = Markup('<polyline points="{}" fill="none" stroke="{}" stroke-width="1.75"></polyline>')


class _Place(NamedTuple):
    """Where layers and numbers lie on the drawing."""

    across: Scale
    up: Scale
    layers: int

    def at(self, layer: int, value: float) -> str:
        """Where a number of a layer lies, as the points of a line are written."""
        return f"{self.across.at(layer):.1f},{self.up.at(value):.1f}"


def layer_svg(chart: LayerChart) -> Markup:
    """Draw every run of layers, with the interval of each."""
    across = Scale(-0.5, chart.layers - 0.5, _LEFT, _WIDTH)
    up = Scale(chart.start, chart.end, _TOP + _HEIGHT, -_HEIGHT)
    place = _Place(across, up, chart.layers)
    content = [*_axes(place), *(_band(run, place) for run in chart.runs)]
    content += [part for run in chart.runs for part in _curve(run, place)]
    return framed(_LEFT + _WIDTH + _RIGHT, _TOP + _HEIGHT + _BELOW, content)


def _axes(place: _Place) -> Iterator[Markup]:
    right, bottom = _LEFT + _WIDTH, _TOP + _HEIGHT
    yield from axis_beside(place.up, place.across, _MOST_TICKS)
    if place.up.low <= 0 <= place.up.high:
        y = f"{place.up.at(0):.1f}"
        yield LINE.format(_LEFT, y, right, y, "currentColor", 1)
    every = max(1, int(round_step(place.layers / _MOST_TICKS)[0]))
    for layer in range(0, place.layers, every):
        x = f"{place.across.at(layer):.1f}"
        yield LINE.format(x, bottom, x, bottom + 5, "currentColor", 1)
        yield TEXT.format(x, bottom + 18, "middle", layer)
    yield LINE.format(_LEFT, bottom, right, bottom, "currentColor", 1)
    yield TEXT.format(_LEFT + _WIDTH // 2, bottom + 36, "middle", "layer")


def _band(run: LayerRun, place: _Place) -> Markup:
    """The intervals of a run; that of a layer alone is a line."""
    colour = colour_of(run.series)
    if len(run.marks) == 1:
        (mark,) = run.marks
        x = f"{place.across.at(mark.layer):.1f}"
        low, high = (f"{place.up.at(end):.1f}" for end in (mark.low, mark.high))
        return LINE.format(x, low, x, high, colour, 1.5)
    below = [place.at(mark.layer, mark.low) for mark in run.marks]
    above = [place.at(mark.layer, mark.high) for mark in reversed(run.marks)]
    return BAND.format(" ".join((*below, *above)), colour)


def _curve(run: LayerRun, place: _Place) -> Iterator[Markup]:
    colour = colour_of(run.series)
    if len(run.marks) > 1:
        points = " ".join(place.at(mark.layer, mark.value) for mark in run.marks)
        yield _CURVE.format(points, colour)
    # Where layers stand close, some shapes tell the models apart, and the others are clear.
    every = math.ceil(place.layers / _MOST_SHAPES)
    for one in run.marks:
        drawn = one.layer % every == 0 or len(run.marks) == 1
        x, y = place.across.at(one.layer), place.up.at(one.value)
        yield mark(run.series, x, y, fill=colour if drawn else "#0000", title=one.title)
