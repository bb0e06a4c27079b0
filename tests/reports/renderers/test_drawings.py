"""Every chart as a drawing: places by hand, foreign words as words, light with many models."""

import re
from xml.etree import ElementTree

import pytest

from reports.charts import (
    GLYPHS,
    LayerChart,
    LayerMark,
    LayerRun,
    MapChart,
    MapDot,
    MapGroup,
    ScatterChart,
    ScatterDot,
    SmallStrip,
    StripChart,
    StripDot,
    estimate_chart,
)
from reports.renderers.drawings import drawing, small_strip_svg
from reports.renderers.svg import COLOURS, OUTLINES, Scale, cut_to_room, names_beside
from scope.records import Estimate, Undefined

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


def intervals(*values, name="Hard-SCoPE"):
    rows = [
        (name, Estimate(value=value, low=value - 0.1, high=value + 0.1, n=9, method="some"))
        for value in values
    ]
    return estimate_chart("label", rows, "accuracy")


def scatter(*places, title="title", **options):
    dots = (ScatterDot(title=title, x=x, y=y, name=title) for x, y in places)
    return ScatterChart(label="", x_title=title, y_title=title, dots=tuple(dots), **options)


def strip(controls, *, suspect=None, threshold=None, title="title"):
    dots = [StripDot(title=title, value=value) for value in (*controls, suspect or 0.0)]
    return StripChart(
        label="",
        x_title=title,
        controls=tuple(dots[:-1]),
        suspect=None if suspect is None else dots[-1],
        threshold=threshold,
        rate="0.05",
    )


def small(controls, suspect, title="title", **options):
    dots = tuple(StripDot(title=title, value=value) for value in (*controls, suspect))
    return SmallStrip(label="", controls=dots[:-1], suspect=dots[-1], **options)


def layers(*runs, count=4, title="title", start=0.0, end=1.0):
    def mark(layer, value):
        return LayerMark(layer=layer, value=value, low=value - 0.1, high=value + 0.1, title=title)

    return LayerChart(
        title="t",
        label="l",
        keys=((0, "a"),),
        runs=tuple(
            LayerRun(series=series, marks=tuple(mark(*place) for place in places))
            for series, places in runs
        ),
        layers=count,
        start=start,
        end=end,
    )


def group(*places, shape=0, title="title"):
    dots = tuple(MapDot(title=title, x=x, y=y, name=title) for x, y in places)
    return MapGroup(name="group", note="", style=f"s{shape}", shape=shape, dots=dots)


def map_of(*groups):
    return MapChart(label="", groups=groups)


@pytest.mark.parametrize(
    "chart",
    [
        intervals(0.5, name=HOSTILE),
        scatter((0.2, 0.3), title=HOSTILE),
        strip([0.5], suspect=0.5, threshold=0.5, title=HOSTILE),
        small([0.5], 0.5, title=HOSTILE, low=0.0, high=1.0),
        small([], 0.5, title=HOSTILE, low=0.0, high=1.0, ends=(0.0, 1.0)),
        layers((0, [(0, 0.5), (1, 0.5)]), title=HOSTILE),
        map_of(group((0, 0), title=HOSTILE), group((1, 1), title=HOSTILE, shape=3)),
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


def test_an_interval_runs_from_low_to_high_with_the_dot_between():
    root = drawn(intervals(0.3, 0.4))
    (first, *_) = lines(root, stroke=COLOURS[0])
    # The axis runs from 0.2 to 0.5 over 520 pixels from 200 on.
    assert first == pytest.approx((200, 22, 546.7, 22), abs=0.1)
    assert circles(root) == [(373.3, 22.0), (546.7, 50.0)]
    (long,) = [one for one in words(drawn(intervals(0.5, name="very long " * 9))) if "very" in one]
    assert long.endswith("…")
    assert len(cut_to_room("字" * 40, 66)) == 5


def test_undefined_estimates_are_not_drawn():
    nothing = [("a", Undefined(reason="none"))]
    assert estimate_chart("label", nothing, "accuracy") is None


def test_every_series_has_a_colour_and_a_shape():
    assert len(GLYPHS) == len(COLOURS) == len(OUTLINES)


def test_ticks_are_round_numbers_with_as_many_decimals_as_they_need():
    for scale, most, expected in (
        (Scale(-0.5, 1.0, 0, 100), 4, ["−0.5", "0.0", "0.5", "1.0"]),
        (Scale(0, 40, 0, 100), 5, ["0", "10", "20", "30", "40"]),
        (Scale(0, 0.003, 0, 100), 7, [f"0.00{tenth:02}" for tenth in range(0, 31, 5)]),
    ):
        assert [number for _, number in scale.ticks(most)] == expected


def test_a_dot_lies_where_the_axes_say_and_the_diagonal_from_corner_to_corner():
    root = drawn(scatter((0.2, 0.4), (0.8, 0.6)))
    # Both axes run from 0.2 to 0.8: 520 pixels across from 56 on, and 300 up.
    assert circles(root) == [(56.0, 212.0), (576.0, 112.0)]
    assert lines(root, stroke_dasharray="5 4") == [(56.0, 312.0, 576.0, 12.0)]
    wide = list(drawn(scatter((-3.0, 0.5), (4.0, 0.5))).iter("text"))
    assert len(wide) <= 20


def test_an_interval_stands_around_its_dot_and_a_line_joins_dots_in_their_order():
    dot = ScatterDot(title="", x=0.5, y=0.5, interval=(0.4, 0.6))
    chart = ScatterChart(label="", x_title="", y_title="", dots=(dot,), joined=True)
    root = drawn(chart)
    ((_, low, _, high),) = lines(root, stroke_width="1.5")
    ((_, middle),) = circles(root)
    assert high < middle < low
    (joined,) = drawn(scatter((0.2, 0.2), (0.4, 0.4), (0.8, 0.8), joined=True)).iter("polyline")
    across = [point.split(",")[0] for point in joined.get("points").split()]
    assert across == ["56.0", "229.3", "576.0"]


def test_a_strip_has_controls_the_suspect_above_them_and_the_threshold():
    root = drawn(strip([0.0, 1.0], suspect=4.0, threshold=1.0))
    # The axis runs from 0 to 4 over 312 pixels from 24 on.
    assert [x for x, _ in circles(root)] == [24.0, 102.0]
    (diamond,) = root.iter("path")
    x, y = map(float, re.match(r"M(\S+) (\S+?)L", diamond.get("d")).groups())
    assert x == 336.0
    assert all(y < height for _, height in circles(root))
    ((left, _, right, _),) = lines(root, stroke_dasharray="5 4")
    assert left == right == 102.0
    assert {"suspect", "p ≤ 0.05 beyond this →"} <= set(words(root))
    alone = drawn(strip([0.0, 1.0]))
    assert not list(alone.iter("path"))
    assert not lines(alone, stroke_dasharray="5 4")


def test_equal_controls_are_piled_and_very_many_do_not_grow_the_drawing_without_end():
    heights = [y for _, y in circles(drawn(strip([1.0, 1.0, 1.0])))]
    assert heights[0] - heights[1] == heights[1] - heights[2] == 10.0
    many = drawn(strip([0.5] * 500))
    assert float(many.get("height")) < 300
    assert all(0 < y < 300 for _, y in circles(many))


@pytest.mark.parametrize("values", [[0.0], [3.0, 3.0], [-1e9, -1e9], [1e-300]])
def test_values_without_a_spread_lie_in_the_middle(values):
    assert {x for x, _ in circles(drawn(strip(values)))} == {24 + 156}


def test_labels_near_an_edge_turn_inwards():
    roots = (drawn(strip([0.0, 1.0], suspect=suspect)) for suspect in (0.001, 1.0))
    assert [words(root)["suspect"].get("text-anchor") for root in roots] == ["start", "end"]


def test_a_small_strip_shows_controls_suspect_and_interval():
    root = drawn(small([0.0, 1.0], 3.0, low=2.0, high=4.0))
    # The axis runs from 0 to 4 over 136 pixels from 7 on.
    assert [x for x, _ in circles(root)] == [7.0, 41.0]
    assert lines(root, stroke_width="2") == [(75.0, 11.0, 143.0, 11.0)]


def test_on_a_common_scale_places_are_shares_of_the_width():
    levels = ((0.5, False), (1.0, True))
    root = drawn(small([], 0.75, low=0.5, high=1.0, levels=levels, ends=(0.5, 1.0)))
    assert [one.get("cx") for one in root.iter("circle")] == ["50.00%"]
    _, *drawn_lines = root.iter("line")
    assert [(line.get("x1"), line.get("stroke-dasharray")) for line in drawn_lines] == [
        ("6.00%", None),
        ("94.00%", "2 3"),
        ("6.00%", None),
    ]


def test_a_curve_has_a_band_and_a_layer_alone_a_line_for_its_interval():
    root = drawn(layers((0, [(0, 0.25), (1, 0.75)])))
    # 300 pixels for 4 layers and 200 for the range from 0 to 1.
    assert circles(root) == [(83.5, 160.0), (158.5, 60.0)]
    (band,) = root.iter("polygon")
    heights = [float(point.split(",")[1]) for point in band.get("points").split()]
    assert heights == [180.0, 80.0, 40.0, 140.0]
    alone = drawn(layers((0, [(2, 0.5)])))
    assert not [*alone.iter("polyline"), *alone.iter("polygon")]
    assert len(lines(alone, stroke=COLOURS[0])) == 1


def test_each_series_has_its_colour_and_shape_and_of_many_layers_some_marks_are_drawn():
    root = drawn(layers((0, [(0, 0.5)]), (1, [(0, 0.5), (1, 0.5)])))
    assert [one.get("fill") for one in root.iter("circle")] == [COLOURS[0]]
    assert [one.get("fill") for one in root.iter("path")] == [COLOURS[1]] * 2
    assert len(list(root.iter("title"))) == 3
    many = drawn(layers((0, [(layer, 0.5) for layer in range(96)]), count=96))
    fills = [one.get("fill") for one in many.iter("circle")]
    assert (len(fills), fills.count(COLOURS[0])) == (96, 32)


def test_both_axes_of_a_map_have_one_scale_and_the_middle_lies_in_the_middle():
    # 4 wide and 1 high on 720 × 480 with an edge of 14: (720 − 28) / 4 pixels a unit.
    root = drawn(map_of(group((0, 0), (4, 1), (2, 0.5))))
    assert circles(root) == [(14.0, 326.5), (706.0, 153.5), (360.0, 240.0)]
    assert circles(drawn(map_of(group((7, -3), (7, -3))))) == [(360.0, 240.0)] * 2


def test_groups_of_a_map_differ_by_shape_and_class_and_the_largest_lies_below():
    root = drawn(map_of(group((0, 0), shape=1), group((1, 1), (2, 2), shape=0)))
    first, second, _ = root.findall("g")
    assert (first.get("class"), second.get("class")) == ("s0", "s1")
    assert [len(list(one.iter("circle"))) for one in (first, second)] == [2, 0]
    (path,) = second.iter("path")
    assert path.get("d").endswith("m-3-3h6v6h-6z")


def test_a_map_of_two_thousand_models_stays_light():
    title = "organisation/model-2000-of-some-name\naccuracy 50.0 % [46.0, 54.0]"
    places = [(place % 53 + 0.123456, place % 47 + 0.654321) for place in range(2_001)]
    svg = drawing(map_of(group(*places, title=title)))
    assert svg.count("<title>") == 2_001
    assert len(svg) < 300_000


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
