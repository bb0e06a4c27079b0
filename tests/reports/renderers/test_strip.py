import re
from xml.etree import ElementTree

import pytest

from reports.charts import SmallStrip, StripChart, StripDot
from reports.renderers.strip import small_strip_svg, strip_svg


def dots(*values):
    return tuple(StripDot(title=f"model: {value}", value=value) for value in values)


def chart(controls, *, suspect=None, threshold=None):
    return StripChart(
        label="label",
        x_title="likeness",
        controls=dots(*controls),
        suspect=None if suspect is None else dots(suspect)[0],
        threshold=threshold,
        rate="0.05",
    )


def drawn(*arguments, **keywords):
    return ElementTree.fromstring(strip_svg(chart(*arguments, **keywords)))


def circles(root):
    return [(float(one.get("cx")), float(one.get("cy"))) for one in root.iter("circle")]


def words(root):
    return [text.text for text in root.iter("text")]


def dashed(root):
    return [line for line in root.iter("line") if line.get("stroke-dasharray", "none") != "none"]


def place(diamond):
    """Where a diamond's top lies."""
    return tuple(map(float, re.match(r"M(\S+) (\S+?)L", diamond.get("d")).groups()))


def test_controls_lie_where_the_axis_says():
    # The axis runs from 0 to 4 over 312 pixels from 24 on.
    assert [x for x, _ in circles(drawn([0.0, 1.0, 4.0]))] == [24.0, 102.0, 336.0]


def test_the_suspect_is_a_labelled_diamond_above_the_controls():
    root = drawn([0.0, 1.0], suspect=4.0)
    (diamond,) = root.iter("path")
    x, y = place(diamond)
    assert x == 336.0
    assert all(y < height for _, height in circles(root))
    assert "suspect" in words(root)
    assert diamond.find("title").text == "model: 4.0"


def test_the_threshold_is_a_dashed_line_that_says_what_lies_beyond():
    root = drawn([0.0, 1.0], suspect=4.0, threshold=1.0)
    (line,) = dashed(root)
    assert line.get("x1") == line.get("x2") == "102.0"
    assert "p ≤ 0.05 beyond this →" in words(root)


def test_without_suspect_and_threshold_the_controls_stand_alone():
    root = drawn([0.0, 1.0])
    assert not list(root.iter("path"))
    assert not dashed(root)
    assert "suspect" not in words(root)


def test_equal_controls_are_piled_so_that_each_can_be_counted():
    heights = [y for _, y in circles(drawn([1.0, 1.0, 1.0]))]
    assert heights[0] - heights[1] == heights[1] - heights[2] == 10.0


def test_very_many_equal_controls_do_not_grow_the_drawing_without_end():
    root = drawn([0.5] * 500)
    assert float(root.get("height")) < 300
    assert all(0 < y < 300 for _, y in circles(root))


@pytest.mark.parametrize("values", [[0.0], [3.0, 3.0], [-1e9, -1e9], [1e-300]])
def test_values_without_a_spread_lie_in_the_middle(values):
    assert {x for x, _ in circles(drawn(values))} == {24 + 156}


@pytest.mark.parametrize(
    ("low", "high", "ticks"),
    [(0.0, 0.003, ["0.0000", "0.0005", "0.0010"]), (-250.0, 200.0, ["−200", "−100", "0"])],
)
def test_axes_fit_small_and_great_numbers(low, high, ticks):
    assert words(drawn([low, high]))[:3] == ticks


def test_labels_near_an_edge_turn_inwards():
    left, right = drawn([0.0, 1.0], suspect=0.0), drawn([0.0, 1.0], suspect=1.0)
    anchors = [
        next(text.get("text-anchor") for text in root.iter("text") if text.text == "suspect")
        for root in (left, right)
    ]
    assert anchors == ["start", "end"]


def small(controls, suspect, low, high):
    strip = SmallStrip(
        label="label", controls=dots(*controls), suspect=dots(suspect)[0], low=low, high=high
    )
    return ElementTree.fromstring(small_strip_svg(strip))


def test_a_small_strip_shows_controls_suspect_and_interval():
    root = small([0.0, 1.0], 3.0, 2.0, 4.0)
    # The axis runs from 0 to 4 over 136 pixels from 7 on.
    assert [x for x, _ in circles(root)] == [7.0, 41.0]
    assert place(next(iter(root.iter("path"))))[0] == 109.0
    interval = list(root.iter("line"))[1]
    assert (interval.get("x1"), interval.get("x2")) == ("75.0", "143.0")


def test_on_a_common_scale_places_are_shares_of_the_width():
    (dot,) = dots(0.75)
    levels = ((0.5, False), (1.0, True))
    strip = SmallStrip(
        label="", controls=(), suspect=dot, low=0.5, high=1.0, levels=levels, ends=(0.5, 1.0)
    )
    root = ElementTree.fromstring(small_strip_svg(strip))
    assert [one.get("cx") for one in root.iter("circle")] == ["50.00%"]
    _, *lines = root.iter("line")
    assert [one.get("stroke-dasharray") for one in lines] == ["none", "2 3", "none"]
    assert [(one.get("x1"), one.get("x2")) for one in lines] == [
        ("6.00%", "6.00%"),
        ("94.00%", "94.00%"),
        ("6.00%", "94.00%"),
    ]


def test_titles_are_escaped_and_no_address_is_named():
    hostile = '</title><script>alert(1)</script>"\x00'
    dot = StripDot(title=hostile, value=0.5)
    one = StripChart(
        label="", x_title=hostile, controls=(dot,), suspect=dot, threshold=0.5, rate="0.05"
    )
    other = SmallStrip(label="", controls=(dot,), suspect=dot, low=0.0, high=1.0)
    for svg in (strip_svg(one), small_strip_svg(other)):
        root = ElementTree.fromstring(svg)
        tags = {node.tag for node in root.iter()}
        assert tags <= {"svg", "title", "line", "circle", "path", "text"}
        titles = {title.text for title in root.iter("title")}
        assert titles == {hostile.replace("\x00", "\ufffd")}
        assert not re.search("http|id=", svg)
