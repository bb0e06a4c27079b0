from xml.etree import ElementTree

import pytest

from reports.charts import GLYPHS, Interval, IntervalChart
from reports.renderers.charts import interval_svg
from reports.renderers.svg import COLOURS, FAINT, INK, OUTLINES, Scale, cut_to_room, document_text

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


def drawn(svg):
    return list(ElementTree.fromstring(svg).iter())


def dots(svg):
    """Place and colour of each mark, whatever its shape."""
    found = []
    for one in drawn(svg):
        if one.tag == "circle":
            found.append((float(one.get("cx")), float(one.get("cy")), one.get("fill")))
        elif one.tag == "path":
            x, y = one.get("d")[1:].split("m")[0].split()
            found.append((float(x), float(y), one.get("fill")))
    return found


def lines(svg):
    """Ends of each line in the colour of a series."""
    return [
        [float(one.get(end)) for end in ("x1", "y1", "x2", "y2")]
        for one in drawn(svg)
        if one.tag == "line" and one.get("stroke") in COLOURS
    ]


def ticks(svg):
    """The pixel across of each word of the drawing."""
    return {one.text: float(one.get("x")) for one in drawn(svg) if one.tag == "text"}


def test_an_interval_runs_from_low_to_high_with_the_dot_between():
    svg = interval_svg(intervals(series=("only",)))
    ((low, y, high, same),) = lines(svg)
    ((x, height, _),) = dots(svg)
    at = ticks(svg)
    assert y == same == height
    unit = at["1.0"] - at["0.0"]
    assert unit == 520
    assert [(one - at["0.0"]) / unit for one in (low, x, high)] == [0.25, 0.5, 0.75]


def test_an_axis_starts_below_zero_where_an_interval_does():
    row = Interval(category="SemScore", series=0, value=0.0, low=-0.3, high=0.25)
    chart = IntervalChart(label="estimates", series=("only",), intervals=(row,))
    svg = interval_svg(chart)
    # The axis shows -0.5 to 1.
    assert min(ticks(svg), key=ticks(svg).get) == "SemScore"
    assert dots(svg)[0][0] == ticks(svg)["0.0"]
    assert ticks(svg)["1.0"] - ticks(svg)["0.0"] == pytest.approx(520 * 2 / 3, abs=0.1)


def test_equal_numbers_on_a_close_axis_are_drawn_at_its_start():
    row = Interval(category="accuracy", series=0, value=0.3, low=0.3, high=0.3)
    chart = IntervalChart(label="e", series=("only",), intervals=(row,), close=True)
    svg = interval_svg(chart)
    assert dots(svg)[0][0] == ticks(svg)["0.300"]


def test_series_of_a_category_stand_below_each_other():
    heights = [y for _, y, _ in dots(interval_svg(intervals()))]
    assert heights[1] - heights[0] == 16


def test_series_differ_in_colour_and_in_shape():
    svg = interval_svg(intervals())
    assert [colour for *_, colour in dots(svg)] == list(COLOURS[:2])
    assert {one.tag for one in drawn(svg)} >= {"circle", "path"}
    assert len(GLYPHS) == len(COLOURS) == len(OUTLINES)


def test_more_series_than_colours_begin_again():
    names = tuple(f"target {place}" for place in range(7))
    assert dots(interval_svg(intervals(series=names)))[6][2] == COLOURS[0]


def test_words_in_a_drawing_are_escaped():
    hostile = '</text><script>alert(1)</script><image href="x"/>'
    root = ElementTree.fromstring(interval_svg(intervals(category=hostile, series=("only",))))
    assert {node.tag for node in root.iter()} <= {"svg", "circle", "line", "text"}
    assert any((text.text or "").startswith("</text><script>") for text in root.iter("text"))


def test_a_drawing_names_no_address_and_needs_no_identifiers():
    for svg in (interval_svg(intervals()),):
        assert "http" not in svg
        assert not [n for n in ElementTree.fromstring(svg).iter() if n.get("id")]


def test_words_take_the_colour_of_the_page():
    root = ElementTree.fromstring(interval_svg(intervals()))
    assert root.get("fill") == "currentColor"
    assert not [one for one in root.iter("text") if one.get("fill")]
    strokes = {one.get("stroke") for one in root.iter("line")}
    assert strokes <= {INK, FAINT, *COLOURS}


def test_a_long_name_ends_with_an_ellipsis_within_its_room():
    long = "a very long name of a category that nobody would want to read in full"
    (words,) = [one for one in ticks(interval_svg(intervals(category=long))) if "very" in one]
    assert words.endswith("…")
    assert len(words) < 30
    assert len(cut_to_room("字" * 40, 66)) == 5


def test_ticks_are_round_numbers_with_as_many_decimals_as_they_need():
    assert [words for _, words in Scale(-0.5, 1.0, 0, 100).ticks(4)] == [
        "−0.5",
        "0.0",
        "0.5",
        "1.0",
    ]
    assert [words for _, words in Scale(0, 40, 0, 100).ticks(5)] == ["0", "10", "20", "30", "40"]


def test_line_breaks_are_printable_and_half_characters_are_not():
    assert document_text("a\n\tb") == "a\n\tb"
    assert document_text("\udc00\x07\x85") == "\ufffd" * 3
