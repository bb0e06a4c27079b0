"""The map of a fleet as static SVG: a dot a model, with a title that a browser shows over it.

Dots of a group share one element that holds their colour, by a class of the style sheet, so that
thousands of them stay light. Distances on the map count: both axes have the same scale.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from markupsafe import Markup

from reports.charts import MapChart, MapDot, MapGroup
from reports.renderers.svg import OUTLINES, document_text, names_beside

_WIDTH, _HEIGHT, _EDGE = 720, 480, 14
_LARGE, _SMALL, _MANY = 4, 3, 300

_FRAME = Markup(
    '<svg viewBox="0 0 {width} {height}" width="{width}" height="{height}">'
    '<rect x="0.5" y="0.5" width="{inner_width}" height="{inner_height}" fill="none" '
    'stroke="#8886"></rect>{content}</svg>'
)
# The clear stroke makes a small dot easier to point at.
_GROUP = Markup(
    '<g class="{style}" fill="currentColor" fill-opacity="0.75" stroke="#0000" stroke-width="4" '
    'pointer-events="all">{content}</g>'
)
_LETTERS = Markup('<g font-family="sans-serif" font-size="12" fill="currentColor">{}</g>')
_CIRCLE = Markup('<circle cx="{x}" cy="{y}" r="{radius}"><title>{title}</title></circle>')
_PATH = Markup('<path d="M{x} {y}{outline}"><title>{title}</title></path>')


class _Place(NamedTuple):
    """From the map's numbers to pixels; the middle of the one is the middle of the other."""

    x: float
    y: float
    scale: float

    def pixels(self, dot: MapDot) -> dict[str, str]:
        """Where a dot lies; pixels count downwards."""
        return {
            "x": f"{_WIDTH / 2 + (dot.x - self.x) * self.scale:.1f}",
            "y": f"{_HEIGHT / 2 - (dot.y - self.y) * self.scale:.1f}",
        }


def map_svg(chart: MapChart) -> Markup:
    """Draw every model, the largest groups below the others."""
    place = _place(chart)
    radius = _SMALL if len(chart.dots) > _MANY else _LARGE
    ordered = sorted(chart.groups, key=lambda group: -len(group.dots))
    return _FRAME.format(
        width=_WIDTH,
        height=_HEIGHT,
        inner_width=_WIDTH - 1,
        inner_height=_HEIGHT - 1,
        content=Markup().join(
            (*(_group(group, place, radius) for group in ordered), *_names(chart, place))
        ),
    )


def _names(chart: MapChart, place: _Place) -> Iterator[Markup]:
    """The names of few enough models."""
    if len(chart.dots) <= _MANY:
        pixels = ((place.pixels(dot), dot.name) for dot in reversed(chart.dots))
        named = ((float(at["x"]), float(at["y"]), name) for at, name in pixels)
        yield _LETTERS.format(Markup().join(names_beside(named, _WIDTH)))


def _place(chart: MapChart) -> _Place:
    xs, ys = ([getattr(dot, axis) for dot in chart.dots] for axis in ("x", "y"))
    wide, high = max(xs) - min(xs), max(ys) - min(ys)
    scales = [
        (pixels - 2 * _EDGE) / length
        for pixels, length in ((_WIDTH, wide), (_HEIGHT, high))
        if length > 0
    ]
    x, y = ((max(axis) + min(axis)) / 2 for axis in (xs, ys))
    return _Place(x=x, y=y, scale=min(scales, default=1.0))


def _group(group: MapGroup, place: _Place, radius: int) -> Markup:
    content = Markup().join(_dots(group, place, radius))
    return _GROUP.format(style=group.style, content=content)


def _dots(group: MapGroup, place: _Place, radius: int) -> Iterator[Markup]:
    outline = OUTLINES[group.shape]
    for dot in group.dots:
        where = {**place.pixels(dot), "title": document_text(dot.title)}
        if outline:
            yield _PATH.format(outline=outline, **where)
        else:
            yield _CIRCLE.format(radius=radius, **where)
