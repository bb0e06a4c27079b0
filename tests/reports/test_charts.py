import re
from xml.etree import ElementTree

import pytest

from reports.charts import COLOURS, curve_svg, histogram_svg, interval_svg, printable
from reports.html import GLYPHS
from reports.view.histogram import Histogram
from reports.view.plots import CurveChart, CurvePoint, Interval, IntervalChart
from scope.records import Estimate

SERIES = ("first", "second")


def intervals(category="Hard-SCoPE", series=SERIES):
    return IntervalChart(
        label="estimates",
        series=series,
        intervals=tuple(
            Interval(category=category, series=place, value=0.5, low=0.25, high=0.75)
            for place in range(len(series))
        ),
    )


def curve(chosen=(1.0,)):
    estimate = Estimate(value=0.5, low=0.25, high=0.75, n=9, method="bootstrap")
    points = tuple(
        CurvePoint(series=place, x=x, estimate=estimate) for place in (0, 1) for x in (0.5, 1, 2)
    )
    return CurveChart(label="curve", series=SERIES, x_title="cutoff", points=points, chosen=chosen)


def marks(svg, role):
    """Drawn shapes below the groups whose class names this kind of mark."""
    root = ElementTree.fromstring(svg)
    groups = [g for g in root.iter("g") if f"{role} role-mark" in g.get("class", "")]
    return [shape for group in groups for shape in group]


def test_an_interval_runs_from_low_to_high_with_the_dot_between():
    (line,) = marks(interval_svg(intervals(series=("only",))), "mark-rule")
    (dot,) = marks(interval_svg(intervals(series=("only",))), "mark-symbol")
    start = float(re.search(r"\((.*?),", line.get("transform")).group(1))
    # The axis is 520 wide and shows 0 to 1.
    assert {start, start + float(line.get("x2"))} == {0.25 * 520, 0.75 * 520}
    assert float(re.search(r"\((.*?),", dot.get("transform")).group(1)) == 0.5 * 520


def test_an_axis_starts_below_zero_where_an_interval_does():
    row = Interval(category="SemScore", series=0, value=0.0, low=-0.3, high=0.25)
    chart = IntervalChart(label="estimates", series=("only",), intervals=(row,), beside=False)
    (dot,) = marks(interval_svg(chart), "mark-symbol")
    # The axis shows -0.5 to 1.
    assert float(re.search(r"\((.*?),", dot.get("transform")).group(1)) == pytest.approx(520 / 3)


def test_categories_with_one_series_each_take_one_row_each():
    rows = tuple(
        Interval(category=name, series=place % 2, value=0.5, low=0.25, high=0.75)
        for place, name in enumerate("abc")
    )
    chart = IntervalChart(label="estimates", series=SERIES, intervals=rows, beside=False)
    dots = marks(interval_svg(chart), "mark-symbol")
    heights = [float(re.search(r",(.*?)\)", dot.get("transform")).group(1)) for dot in dots]
    assert heights[1] - heights[0] == heights[2] - heights[1] == 22
    assert [dot.get("fill") for dot in dots] == [COLOURS[0], COLOURS[1], COLOURS[0]]


def test_a_histogram_draws_a_bar_for_each_count_of_the_series_that_are_drawn():
    counts = ((1, 2), (3, 4), (9, 9))
    chart = Histogram(
        title="h",
        label="h",
        bins=("low", "high"),
        names=("a", "b", "c"),
        counts=counts,
        drawn=2,
    )
    bars = marks(histogram_svg(chart), "mark-rect")
    assert len(bars) == 4
    assert {bar.get("fill") for bar in bars} == set(COLOURS[:2])


def test_series_differ_in_colour_and_in_shape():
    dots = marks(interval_svg(intervals()), "mark-symbol")
    assert [dot.get("fill") for dot in dots] == list(COLOURS[:2])
    assert len({dot.get("d") for dot in dots}) == 2
    assert len(GLYPHS) == len(COLOURS)


def test_more_series_than_colours_begin_again():
    names = tuple(f"target {place}" for place in range(7))
    dots = marks(interval_svg(intervals(series=names)), "mark-symbol")
    assert dots[6].get("fill") == COLOURS[0]


@pytest.mark.parametrize(("chosen", "rules"), [((), 0), ((1.0,), 1), ((0.5, 1.0), 2)])
def test_a_curve_has_a_line_a_band_and_dots_per_series_and_a_rule_per_choice(chosen, rules):
    svg = curve_svg(curve(chosen))
    assert len(marks(svg, "mark-line")) == 2
    assert len(marks(svg, "mark-area")) == 2
    assert len(marks(svg, "mark-symbol")) == 6
    assert len(marks(svg, "mark-rule")) == rules


def test_words_in_a_drawing_are_escaped():
    hostile = '</text><script>alert(1)</script><image href="x"/>'
    root = ElementTree.fromstring(interval_svg(intervals(category=hostile)))
    assert {node.tag for node in root.iter()} <= {"svg", "g", "path", "line", "text"}
    assert any((text.text or "").startswith("</text><script>") for text in root.iter("text"))


def test_a_drawing_names_no_address_and_needs_no_identifiers():
    for svg in (interval_svg(intervals()), curve_svg(curve())):
        assert "http" not in svg
        assert not [n for n in ElementTree.fromstring(svg).iter() if n.get("id")]


def test_words_take_the_colour_of_the_page():
    root = ElementTree.fromstring(curve_svg(curve()))
    assert {text.get("fill") for text in root.iter("text")} == {"currentColor"}


def test_line_breaks_are_printable_and_half_characters_are_not():
    assert printable("a\n\tb") == "a\n\tb"
    assert printable("\udc00\x07\x85") == "\ufffd" * 3
