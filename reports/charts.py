"""Charts as static SVG, to stand inline in a page.

Legends are left to the page: it names the series in text, and without legends the drawing does
not depend on how wide a machine's fonts make a model's name. Axes and words take the page's
text colour, so that one drawing serves the light and the dark scheme.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from reports.view.histogram import Histogram
from reports.view.plots import CurveChart, IntervalChart

if TYPE_CHECKING:
    import altair

COLOURS = ("#2f7fc1", "#d1661f", "#1f9e77", "#b5629b", "#a88600", "#7f7f7f")
"""Colours of the series, told apart on white and on black and by most colour-blind readers."""

SHAPES = ("circle", "square", "triangle-up", "diamond", "triangle-down", "cross")
"""Shapes of the series, in the same order: colour is never the only sign."""

_UNPRINTABLE = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
_WIDTH = 520
_LABEL_SPACE = 190
_WIDE_LABEL_SPACE = 320
_NUMBER_SPACE = 30


def printable(text: str) -> str:
    r"""The text with every character that no document may hold replaced.

    >>> printable("a\x00b\ud800")
    'a\ufffdb\ufffd'
    """
    return _UNPRINTABLE.sub("\ufffd", text)


def interval_svg(chart: IntervalChart) -> Markup:
    """Draw dots with intervals, one row for each category and series."""
    import altair as alt

    rows: list[dict[str, Any]] = [
        {
            "category": printable(row.category),
            "series": row.series,
            "value": row.value,
            "low": row.low,
            "high": row.high,
        }
        for row in chart.intervals
    ]
    categories = list(dict.fromkeys(row["category"] for row in rows))
    used = len(chart.series)
    base = alt.Chart(alt.InlineData(values=rows)).encode(
        y=alt.Y("category:N", sort=categories, title=None, axis=alt.Axis(ticks=False)),
        color=_colour(used),
    )
    if chart.beside:
        offset = alt.YOffset("series:N", scale=alt.Scale(domain=list(range(used))))
        base = base.encode(yOffset=offset)
    unit = alt.Scale(domain=[chart.start, chart.end])
    ranges = base.mark_rule(strokeWidth=2).encode(
        x=alt.X("low:Q", scale=unit, title="estimate and interval"), x2="high:Q"
    )
    dots = base.mark_point(filled=True, size=70, opacity=1).encode(
        x=alt.X("value:Q", scale=unit), shape=_shape(used)
    )
    # A category of two models' names takes more room than a metric's.
    left = _LABEL_SPACE if chart.beside else _WIDE_LABEL_SPACE
    height = len(categories) * (used * 16 + 12 if chart.beside else 22)
    return _svg((ranges + dots).properties(width=_WIDTH, height=height), left=left)


def curve_svg(chart: CurveChart) -> Markup:
    """Draw one line with its band for each series, and a dashed rule at each chosen value."""
    import altair as alt

    rows = [
        {
            "series": point.series,
            "x": point.x,
            "value": point.estimate.value,
            "low": point.estimate.low,
            "high": point.estimate.high,
        }
        for point in chart.points
    ]
    used = len(chart.series)
    base = alt.Chart(alt.InlineData(values=rows)).encode(
        x=alt.X("x:Q", title=printable(chart.x_title), scale=alt.Scale(nice=False)),
        color=_colour(used),
    )
    unit = alt.Scale(domain=[0, 1])
    bands = base.mark_area(opacity=0.15).encode(
        y=alt.Y("low:Q", scale=unit, title=None), y2="high:Q"
    )
    lines = base.mark_line(strokeWidth=2).encode(y=alt.Y("value:Q", scale=unit))
    dots = base.mark_point(filled=True, size=36, opacity=1).encode(
        y=alt.Y("value:Q", scale=unit), shape=_shape(used)
    )
    chosen = (
        alt.Chart(alt.InlineData(values=[{"x": x} for x in chart.chosen]))
        .mark_rule(strokeDash=[4, 3], color="currentColor")
        .encode(x="x:Q")
    )
    layers = bands + lines + dots + chosen
    return _svg(layers.properties(width=_WIDTH, height=240), left=_NUMBER_SPACE)


def histogram_svg(chart: Histogram) -> Markup:
    """Draw a group of bars for each bin, the series in their order from left to right."""
    import altair as alt

    rows = [
        {"bin": name, "series": series, "count": count}
        for series, counts in enumerate(chart.counts[: chart.drawn])
        for name, count in zip(chart.bins, counts, strict=True)
    ]
    used = chart.drawn
    top = max(max(counts) for counts in chart.counts[:used])
    bars = (
        alt.Chart(alt.InlineData(values=rows))
        .mark_bar()
        .encode(
            x=alt.X("bin:N", sort=list(chart.bins), title="SemScore", axis=alt.Axis(labelAngle=0)),
            xOffset=alt.XOffset("series:N", scale=alt.Scale(domain=list(range(used)))),
            y=alt.Y("count:Q", title=None, axis=alt.Axis(tickCount=min(5, top), format="d")),
            color=_colour(used),
        )
    )
    return _svg(bars.properties(width=_WIDTH + 140, height=240), left=2 * _NUMBER_SPACE)


def _colour(used: int) -> altair.Color:
    import altair as alt

    return alt.Color("series:N", legend=None, scale=_cycled(COLOURS, used))


def _shape(used: int) -> altair.Shape:
    import altair as alt

    return alt.Shape("series:N", legend=None, scale=_cycled(SHAPES, used))


def _cycled(values: tuple[str, ...], used: int) -> altair.Scale:
    import altair as alt

    places = list(range(used))
    return alt.Scale(domain=places, range=[values[place % len(values)] for place in places])


def _svg(chart: altair.LayerChart | altair.Chart, *, left: int) -> Markup:
    """Compile a chart with ``left`` pixels for the words of its vertical axis.

    The compiler escapes its words, as SVG needs them to be.
    """
    import altair as alt
    import vl_convert

    ink = dict.fromkeys(("labelColor", "titleColor", "domainColor", "tickColor"), "currentColor")
    styled = (
        chart.configure(background="transparent", aria=False, font="sans-serif")
        .configure_view(stroke=None)
        .configure_axis(gridColor="#8883", labelFlush=False, labelFontSize=12, **ink)
        .configure_axisX(titleFontSize=12, titleFontWeight="normal")
        .configure_axisY(minExtent=left, maxExtent=left, labelLimit=left - 10)
    )
    version = ".".join(alt.SCHEMA_VERSION.split(".")[:2])
    drawn = vl_convert.vegalite_to_svg(styled.to_dict(), vl_version=version)
    # Inside a page an <svg> needs no namespaces, and the page names no foreign address.
    inline = re.sub(r' xmlns(:xlink)?="[^"]*"', "", drawn, count=2)
    return Markup(inline)  # noqa: S704 - the compiler's own markup, its texts escaped
