"""The scatter chart as static SVG, each dot with a title that a browser shows when pointed at."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator

from markupsafe import Markup

from reports.svg import COLOURS, LINE, document_text, framed
from scope.sections.charts import ScatterChart, ScatterDot

_LEFT, _TOP, _WIDTH, _HEIGHT, _BELOW = 56, 12, 520, 300, 44
_STEPS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0)
_MOST_TICKS = 7

_TEXT = Markup('<text x="{}" y="{}" dy="{}" text-anchor="{}">{}</text>')
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


class _Axis:
    """Where numbers lie on a stretch of pixels, with round numbers at both ends."""

    def __init__(self, values: Iterable[float], start: int, length: int) -> None:
        known = list(values)
        low, high = min(known), max(known)
        self.step = next(
            (step for step in _STEPS if (high - low) / step <= _MOST_TICKS - 2), _STEPS[-1]
        )
        self.first = math.floor(low / self.step + 1e-9)
        self.last = max(math.ceil(high / self.step - 1e-9), self.first + 1)
        self.start, self.length = start, length

    def at(self, value: float) -> str:
        """The pixel of a value, with one decimal."""
        share = (value / self.step - self.first) / (self.last - self.first)
        return f"{self.start + share * self.length:.1f}"

    def ticks(self) -> list[tuple[str, str]]:
        """Pixel and words of each round number."""
        numbers = [step * self.step for step in range(self.first, self.last + 1)]
        return [(self.at(number), f"{number:.2f}".replace("-", "−")) for number in numbers]


def scatter_svg(chart: ScatterChart) -> Markup:
    """Draw every dot, with its interval if it has one."""
    wide = [dot.x for dot in chart.dots]
    high = [y for dot in chart.dots for y in (dot.interval or (dot.y,))]
    if chart.diagonal:
        wide = high = wide + high
    across = _Axis(wide, _LEFT, _WIDTH)
    # Pixels count downwards.
    up = _Axis(high, _TOP + _HEIGHT, -_HEIGHT)
    content = [
        *_axes(chart, across, up),
        *_lines(chart, across, up),
        *(_dot(dot, across, up) for dot in chart.dots),
    ]
    return framed(_LEFT + _WIDTH + 20, _TOP + _HEIGHT + _BELOW, content)


def _axes(chart: ScatterChart, across: _Axis, up: _Axis) -> Iterable[Markup]:
    right, bottom = _LEFT + _WIDTH, _TOP + _HEIGHT
    for y, words in up.ticks():
        yield LINE.format(_LEFT, y, right, y, "#8883", 1)
        yield _TEXT.format(_LEFT - 6, y, 4, "end", words)
    for x, words in across.ticks():
        yield LINE.format(x, bottom, x, bottom + 5, "currentColor", 1)
        yield _TEXT.format(x, bottom + 18, 0, "middle", words)
    yield LINE.format(_LEFT, bottom, right, bottom, "currentColor", 1)
    yield _TEXT.format(_LEFT + _WIDTH // 2, bottom + 38, 0, "middle", document_text(chart.x_title))
    yield _TURNED.format(_TOP + _HEIGHT // 2, document_text(chart.y_title))


def _lines(chart: ScatterChart, across: _Axis, up: _Axis) -> Iterator[Markup]:
    """What lies below the dots: where both numbers are equal, and the line from dot to dot."""
    if chart.diagonal:
        ends = (across.first * across.step, across.last * across.step)
        (x1, y1), (x2, y2) = ((across.at(end), up.at(end)) for end in ends)
        yield _DASHED.format(x1, y1, x2, y2)
    if chart.joined:
        points = " ".join(f"{across.at(dot.x)},{up.at(dot.y)}" for dot in chart.dots)
        yield _JOINED.format(points, COLOURS[0])


def _dot(dot: ScatterDot, across: _Axis, up: _Axis) -> Markup:
    place = {"title": document_text(dot.title), "x": across.at(dot.x), "y": up.at(dot.y)}
    if dot.interval is None:
        return _BARE_DOT.format(colour=COLOURS[0], **place)
    low, high = map(up.at, dot.interval)
    return _DOT.format(low=low, high=high, colour=COLOURS[0], **place)
