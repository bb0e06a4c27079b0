"""Charts of estimates with intervals."""

from __future__ import annotations

from collections.abc import Iterator

from markupsafe import Markup

from reports.charts import Interval, IntervalChart
from reports.renderers.svg import (
    LINE,
    TEXT,
    Scale,
    axis_below,
    colour_of,
    cut_to_room,
    document_text,
    framed,
    mark,
    pixel,
)

_WIDTH = 520
_TOP, _RIGHT, _BELOW = 8, 16, 42
_LABEL_SPACE = 200
_SERIES_HEIGHT, _CATEGORY_ROOM = 16, 12


def interval_svg(chart: IntervalChart) -> Markup:
    """Draw dots with intervals, one row for each category and series."""
    categories = list(dict.fromkeys(document_text(row.category) for row in chart.intervals))
    height = len(chart.series) * _SERIES_HEIGHT + _CATEGORY_ROOM
    across = Scale(chart.start, chart.end, _LABEL_SPACE, _WIDTH)
    bottom = _TOP + len(categories) * height
    content = [*axis_below(across, bottom, "estimate and interval", grid_from=_TOP)]
    for place, category in enumerate(categories):
        y = pixel(_TOP + (place + 0.5) * height + 4)
        content.append(
            TEXT.format(_LABEL_SPACE - 8, y, "end", cut_to_room(category, _LABEL_SPACE - 12))
        )
    for row in chart.intervals:
        top = _TOP + categories.index(document_text(row.category)) * height
        below = _CATEGORY_ROOM / 2 + (row.series + 0.5) * _SERIES_HEIGHT
        content += _dot(row, across, top + below)
    return framed(_LABEL_SPACE + _WIDTH + _RIGHT, bottom + _BELOW, content)


def _dot(row: Interval, across: Scale, y: float) -> Iterator[Markup]:
    low, high = (pixel(across.at(end)) for end in (row.low, row.high))
    yield LINE.format(low, pixel(y), high, pixel(y), colour_of(row.series), 2)
    yield mark(row.series, across.at(row.value), y, radius=4)
