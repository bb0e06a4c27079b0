import re
from xml.etree import ElementTree

from reports.charts import ScatterChart, ScatterDot
from reports.renderers.scatter import scatter_svg


def dot(x, y, *, title="a ~ b", half=0.1):
    return ScatterDot(title=title, x=x, y=y, interval=(y - half, y + half))


def drawn(*dots):
    chart = ScatterChart(label="label", x_title="accuracy", y_title="CAPA", dots=dots)
    return ElementTree.fromstring(scatter_svg(chart))


def circles(root):
    return [(float(c.get("cx")), float(c.get("cy"))) for c in root.iter("circle")]


def test_more_accurate_pairs_lie_further_right_and_more_similar_ones_higher():
    (left, low), (right, high) = circles(drawn(dot(0.2, 0.3), dot(0.8, 0.5)))
    assert left < right
    assert high < low


def test_a_dot_lies_where_the_axes_say():
    # The axis across runs from 0.2 to 0.8 over 520 pixels from 56 on, in steps of 0.2.
    assert [x for x, _ in circles(drawn(dot(0.2, 0), dot(0.4, 0), dot(0.8, 0)))] == [
        56.0,
        229.3,
        576.0,
    ]


def test_an_interval_stands_around_its_dot():
    (group,) = (g for g in drawn(dot(0.5, 0.5)).iter("g"))
    line, circle = group.find("line"), group.find("circle")
    assert float(line.get("y2")) < float(circle.get("cy")) < float(line.get("y1"))


def test_negative_similarities_have_room_and_a_true_minus_sign():
    root = drawn(dot(0.5, -0.5, half=0))
    ((_, y),) = circles(root)
    assert 0 < y < 312.1
    assert any((text.text or "").startswith("−0.5") for text in root.iter("text"))


def test_titles_are_escaped_and_no_address_is_named():
    hostile = '</title><script>alert(1)</script>"\x00'
    root = drawn(dot(0.5, 0.5, title=hostile))
    assert {node.tag for node in root.iter()} <= {"svg", "g", "title", "line", "circle", "text"}
    (title,) = root.iter("title")
    assert title.text == hostile.replace("\x00", "\ufffd")
    assert not re.search("http|id=", ElementTree.tostring(root, "unicode"))


def test_a_dot_without_an_interval_is_a_circle_alone():
    root = drawn(ScatterDot(title="a", x=0.25, y=0.5), ScatterDot(title="b", x=0.5, y=0.75))
    assert [title.text for circle in root.iter("circle") for title in circle] == ["a", "b"]
    assert not list(root.iter("g"))


def test_a_diagonal_runs_from_corner_to_corner_of_axes_with_the_same_ends():
    chart = ScatterChart(
        label="label",
        x_title="predicted",
        y_title="observed",
        dots=(ScatterDot(title="a", x=0.2, y=0.4), ScatterDot(title="b", x=0.8, y=0.6)),
        diagonal=True,
    )
    root = ElementTree.fromstring(scatter_svg(chart))
    (line,) = (one for one in root.iter("line") if one.get("stroke-dasharray"))
    assert [line.get(name) for name in ("x1", "y1", "x2", "y2")] == [
        "56.0",
        "312.0",
        "576.0",
        "12.0",
    ]
    # Both axes run from 0.2 to 0.8, so that 0.4 lies a third of the way up.
    assert circles(root)[0] == (56.0, 212.0)


def test_a_line_joins_the_dots_in_their_order():
    chart = ScatterChart(
        label="label",
        x_title="x",
        y_title="y",
        dots=tuple(ScatterDot(title="", x=x, y=x) for x in (0.2, 0.4, 0.8)),
        joined=True,
    )
    root = ElementTree.fromstring(scatter_svg(chart))
    (line,) = root.iter("polyline")
    assert [point.split(",")[0] for point in line.get("points").split()] == [
        "56.0",
        "229.3",
        "576.0",
    ]


def test_wide_ranges_have_few_ticks():
    root = drawn(dot(-3.0, 0.5), dot(4.0, 0.5))
    across = [one for one in root.iter("text") if one.get("text-anchor") == "middle"]
    assert len(across) <= 10
