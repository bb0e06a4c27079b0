"""The scatter chart as static SVG, each dot with a title that a browser shows when pointed at."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator

from markupsafe import Markup

from reports.charts import ScatterChart, ScatterDot
from reports.renderers.svg import (
    COLOURS,
    Scale,
    axis_below,
    axis_beside,
    document_text,
    framed,
    names_beside,
    pixel,
    round_step,
)

_LEFT, _TOP, _WIDTH, _HEIGHT, _BELOW = 56, 12, 520, 300, 44
_MOST_TICKS, _LEAST_STEP = 7, 0.01

_TURNED = Markup('<text transform="translate(14 {}) rotate(-90)" text-anchor="middle">{}</text>')
_DASHED = Markup(
    '<line x1="{}" y1="{}" x2="{}" y2="{}" stroke="currentColor" stroke-dasharray="5 4"></line>'
)
_JOINED = Markup('<polyline points="{}" fill="none" stroke="{}" stroke-width="2"></polyline>')
_BARE_DOT = Markup(
    '<circle cx="{x}" cy="{y}" r="3.5" fill="{colour}" fill-opacity="0.6">'
    "<title>{title}</title></circle>"
)
_DOT = Markup(
    '<g><title>{title}</title><line x1="{x}" y1="{low}" x2="{x}" y2="{high}" stroke="{colour}" '
    'stroke-width="1.5" stroke-opacity="0.5"></line><circle cx="{x}" cy="{y}" r="4" '
    'fill="{colour}" fill-opacity="0.8"></circle></g>'
)


def _rounded(values: Iterable[float], start: float, length: float) -> Scale:
    """From a round number below all values to one above."""
    known = list(values)
    low, high = min(known), max(known)
    step, _ = round_step(max((high - low) / (_MOST_TICKS - 2), _LEAST_STEP))
    first = math.floor(low / step + 1e-9)
    last = max(math.ceil(high / step - 1e-9), first + 1)
    return Scale(first * step, last * step, start, length)


def scatter_svg(chart: ScatterChart) -> Markup:
    """Draw every dot, with its interval if it has one."""
    wide = [dot.x for dot in chart.dots]
    high = [y for dot in chart.dots for y in (dot.interval or (dot.y,))]
    if chart.diagonal:
        wide = high = wide + high
    across = _rounded(wide, _LEFT, _WIDTH)
    # Pixels count downwards.
    up = _rounded(high, _TOP + _HEIGHT, -_HEIGHT)
    content = [
        *axis_beside(up, across, _MOST_TICKS),
        *axis_below(across, _TOP + _HEIGHT, document_text(chart.x_title), most=_MOST_TICKS),
        _TURNED.format(_TOP + _HEIGHT // 2, document_text(chart.y_title)),
        *_lines(chart, across, up),
        *(_dot(dot, across, up) for dot in chart.dots),
        *names_beside(
            ((across.at(dot.x), up.at(dot.y), dot.name) for dot in chart.dots if dot.name),
            _LEFT + _WIDTH + 20,
        ),
    ]
    return framed(_LEFT + _WIDTH + 20, _TOP + _HEIGHT + _BELOW, content)


def _lines(chart: ScatterChart, across: Scale, up: Scale) -> Iterator[Markup]:
    """What lies below the dots: where both numbers are equal, and the line from dot to dot."""
    if chart.diagonal:
        low, high = across.low, across.high
        ends = (across.at(low), up.at(low), across.at(high), up.at(high))
        yield _DASHED.format(*map(pixel, ends))
    if chart.joined:
        points = " ".join(f"{across.at(dot.x):.1f},{up.at(dot.y):.1f}" for dot in chart.dots)
        yield _JOINED.format(points, COLOURS[0])


def _dot(dot: ScatterDot, across: Scale, up: Scale) -> Markup:
    place = {
        "title": document_text(dot.title),
        "x": pixel(across.at(dot.x)),
        "y": pixel(up.at(dot.y)),
    }
    if dot.interval is None:
        return _BARE_DOT.format(colour=COLOURS[0], **place)
    low, high = (pixel(up.at(end)) for end in dot.interval)
    return _DOT.format(low=low, high=high, colour=COLOURS[0], **place)
