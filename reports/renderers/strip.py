"""Strip charts as static SVG: the controls as dots, the suspect as a diamond of its own.

Controls that lie close stand above each other, so that each can be counted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from markupsafe import Markup

from reports.charts import SmallStrip, StripChart, StripDot
from reports.renderers.svg import COLOURS, TEXT, Scale, axis_below, document_text, framed, pixel

_CONTROL, _SUSPECT = COLOURS[0], COLOURS[1]
_LEFT, _WIDTH, _RIGHT = 24, 312, 24
_LABELS, _LANE, _BELOW = 18, 26, 46
_RADIUS, _STEP, _TALLEST = 4.5, 10.0, 180.0
_SMALL_WIDTH, _SMALL_HEIGHT, _SMALL_EDGE = 150, 22, 7
_MOST_TICKS = 7

_LINE = Markup(
    '<line x1="{}" y1="{}" x2="{}" y2="{}" stroke="{}" stroke-width="{}" '
    'stroke-dasharray="{}"></line>'
)
_CIRCLE = Markup(
    '<circle cx="{}" cy="{}" r="{}" fill="{}" fill-opacity="0.75"><title>{}</title></circle>'
)
_DIAMOND = Markup(
    '<path d="M{x} {top}L{right} {y}L{x} {bottom}L{left} {y}Z" fill="{colour}">{inner}</path>'
)
_TITLE = Markup("<title>{}</title>")
_WIDE = Markup('<svg width="100%" height="{height}">{content}</svg>')


def _scale(values: Sequence[float], start: int, length: int) -> Scale:
    """Where numbers lie on a stretch of pixels; a stretch for one number has it in the middle."""
    low, high = min(values), max(values)
    if high - low < 1e-12 * max(abs(low), abs(high), 1e-12):
        room = abs(low) / 2 or 0.5
        low, high = low - room, high + room
    return Scale(low, high, start, length)


def strip_svg(chart: StripChart) -> Markup:
    """Draw the controls, the suspect above them, and the place that it had to lie beyond."""
    suspects = [] if chart.suspect is None else [chart.suspect]
    across = _scale([dot.value for dot in (*chart.controls, *suspects)], _LEFT, _WIDTH)
    piled, tallest = _piled(chart.controls, across)
    bottom = _LABELS + _LANE + tallest + 2 * _RADIUS + 4
    content = [
        *_threshold(chart, across, bottom),
        *axis_below(across, bottom, document_text(chart.x_title), most=_MOST_TICKS),
    ]
    content += [
        _CIRCLE.format(
            pixel(x), pixel(bottom - _RADIUS - 2 - up), _RADIUS, _CONTROL, document_text(dot.title)
        )
        for dot, x, up in piled
    ]
    content += [mark for dot in suspects for mark in _suspect(dot, across, bottom)]
    return framed(_LEFT + _WIDTH + _RIGHT, bottom + _BELOW, content)


def small_strip_svg(chart: SmallStrip) -> Markup:
    """Draw one row: the controls, and the suspect with its interval."""
    if chart.ends is not None:
        return _on_common_scale(chart, Scale(*chart.ends, 6, 88))
    dots = (*chart.controls, chart.suspect)
    across = _scale(
        [*(dot.value for dot in dots), chart.low, chart.high],
        _SMALL_EDGE,
        _SMALL_WIDTH - 2 * _SMALL_EDGE,
    )
    middle = _SMALL_HEIGHT / 2
    ends = (pixel(across.at(chart.low)), pixel(across.at(chart.high)))
    return framed(
        _SMALL_WIDTH,
        _SMALL_HEIGHT,
        [
            _LINE.format(0, middle, _SMALL_WIDTH, middle, "#8886", 1, "none"),
            *(
                _CIRCLE.format(
                    pixel(across.at(dot.value)), middle, 3, _CONTROL, document_text(dot.title)
                )
                for dot in chart.controls
            ),
            _LINE.format(ends[0], middle, ends[1], middle, _SUSPECT, 2, "none"),
            _diamond(chart.suspect, across.at(chart.suspect.value), middle, 5),
        ],
    )


def _on_common_scale(chart: SmallStrip, across: Scale) -> Markup:
    """Draw an interval and the levels in per cent, so that the drawing is as wide as its cell."""

    def at(value: float) -> str:
        return f"{across.at(value):.2f}%"

    middle, dot = _SMALL_HEIGHT / 2, chart.suspect
    low, high = at(chart.low), at(chart.high)
    content = [_LINE.format(0, middle, "100%", middle, "#8886", 1, "none")]
    for level, dotted in chart.levels:
        x, dashes = at(level), "2 3" if dotted else "none"
        content.append(_LINE.format(x, 0, x, _SMALL_HEIGHT, "currentColor", 1.5, dashes))
    content.append(_LINE.format(low, middle, high, middle, _SUSPECT, 3, "none"))
    content.append(_CIRCLE.format(at(dot.value), middle, 5, _SUSPECT, document_text(dot.title)))
    return _WIDE.format(height=_SMALL_HEIGHT, content=Markup().join(content))


def _piled(
    dots: Iterable[StripDot], across: Scale
) -> tuple[list[tuple[StripDot, float, float]], float]:
    """Each dot with its pixel across and how far up it stands, and the tallest pile."""
    piles: Counter[int] = Counter()
    placed = []
    for dot in sorted(dots, key=lambda one: one.value):
        x = across.at(dot.value)
        pile = round(x / _STEP)
        placed.append((dot, x, piles[pile]))
        piles[pile] += 1
    most = max(piles.values(), default=1) - 1
    # Very many controls stand closer rather than higher than the page.
    step = min(_STEP, _TALLEST / most) if most else _STEP
    return [(dot, x, up * step) for dot, x, up in placed], most * step


def _threshold(chart: StripChart, across: Scale, bottom: float) -> Iterable[Markup]:
    if chart.threshold is None:
        return
    x = across.at(chart.threshold)
    yield _LINE.format(pixel(x), _LABELS - 4, pixel(x), pixel(bottom), "currentColor", 1.5, "5 4")
    words = f"p ≤ {chart.rate} beyond this →"
    yield TEXT.format(pixel(x), _LABELS - 7, _anchor(x), words)


def _suspect(dot: StripDot, across: Scale, bottom: float) -> Iterable[Markup]:
    x, y = across.at(dot.value), _LABELS + _LANE / 2
    yield _LINE.format(pixel(x), pixel(y), pixel(x), pixel(bottom), _SUSPECT, 1.5, "none")
    yield _diamond(dot, x, y, 8)
    away = 12 if _anchor(x) == "start" else -12
    yield TEXT.format(pixel(x + away), pixel(y + 4), _anchor(x), "suspect")


def _anchor(x: float) -> str:
    """Which end of some words stands at a pixel, so that they stay inside the drawing."""
    return "start" if x < _LEFT + _WIDTH / 2 else "end"


def _diamond(dot: StripDot, x: float, y: float, half: float) -> Markup:
    return _DIAMOND.format(
        x=pixel(x),
        y=pixel(y),
        top=pixel(y - half),
        bottom=pixel(y + half),
        left=pixel(x - half),
        right=pixel(x + half),
        colour=_SUSPECT,
        inner=_TITLE.format(document_text(dot.title)),
    )
