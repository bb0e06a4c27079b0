"""Numbers by layer as a drawing."""

import re
import xml.etree.ElementTree as ET

import pytest

from reports.charts import LayerChart, LayerMark, LayerRun
from reports.renderers.layer_curves import layer_svg
from reports.renderers.svg import COLOURS


def mark(layer, value, half=0.125, title="here"):
    return LayerMark(layer=layer, value=value, low=value - half, high=value + half, title=title)


def chart(*runs, layers=4, start=0.0, end=1.0):
    return LayerChart(
        title="t",
        label="l",
        keys=((0, "a"),),
        runs=tuple(LayerRun(series=series, marks=marks) for series, marks in runs),
        layers=layers,
        start=start,
        end=end,
    )


def drawn(made):
    return ET.fromstring(str(layer_svg(made)))


def points(node):
    return [tuple(map(float, pair.split(","))) for pair in node.get("points").split()]


def test_a_higher_number_lies_higher_and_a_later_layer_further_right():
    tree = drawn(chart((0, (mark(0, 0.25), mark(1, 0.75)))))
    (line,) = tree.findall(".//polyline")
    (x0, y0), (x1, y1) = points(line)
    assert x0 < x1
    assert y0 > y1
    # 300 pixels for 4 layers and 200 for the range from 0 to 1.
    assert x1 - x0 == pytest.approx(75, abs=0.1)
    assert y0 - y1 == pytest.approx(100, abs=0.2)


def test_the_band_goes_along_the_lower_ends_and_back_along_the_upper():
    tree = drawn(chart((0, (mark(0, 0.25), mark(1, 0.75)))))
    (band,) = tree.findall(".//polygon")
    heights = [y for _, y in points(band)]
    assert heights[0] > heights[3]
    assert heights[0] - heights[3] == pytest.approx(0.25 * 200, abs=0.2)


def test_a_layer_alone_has_a_line_for_its_interval_and_no_curve():
    tree = drawn(chart((0, (mark(2, 0.5),))))
    assert tree.findall(".//polyline") == tree.findall(".//polygon") == []
    assert len([line for line in tree.findall(".//line") if line.get("stroke") == COLOURS[0]]) == 1


def test_each_series_has_its_colour_and_shape_and_every_mark_its_title():
    tree = drawn(chart((0, (mark(0, 0.5),)), (1, (mark(0, 0.5), mark(1, 0.5)))))
    assert [node.get("fill") for node in tree.findall(".//circle")] == [COLOURS[0]]
    assert [node.get("fill") for node in tree.findall(".//path")] == [COLOURS[1]] * 2
    assert [node.text for node in tree.findall(".//title")] == ["here"] * 3


def test_of_very_many_layers_some_marks_are_drawn_and_all_can_be_pointed_at():
    marks = tuple(mark(layer, 0.5) for layer in range(96))
    fills = [node.get("fill") for node in drawn(chart((0, marks), layers=96)).findall(".//circle")]
    assert len(fills) == 96
    assert fills.count(COLOURS[0]) == 32


@pytest.mark.parametrize(
    ("start", "end", "words"),
    [
        (0.0, 1.0, ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]),
        (-0.002, 0.004, ["−0.002", "−0.001", "0.000", "0.001", "0.002", "0.003", "0.004"]),
    ],
)
def test_the_ticks_are_round_numbers(start, end, words):
    texts = [
        node.text
        for node in drawn(chart((0, (mark(0, 0.0, 0.001),)), start=start, end=end)).findall(
            ".//text"
        )
        if node.get("text-anchor") == "end"
    ]
    assert texts == words


def test_foreign_words_stay_words():
    made = chart((0, (mark(0, 0.5, title="</title><script>x</script>\x00"),)))
    assert not re.search("<script", str(layer_svg(made)))
    assert drawn(made).find(".//title").text == "</title><script>x</script>\ufffd"
