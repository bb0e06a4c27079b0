"""Charts of estimates with intervals, of curves with bands, and of counts."""

from __future__ import annotations

from collections.abc import Iterator

from markupsafe import Markup

from reports.charts import Histogram, Interval, IntervalChart
from reports.renderers.svg import (
    INK,
    LINE,
    TEXT,
    Scale,
    axis_below,
    axis_beside,
    colour_of,
    cut_to_room,
    document_text,
    framed,
    mark,
    pixel,
)

_WIDTH, _HEIGHT = 520, 240
_HISTOGRAM_WIDTH = 660
_TOP, _RIGHT, _BELOW = 8, 16, 42
_LABEL_SPACE, _WIDE_LABEL_SPACE = 200, 330
_NUMBER_SPACE, _COUNT_SPACE = 40, 60
_SERIES_HEIGHT, _CATEGORY_ROOM, _ROW_HEIGHT = 16, 12, 22
_MOST_COUNTS = 5

_BAR = Markup('<rect x="{}" y="{}" width="{}" height="{}" fill="{}"></rect>')


def interval_svg(chart: IntervalChart) -> Markup:
    """Draw dots with intervals, one row for each category and series."""
    categories = list(dict.fromkeys(document_text(row.category) for row in chart.intervals))
    inner = len(chart.series) * _SERIES_HEIGHT
    height = inner + _CATEGORY_ROOM if chart.beside else _ROW_HEIGHT
    # A category of two models' names takes more room than a metric's.
    left = _LABEL_SPACE if chart.beside else _WIDE_LABEL_SPACE
    across = Scale(chart.start, chart.end, left, _WIDTH)
    bottom = _TOP + len(categories) * height
    content = [*axis_below(across, bottom, "estimate and interval", grid_from=_TOP)]
    for place, category in enumerate(categories):
        y = pixel(_TOP + (place + 0.5) * height + 4)
        content.append(TEXT.format(left - 8, y, "end", cut_to_room(category, left - 12)))
    for row in chart.intervals:
        top = _TOP + categories.index(document_text(row.category)) * height
        beside = (height - inner) / 2 + (row.series + 0.5) * _SERIES_HEIGHT
        content += _dot(row, across, top + (beside if chart.beside else height / 2))
    return framed(left + _WIDTH + _RIGHT, bottom + _BELOW, content)


def histogram_svg(chart: Histogram) -> Markup:
    """Draw a group of bars for each bin, the series in their order from left to right."""
    drawn = chart.counts[: chart.drawn]
    across = Scale(0, len(chart.bins), _COUNT_SPACE, _HISTOGRAM_WIDTH)
    top = max(1, *(max(counts) for counts in drawn))
    up = Scale(0, top, _TOP + _HEIGHT, -_HEIGHT)
    bottom = _TOP + _HEIGHT
    content = [*axis_beside(up, across, min(_MOST_COUNTS, top))]
    content += [_bar(chart.drawn, *one, across, up) for one in _counted(drawn)]
    content.append(LINE.format(_COUNT_SPACE, bottom, pixel(across.at(across.high)), bottom, INK, 1))
    for place, name in enumerate(chart.bins):
        x = pixel(across.at(place + 0.5))
        content.append(TEXT.format(x, bottom + 18, "middle", document_text(name)))
    middle = pixel(across.at(across.high / 2))
    content.append(TEXT.format(middle, bottom + 38, "middle", "SemScore"))
    return framed(_COUNT_SPACE + _HISTOGRAM_WIDTH + _RIGHT, bottom + _BELOW, content)


def _dot(row: Interval, across: Scale, y: float) -> Iterator[Markup]:
    low, high = (pixel(across.at(end)) for end in (row.low, row.high))
    yield LINE.format(low, pixel(y), high, pixel(y), colour_of(row.series), 2)
    yield mark(row.series, across.at(row.value), y, radius=4)


def _counted(counts: tuple[tuple[int, ...], ...]) -> Iterator[tuple[int, int, int]]:
    """Series, bin and count of each bar."""
    for series, of_series in enumerate(counts):
        for place, count in enumerate(of_series):
            yield series, place, count


def _bar(drawn: int, series: int, place: int, count: int, across: Scale, up: Scale) -> Markup:
    # A tenth of a bin stays free at either side.
    width = 0.8 / drawn
    left, right = (across.at(place + 0.1 + (series + end) * width) for end in (0, 1))
    y = up.at(count)
    height = pixel(up.start - y)
    return _BAR.format(pixel(left), pixel(y), pixel(right - left), height, colour_of(series))
