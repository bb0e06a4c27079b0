import re
from xml.etree import ElementTree

from made_up_fleet_comparison import estimate, members

from reports.charts import MapChart, MapDot, MapGroup
from reports.renderers.map import map_svg
from scope.jobs.fleet.charts_and_tables import map_chart
from scope.records import FleetModel


def group(*places, shape=0, title="a"):
    return MapGroup(
        name="group",
        note=str(len(places)),
        style=f"s{shape}",
        shape=shape,
        dots=tuple(MapDot(title=title, x=x, y=y) for x, y in places),
    )


def drawn(*groups):
    chart = MapChart(label="label", groups=groups)
    return ElementTree.fromstring(map_svg(chart))


def circles(root):
    return [(float(one.get("cx")), float(one.get("cy"))) for one in root.iter("circle")]


def test_both_axes_have_one_scale_and_the_middle_lies_in_the_middle():
    # 4 wide and 1 high on 720 × 480 with an edge of 14: (720 − 28) / 4 pixels a unit.
    assert circles(drawn(group((0, 0), (4, 1), (2, 0.5)))) == [
        (14.0, 326.5),
        (706.0, 153.5),
        (360.0, 240.0),
    ]


def test_a_single_place_lies_in_the_middle():
    assert circles(drawn(group((7, -3), (7, -3)))) == [(360.0, 240.0)] * 2


def test_groups_are_told_apart_by_shape_and_class_and_the_largest_lies_below():
    root = drawn(group((0, 0), shape=1), group((1, 1), (2, 2), shape=0))
    first, second, _ = root.findall("g")
    assert (first.get("class"), second.get("class")) == ("s0", "s1")
    assert [len(list(one.iter("circle"))) for one in (first, second)] == [2, 0]
    (path,) = second.iter("path")
    assert path.get("d").endswith("m-3-3h6v6h-6z")


def test_every_mark_has_a_title_and_none_breaks_out_of_it():
    hostile = '</title><script>alert(1)</script>"\x00'
    root = drawn(group((0, 0), title=hostile), group((1, 1), title=hostile, shape=3))
    assert {node.tag for node in root.iter()} == {"svg", "rect", "g", "title", "circle", "path"}
    assert [title.text for title in root.iter("title")] == [hostile.replace("\x00", "\ufffd")] * 2
    assert not re.search("http|id=", ElementTree.tostring(root, "unicode"))


def test_all_placed_models_are_drawn():
    root = ElementTree.fromstring(map_svg(map_chart(members())))
    assert len(list(root.iter("title"))) == 5


def test_two_thousand_models_stay_light():
    models = [
        FleetModel(
            name=f"organisation/model-{place}-of-some-name",
            skill=estimate(0.5, 858),
            x=place % 53 + 0.123456,
            y=place % 47 + 0.654321,
        )
        for place in range(2_001)
    ]
    svg = map_svg(map_chart(models))
    assert svg.count("<title>") == 2_001
    assert len(svg) < 300_000
