"""Every chart as a drawing: places by hand, foreign words as words, light with many models."""

import re
from importlib import resources
from xml.etree import ElementTree

import pytest

from reports.blocks import GLYPHS, Chart, Dot, Guide, Series, SmallStrip
from reports.html import OUTLINES, Scale, drawing, names_beside, small_strip_svg
from scope.records import Estimate

HOSTILE = '</text></title><script>alert(1)</script><image href="x"/>"\x00'


def drawn(chart):
    svg = small_strip_svg(chart) if isinstance(chart, SmallStrip) else drawing(chart)
    return ElementTree.fromstring(svg)


def circles(root):
    return [(float(one.get("cx")), float(one.get("cy"))) for one in root.iter("circle")]


def lines(root, **attributes):
    """The ends of each line with these attributes."""
    return [
        tuple(float(line.get(end)) for end in ("x1", "y1", "x2", "y2"))
        for line in root.iter("line")
        if all(line.get(name.replace("_", "-")) == value for name, value in attributes.items())
    ]


def words(root):
    return {text.text: text for text in root.iter("text")}


def series(*places, title="title", half=None, **options):
    return Series(
        dots=tuple(
            Dot(title=title, x=x, y=y, name=title, interval=half and (y - half, y + half))
            for x, y in places
        ),
        **options,
    )


def scatter(*places, title="title", **options):
    return Chart(
        label="", x_title=title, y_title=title, series=(series(*places, title=title),), **options
    )


def map_of(*of):
    return Chart(label="", series=of, size=(692, 452))


def small(value, half, title="title", ends=(0.0, 1.0), **options):
    estimate = Estimate(value=value, low=value - half, high=value + half, n=9, method="some")
    return SmallStrip(title, estimate, ends, **options)


def curves(*of):
    """Values by layer, on 300 pixels for 4 layers and 200 for the range from 0 to 1."""
    ends = ((-0.5, 3.5), (0.0, 1.0))
    return Chart(label="", series=of, x_title="layer", joined=1, ends=ends, size=(300, 200))


@pytest.mark.parametrize(
    "chart",
    [
        scatter((0.2, 0.3), title=HOSTILE),
        small(0.5, 0.1, title=HOSTILE),
        curves(series((0, 0.5), (1, 0.5), half=0.1, title=HOSTILE)),
        map_of(series((0, 0), title=HOSTILE), series((1, 1), title=HOSTILE, shape=3)),
    ],
)
def test_foreign_words_stay_words_and_no_address_is_named(chart):
    root = drawn(chart)
    assert {node.tag for node in root.iter()} <= {
        *("svg", "g", "title", "text", "line", "circle", "path", "rect", "polyline", "polygon")
    }
    assert {title.text for title in root.iter("title")} <= {HOSTILE.replace("\x00", "\ufffd")}
    assert any("</text></title>" in (node.text or "") for node in root.iter())
    assert not [text for text in root.iter("text") if text.get("fill")]
    assert not re.search("http|id=", ElementTree.tostring(root, "unicode"))


def test_every_series_has_a_shape_and_a_colour():
    style = (resources.files("reports") / "templates/page.css").read_text()
    assert len(GLYPHS) == len(OUTLINES) == len(re.findall(r"\.s\d {", style))


def test_ticks_are_round_numbers_with_as_many_decimals_as_they_need():
    for scale, most, expected in (
        (Scale(-0.5, 1.0, 0, 100), 4, ["−0.5", "0.0", "0.5", "1.0"]),
        (Scale(0, 40, 0, 100), 5, ["0", "10", "20", "30", "40"]),
        (Scale(0, 0.003, 0, 100), 7, [f"0.00{tenth:02}" for tenth in range(0, 31, 5)]),
    ):
        assert [number for _, number in scale.ticks(most)] == expected
    assert [number for _, number in Scale(-0.5, 2.5, 0, 1).ticks(7, whole=True)] == ["0", "1", "2"]


def test_a_dot_lies_where_the_axes_say():
    root = drawn(scatter((0.2, 0.4), (0.5, 0.5), (0.8, 0.6)))
    # The axes run from 0.2 to 0.8 and from 0.4 to 0.6: 520 pixels across from 56 on, and 300 up.
    assert circles(root) == [(56.0, 312.0), (316.0, 162.0), (576.0, 12.0)]
    wide = list(drawn(scatter((-3.0, 0.5), (4.0, 0.5))).iter("text"))
    assert len(wide) <= 20


def test_rows_have_no_numbers_and_a_name_hides_no_line():
    dots = tuple(Dot(title="", x=x, y=y, name="name" * bool(y)) for x, y in ((0, 0), (3.9, 1)))
    guides = (Guide((4.0, 0), (4.0, 1)),)
    root = drawn(
        Chart(label="", series=(Series(dots=dots),), x_title="x", y_title=None, guides=guides)
    )
    texts = {text.text: text for text in root.iter("text")}
    assert set(texts) == {"0", "1", "2", "3", "4", "x", "name"}
    assert texts["name"].get("text-anchor") == "end"


@pytest.mark.parametrize(
    ("value", "half", "dot", "interval", "arrows"),
    [
        # The axis runs over 94 per cent of the cell from 3 on.
        (3.0, 1.0, ["73.50%"], ("50.00%", "97.00%"), []),
        (3.0, 0.0, ["73.50%"], ("73.50%", "73.50%"), []),
        (3.0, 2.0, ["73.50%"], ("26.50%", "97.00%"), ["▸"]),
        (-2.0, 1.0, [], ("3.00%", "3.00%"), ["◂"]),
    ],
)
def test_a_strip_shows_the_estimate_and_what_leaves_the_scale(value, half, dot, interval, arrows):
    root = drawn(small(value, half, ends=(0.0, 4.0)))
    assert [one.get("cx") for one in root.iter("circle")] == dot
    shown = list(root.iter("line"))[-1]
    assert (shown.get("x1"), shown.get("x2")) == interval
    assert [text.text for text in root.iter("text")] == arrows


@pytest.mark.parametrize(
    ("limits", "zones", "drawn_lines"),
    [
        # Over 94 per cent of the cell from 3 on: red from 0, green from the least to the most.
        ({"least": 0.5}, [(None, "100%"), ("50.00%", "50.00%")], ["50.00%"]),
        (
            {"least": 0.25, "most": 0.75},
            [(None, "100%"), ("26.50%", "47.00%")],
            ["26.50%", "73.50%"],
        ),
        # A limit beyond the scale is at its end.
        ({"least": -1.0}, [(None, "100%"), ("3.00%", "97.00%")], ["3.00%"]),
        ({}, [], []),
    ],
)
def test_a_limit_parts_red_from_green(limits, zones, drawn_lines):
    root = drawn(small(0.5, 0.25, verdict="bad", **limits))
    assert [(one.get("x"), one.get("width")) for one in root.iter("rect")] == zones
    assert [one.get("class") for one in root.iter("rect")] == ["no", "yes"][: len(zones)]
    grey = [one.get("x1") for one in root.iter("line") if one.get("stroke") == "#888"]
    assert grey == drawn_lines
    assert root.find("g").get("class") == "bad"


def test_joined_dots_have_a_band_and_a_dot_alone_a_line_for_its_interval():
    root = drawn(curves(series((0, 0.25), (1, 0.75), (3, 0.5), half=0.1)))
    assert circles(root) == [(93.5, 162.0), (168.5, 62.0), (318.5, 112.0)]
    (joined,), (band,) = root.iter("polyline"), root.iter("polygon")
    assert joined.get("points") == "93.5,162.0 168.5,62.0"
    heights = [float(point.split(",")[1]) for point in band.get("points").split()]
    assert heights == [182.0, 82.0, 42.0, 142.0]
    assert lines(root, stroke_width="1.5") == [(318.5, 132.0, 318.5, 92.0)]


def test_each_series_has_its_colour_and_shape_and_the_largest_lies_below():
    root = drawn(curves(series((0, 0.5), shape=1), series((0, 0.5), (1, 0.5))))
    first, second, _ = root.findall("g")
    assert (first.get("class"), second.get("class")) == ("s0", "s1")
    assert [len(list(one.iter("circle"))) for one in (first, second)] == [2, 0]
    (path,) = second.iter("path")
    assert path.get("d").endswith("m-3-3h6v6h-6z")


def test_both_axes_of_a_map_have_one_scale_and_the_middle_lies_in_the_middle():
    # 4 wide and 1 high on 720 × 480 with an edge of 14: (720 − 28) / 4 pixels a unit.
    root = drawn(map_of(series((0, 0), (4, 1), (2, 0.5))))
    assert circles(root) == [(14.0, 326.5), (706.0, 153.5), (360.0, 240.0)]
    assert circles(drawn(map_of(series((7, -3), (7, -3))))) == [(360.0, 240.0)] * 2


def test_names_stand_beside_their_dots_where_they_hide_no_dot_and_no_other_name():
    names = names_beside([(50, 50, "<a>"), (62, 50, "b"), (97, 9, "ccc")], 100)
    # The second dot lies where the first name would begin; the third has room at its left alone.
    assert list(map(str, names)) == [
        '<text x="42" y="54" text-anchor="end">&lt;a&gt;</text>',
        '<text x="70" y="54" text-anchor="start">b</text>',
        '<text x="89" y="13" text-anchor="end">ccc</text>',
    ]
    crowd = [(50, 50, "a" * 10), *((x, y, "") for x in range(0, 101, 9) for y in range(20, 81, 9))]
    assert [*names_beside(crowd, 100)] == []
