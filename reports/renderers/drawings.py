"""The charts of a page as static SVG; their numbers are also in a table beside them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence

from markupsafe import Markup

from reports.charts import Chart, Dot, Series, SmallStrip
from reports.renderers.svg import (
    FAINT,
    INK,
    TICKS,
    Scale,
    element,
    framed,
    line,
    mark,
    names_beside,
    path,
    round_step,
    words,
)

MANY = 300
"""From this number on, dots are smaller and have no names."""


def drawing(chart: Chart) -> Markup:
    """The chart as SVG: axes and guides, every series, the largest below, and names of dots."""
    left, top, right, below = (56, 12, 20, 44) if chart.x_title else (14, 14, 14, 14)
    width, height = chart.size
    x_ends, y_ends = chart.ends or _ends(chart)
    across = Scale(*x_ends, left, width)
    up = Scale(*y_ends, top + height, -height)  # pixels count downwards
    dots = chart.dots
    many = len(dots) > MANY
    names = [(across.at(dot.x), up.at(dot.y), dot.name) for dot in dots if dot.name and not many]
    wide = left + width + right
    return framed(
        wide,
        top + height + below,
        *(_axes(chart, across, up) if chart.x_title else ()),
        *(
            _series(series, chart.joined, across, up, radius=2.5 if many else 4)
            for series in sorted(chart.series, key=lambda series: -len(series.dots))
        ),
        element("g", *names_beside(names, wide)),
        style=None if chart.x_title else "map",
    )


def _ends(chart: Chart) -> Sequence[tuple[float, float]]:
    """The ends of the axes."""
    places = [(dot.x, y) for dot in chart.dots for y in (dot.interval or (dot.y,))]
    places += [place for guide in chart.guides for place in (guide.start, guide.end)]
    xs, ys = zip(*places, strict=True)
    if chart.diagonal:
        xs = ys = xs + ys
    if chart.x_title:
        return _round_ends(xs), _round_ends(ys)
    # On a map a pixel is as long in both directions.
    sides = tuple(zip((xs, ys), chart.size, strict=True))
    half = max((max(side) - min(side)) / pixels for side, pixels in sides) / 2 or 1.0
    middles = ((max(side) + min(side)) / 2 for side in (xs, ys))
    return [
        (middle - half * pixels, middle + half * pixels)
        for middle, pixels in zip(middles, chart.size, strict=True)
    ]


def _round_ends(numbers: Sequence[float]) -> tuple[float, float]:
    """Round numbers below and above all values."""
    step, _ = round_step(max((max(numbers) - min(numbers)) / (TICKS - 2), 0.01))
    first = math.floor(min(numbers) / step + 1e-9)
    return first * step, max(math.ceil(max(numbers) / step - 1e-9), first + 1) * step


def _axes(chart: Chart, across: Scale, up: Scale) -> Iterator[Markup]:
    """Both axes with their titles, and the lines to compare dots with."""
    left, right, bottom = across.start, across.end, up.start
    for y, number in up.ticks(TICKS, whole=_whole(dot.y for dot in chart.dots)):
        yield line(left, y, right, y, FAINT)
        yield words(left - 6, y + 4, number, "end")
    for x, number in across.ticks(TICKS, whole=_whole(dot.x for dot in chart.dots)):
        yield line(x, bottom, x, bottom + 5)
        yield words(x, bottom + 18, number)
    yield line(left, bottom, right, bottom)
    yield words((left + right) / 2, bottom + 38, chart.x_title)
    place = f"translate(14 {(bottom + up.end) / 2:g}) rotate(-90)"
    yield element("text", chart.y_title, transform=place, text_anchor="middle")
    if chart.diagonal:
        yield line(left, bottom, right, up.end, dashes="5 4")
    for (x, y), (to_x, to_y), _ in chart.guides:
        yield line(across.at(x), up.at(y), across.at(to_x), up.at(to_y), dashes="5 4")


def _whole(numbers: Iterable[float]) -> bool:
    """Whether all numbers are whole: then the axis has only whole numbers."""
    return all(number == round(number) for number in numbers)


def _series(series: Series, joined: float, across: Scale, up: Scale, *, radius: float) -> Markup:
    """The dots of a series in one element with their colour, which keeps the file small."""
    content: list[Markup] = []
    for run in _runs(series.dots, joined):
        places = [(across.at(dot.x), up.at(dot.y)) for dot in run]
        lows, highs = (
            [(across.at(dot.x), up.at(dot.interval[end])) for dot in run if dot.interval]
            for end in (0, 1)
        )
        if len(run) > 1:
            band = path((*lows, *reversed(highs)))
            content += (
                element("polygon", points=band, fill_opacity="0.15"),
                element(
                    "polyline", points=path(places), fill="none", stroke=INK, stroke_width=1.75
                ),
            )
        else:
            content += (line(*low, *high, width=1.5) for low, high in zip(lows, highs, strict=True))
        content += (
            mark(series.shape, x, y, dot.title, radius)
            for dot, (x, y) in zip(run, places, strict=True)
        )
    return element(
        "g",
        *content,
        class_=series.key.style,
        fill="currentColor",
        fill_opacity="0.75",
        # The clear stroke makes a small dot easier to point at.
        stroke="#0000",
        stroke_width=4,
        pointer_events="all",
    )


def _runs(dots: Iterable[Dot], joined: float) -> list[list[Dot]]:
    """The dots in groups of neighbours with at most this horizontal distance."""
    runs: list[list[Dot]] = []
    for dot in dots:
        if runs and 0 < dot.x - runs[-1][-1].x <= joined:
            runs[-1].append(dot)
        else:
            runs.append([dot])
    return runs


def small_strip_svg(chart: SmallStrip) -> Markup:
    """One row: levels, and the estimate with its interval.

    Places are in per cent, so that the drawing is as wide as its cell.
    """
    height, interval = 22, chart.estimate
    middle = height / 2
    scale = Scale(*chart.ends, 6, 88)

    def at(value: float) -> str:
        return f"{scale.at(value):.2f}%"

    levels = (
        line(at(level), 0, at(level), height, width=1.5, dashes="2 3" if dotted else None)
        for level, dotted in chart.levels
    )
    estimate = (
        line(at(interval.low), middle, at(interval.high), middle, width=3),
        mark(0, at(interval.value), middle, chart.label, 5),
    )
    return element(
        "svg",
        line(0, middle, "100%", middle, "#8886"),
        *levels,
        element("g", *estimate, class_="s1", fill="currentColor"),
        width="100%",
        height=height,
    )
