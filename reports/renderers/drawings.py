"""The charts of a page as static SVG; their numbers are in a table beside them, too."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence

from markupsafe import Markup

from reports.charts import (
    Chart,
    IntervalChart,
    LayerChart,
    LayerRun,
    MapChart,
    ScatterChart,
    SmallStrip,
    StripChart,
    StripDot,
)
from reports.renderers.svg import (
    COLOURS,
    Scale,
    axis_below,
    axis_beside,
    band,
    colour_of,
    cut_to_room,
    document_text,
    element,
    framed,
    joined_line,
    line,
    mark,
    names_beside,
    pixel,
    round_step,
    words,
)

_CONTROL, _SUSPECT = COLOURS[:2]


MANY = 300
"""Dots from which they are smaller, and have no names on a map."""


def drawing(chart: Chart) -> Markup:
    """The chart as SVG."""
    match chart:
        case IntervalChart():
            return _intervals(chart)
        case ScatterChart():
            return _scatter(chart)
        case StripChart():
            return _strip(chart)
        case LayerChart():
            return _layers(chart)
        case MapChart():
            return _map(chart)


def _intervals(chart: IntervalChart) -> Markup:
    """Dots with intervals, a row each."""
    left, top, width, height = 200, 8, 520, 28
    across = Scale(chart.start, chart.end, left, width)
    bottom = top + len(chart.rows) * height
    content = [*axis_below(across, bottom, "estimate and interval", grid_from=top)]
    for place, (name, estimate) in enumerate(chart.rows):
        y = top + (place + 0.5) * height
        low, high = across.at(estimate.low), across.at(estimate.high)
        content += [
            words(left - 8, y + 4, cut_to_room(document_text(name), left - 12), "end"),
            line(low, y, high, y, COLOURS[0], 2),
            mark(0, across.at(estimate.value), y, radius=4),
        ]
    return framed(left + width + 16, bottom + 42, *content)


def _scatter(chart: ScatterChart) -> Markup:
    """Every dot, with its interval if it has one, on axes with the same ends unless with a fit."""
    left, top, width, height, ticks = 56, 12, 520, 300, 7
    xs = [dot.x for dot in chart.dots]
    ys = [y for dot in chart.dots for y in (dot.interval or (dot.y,))]
    if not chart.fit:
        xs = ys = xs + ys
    across = Scale(*_round_ends(xs, ticks), left, width)
    up = Scale(*_round_ends(ys, ticks), top + height, -height)  # pixels count downwards
    places = [(across.at(dot.x), up.at(dot.y)) for dot in chart.dots]
    radius = 2.5 if chart.fit and len(places) > MANY else 4
    middle = top + height // 2
    content = [
        *axis_beside(up, across, ticks),
        *axis_below(across, top + height, chart.x_title, most=ticks),
        element(
            "text",
            chart.y_title,
            transform=f"translate(14 {middle}) rotate(-90)",
            text_anchor="middle",
        ),
        *([] if chart.fit else [line(left, top + height, left + width, top, dashes="5 4")]),
        *([joined_line(places, COLOURS[0], 2)] if chart.joined else []),
    ]
    for dot, (x, y) in zip(chart.dots, places, strict=True):
        if dot.interval is not None:
            low, high = map(up.at, dot.interval)
            content.append(line(x, low, x, high, f"{COLOURS[0]}80", 1.5))
        content.append(mark(dot.series, x, y, title=dot.title, radius=radius, opacity="0.7"))
    if chart.fit:
        ends = [(across.at(x), up.at(y)) for x, y in chart.fit]
        content.append(joined_line(ends, COLOURS[1], 2))
    named = [(x, y, dot.name) for dot, (x, y) in zip(chart.dots, places, strict=True) if dot.name]
    right = left + width + 20
    return framed(right, top + height + 44, *content, *names_beside(named, right))


def _round_ends(numbers: Sequence[float], ticks: int) -> tuple[float, float]:
    """Round numbers below and above all these."""
    step, _ = round_step(max((max(numbers) - min(numbers)) / (ticks - 2), 0.01))
    first = math.floor(min(numbers) / step + 1e-9)
    return first * step, max(math.ceil(max(numbers) / step - 1e-9), first + 1) * step


def _fitted(values: Sequence[float], start: int, length: int) -> Scale:
    """Where numbers lie on a stretch of pixels; a stretch for one number has it in the middle."""
    low, high = min(values), max(values)
    if high - low < 1e-12 * max(abs(low), abs(high), 1e-12):
        room = abs(low) / 2 or 0.5
        low, high = low - room, high + room
    return Scale(low, high, start, length)


def _strip(chart: StripChart) -> Markup:
    """The controls, the suspect above them, and the place that it had to lie beyond.

    Controls that lie close stand above each other, so that each can be counted.
    """
    left, width, labels, lane, radius = 24, 312, 18, 26, 4.5
    suspects = [] if chart.suspect is None else [chart.suspect]
    across = _fitted([dot.value for dot in (*chart.controls, *suspects)], left, width)
    piled, tallest = _piled(chart.controls, across)
    bottom = labels + lane + tallest + 2 * radius + 4

    def anchor(x: float) -> str:
        """The end of some words at a pixel, so that they stay inside the drawing."""
        return "start" if x < left + width / 2 else "end"

    content = []
    if chart.threshold is not None:
        x = across.at(chart.threshold)
        content += [
            line(x, labels - 4, x, bottom, width=1.5, dashes="5 4"),
            words(x, labels - 7, f"p ≤ {chart.rate} beyond this →", anchor(x)),
        ]
    content += axis_below(across, bottom, chart.x_title, most=7)
    content += [
        mark(0, x, bottom - radius - 2 - up, title=dot.title, radius=radius, opacity="0.75")
        for dot, x, up in piled
    ]
    for dot in suspects:
        x, y = across.at(dot.value), labels + lane / 2
        away = 12 if anchor(x) == "start" else -12
        content += [
            line(x, y, x, bottom, _SUSPECT, 1.5),
            _diamond(dot, x, y, 8),
            words(x + away, y + 4, "suspect", anchor(x)),
        ]
    return framed(left + width + 24, bottom + 46, *content)


def _piled(
    dots: Iterable[StripDot], across: Scale
) -> tuple[list[tuple[StripDot, float, float]], float]:
    """Each dot with its pixel across and how far up it stands, and the tallest pile."""
    step, tallest = 10.0, 180.0
    piles: Counter[int] = Counter()
    placed = []
    for dot in sorted(dots, key=lambda dot: dot.value):
        x = across.at(dot.value)
        pile = round(x / step)
        placed.append((dot, x, piles[pile]))
        piles[pile] += 1
    most = max(piles.values(), default=1) - 1
    # Very many controls stand closer rather than higher than the page.
    step = min(step, tallest / most) if most else step
    return [(dot, x, up * step) for dot, x, up in placed], most * step


def _diamond(dot: StripDot, x: float, y: float, half: float) -> Markup:
    corners = ((x, y - half), (x + half, y), (x, y + half), (x - half, y))
    path = "L".join(f"{pixel(across)} {pixel(down)}" for across, down in corners)
    return element("path", element("title", dot.title), d=f"M{path}Z", fill=_SUSPECT)


def small_strip_svg(chart: SmallStrip) -> Markup:
    """One row: the controls, and the suspect with its interval.

    On a common scale, places are in per cent, so that the drawing is as wide as its cell.
    """
    width, height, edge = 150, 22, 7
    middle, dot = height / 2, chart.suspect
    if chart.ends is not None:
        scale = Scale(*chart.ends, 6, 88)
        value, low, high = (f"{scale.at(x):.2f}%" for x in (dot.value, chart.low, chart.high))
        content = [line(0, middle, "100%", middle, "#8886")]
        for level, dotted in chart.levels:
            x = f"{scale.at(level):.2f}%"
            content.append(line(x, 0, x, height, width=1.5, dashes="2 3" if dotted else None))
        content.append(line(low, middle, high, middle, _SUSPECT, 3))
        content.append(mark(0, value, middle, fill=_SUSPECT, title=dot.title, radius=5))
        return element("svg", *content, width="100%", height=height)
    values = [control.value for control in (*chart.controls, dot)]
    across = _fitted([*values, chart.low, chart.high], edge, width - 2 * edge)
    return framed(
        width,
        height,
        line(0, middle, width, middle, "#8886"),
        *(
            mark(0, across.at(control.value), middle, title=control.title, opacity="0.75")
            for control in chart.controls
        ),
        line(across.at(chart.low), middle, across.at(chart.high), middle, _SUSPECT, 2),
        _diamond(dot, across.at(dot.value), middle, 5),
    )


def _layers(chart: LayerChart) -> Markup:
    """Every run of layers, with the interval of each."""
    left, top, width, height, ticks = 46, 10, 300, 200, 8
    across = Scale(-0.5, chart.layers - 0.5, left, width)
    up = Scale(chart.start, chart.end, top + height, -height)
    right, bottom = left + width, top + height
    content = [*axis_beside(up, across, ticks)]
    if up.low <= 0 <= up.high:
        content.append(line(left, up.at(0), right, up.at(0)))
    every = max(1, int(round_step(chart.layers / ticks)[0]))
    for layer in range(0, chart.layers, every):
        x = across.at(layer)
        content += [line(x, bottom, x, bottom + 5), words(x, bottom + 18, str(layer))]
    content.append(line(left, bottom, right, bottom))
    content.append(words(left + width // 2, bottom + 36, "layer"))
    content += [_layer_band(run, across, up) for run in chart.runs]
    # Where layers stand close, some shapes tell the models apart, and the others are clear.
    every = math.ceil(chart.layers / 32)
    for run in chart.runs:
        colour = colour_of(run.series)
        points = [(across.at(one.layer), up.at(one.value)) for one in run.marks]
        if len(points) > 1:
            content.append(joined_line(points, colour, 1.75))
        for one, (x, y) in zip(run.marks, points, strict=True):
            drawn = one.layer % every == 0 or len(points) == 1
            content.append(mark(run.series, x, y, fill="" if drawn else "#0000", title=one.title))
    return framed(right + 14, bottom + 42, *content)


def _layer_band(run: LayerRun, across: Scale, up: Scale) -> Markup:
    """The intervals of a run; that of a layer alone is a line."""
    colour = colour_of(run.series)
    below = [(across.at(one.layer), up.at(one.low)) for one in run.marks]
    above = [(across.at(one.layer), up.at(one.high)) for one in reversed(run.marks)]
    if len(run.marks) == 1:
        return line(*below[0], *above[0], colour, 1.5)
    return band((*below, *above), colour)


def _map(chart: MapChart) -> Markup:
    """Every model, the largest groups below the others.

    Dots of a group share one element that holds their colour, by a class of the style sheet, so
    that thousands of them stay light. Distances count: both axes have the same scale.
    """
    width, height, edge = 720, 480, 14
    xs, ys = ([getattr(dot, axis) for dot in chart.dots] for axis in ("x", "y"))
    lengths = ((width, max(xs) - min(xs)), (height, max(ys) - min(ys)))
    scale = min(((room - 2 * edge) / length for room, length in lengths if length), default=1.0)
    x, y = ((max(axis) + min(axis)) / 2 for axis in (xs, ys))
    places = {
        dot: (width / 2 + (dot.x - x) * scale, height / 2 - (dot.y - y) * scale)
        for dot in chart.dots
    }
    radius = 3 if len(places) > MANY else 4
    groups = [
        element(
            "g",
            *(
                mark(group.shape, *places[dot], fill=None, title=dot.title, radius=radius)
                for dot in group.dots
            ),
            class_=group.style,
            fill="currentColor",
            fill_opacity="0.75",
            # The clear stroke makes a small dot easier to point at.
            stroke="#0000",
            stroke_width=4,
            pointer_events="all",
        )
        for group in sorted(chart.groups, key=lambda group: -len(group.dots))
    ]
    named = [(*places[dot], dot.name) for dot in reversed(chart.dots)]
    names = names_beside(named, width) if len(named) <= MANY else ()
    return framed(width, height, *groups, element("g", *names), border=True)
