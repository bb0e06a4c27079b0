"""The map of a fleet as groups of dots, and the table of its models."""

from dataclasses import replace

import pytest
from made_up_fleet_comparison import COMMUNITIES, MODELS, estimate, members

from reports.blocks import Figure, Table
from reports.prose import plain
from reports.renderers.terminal import to_text
from scope.jobs.fleet.map_sections import MOST_GROUPS, map_chart
from scope.jobs.fleet.models_section import fleet_table, models_section
from scope.records import FleetModel, Undefined


def models(*skills, communities=None):
    return [
        FleetModel(
            name=f"m{place}",
            skill=Undefined(reason="none") if skill is None else estimate(skill),
            x=float(place),
            y=0.0,
            community=communities[place] if communities else None,
        )
        for place, skill in enumerate(skills)
    ]


def names(group):
    return [dot.title.splitlines()[0] for dot in group.dots]


def test_without_communities_models_stand_in_fifths_by_accuracy():
    chart = map_chart(models(*(place / 20 for place in range(10, 0, -1))))
    assert "coloured by accuracy" in chart.label
    assert [names(group) for group in chart.groups] == [
        ["m9", "m8"],
        ["m7", "m6"],
        ["m5", "m4"],
        ["m3", "m2"],
        ["m1", "m0"],
    ]
    assert chart.groups[0].name == "accuracy 0.050 to 0.100"
    assert [group.style for group in chart.groups] == ["q0", "q1", "q2", "q3", "q4"]


def test_few_models_make_few_groups_and_an_unknown_accuracy_one_of_its_own():
    chart = map_chart(models(0.5, None, 0.25))
    assert [(group.name, names(group)) for group in chart.groups] == [
        ("accuracy 0.250 to 0.250", ["m2"]),
        ("accuracy 0.500 to 0.500", ["m0"]),
        ("accuracy unknown", ["m1"]),
    ]
    (unknown,) = map_chart(models(None)).groups
    assert unknown.note == "1"


def test_communities_come_from_the_largest_to_the_smallest_then_models_of_none():
    communities = ("a", "b", "b", None, "b", "a", "c")
    chart = map_chart(models(*[0.5] * 7, communities=communities))
    assert [(group.name, group.note) for group in chart.groups] == [
        ("b", "3"),
        ("a", "2"),
        ("c", "1"),
        ("no community", "1"),
    ]


@pytest.mark.parametrize(
    ("count", "loose", "last"),
    [
        (6, 0, ["f"]),
        (7, 0, ["e", "other communities"]),
        (5, 1, ["e", "no community"]),
        (6, 1, ["d", "other communities", "no community"]),
    ],
)
def test_there_are_never_more_groups_than_shapes(count, loose, last):
    communities = [*"abcdefgh"[:count], *[None] * loose]
    groups = map_chart(models(*[0.5] * len(communities), communities=communities)).groups
    assert [group.name for group in groups][-len(last) :] == last
    assert len(groups) <= MOST_GROUPS
    assert sum(len(group.dots) for group in groups) == len(communities)


def test_a_title_tells_the_model_with_its_interval_community_and_three_nearest():
    chart = map_chart(members())
    title = next(dot.title for dot in chart.dots if dot.title.startswith("alone"))
    assert title.splitlines() == [
        "alone",
        "accuracy 0.500 [0.469, 0.531], n = 400",
        f"community {COMMUNITIES[0]}",
        f"nearest: {MODELS[1]}, {MODELS[2]}, {MODELS[3]}",
    ]
    odd = next(dot.title for dot in chart.dots if dot.title.startswith("odd"))
    assert "accuracy undefined (no answer is known" in odd


def test_models_without_a_finite_place_are_not_drawn():
    assert len(map_chart(members()).dots) == 5
    strange = [replace(model, x=float("nan")) for model in members()]
    assert map_chart(strange) is None
    assert map_chart([]) is None


def test_the_table_begins_with_the_most_accurate_and_ends_with_the_unknown():
    first, *_, last = rows = fleet_table(members()).rows
    assert [plain(row.cells[0]).removesuffix(" (added)") for row in rows] == [
        MODELS[place] for place in (1, 2, 0, 5, 3, 4)
    ]
    assert first.cells[1].interval == "[0.719, 0.781]"
    assert [row.keys["community"] for row in rows[:4]] == ["1", "1", "0", ""]
    assert plain(first.cells[3]) == f"{MODELS[2]}\u00a00.250"
    assert last.cells[3:] == ((), ())
    errors = [float(row.keys["error"]) for row in rows]
    assert errors == sorted(errors)


def section_of(notes=(), most=10):
    return models_section(members(), notes, fleet_table(members()), most=most)


def figure(section):
    (found,) = (block for block in section.blocks if isinstance(block, Figure))
    return found.chart


def table(section):
    (found,) = (block for block in section.blocks if isinstance(block, Table))
    return found


def test_a_limit_cuts_map_and_table_but_not_the_count():
    section = section_of(most=2)
    assert len(table(section).rows) == len(figure(section).dots) == 2
    assert "2 most accurate of 6 models" in to_text(section.blocks)
    selects = table(section).finder.selects
    assert [words for _, words in selects[0].options] == ["all", "none", *COMMUNITIES]


def test_the_table_of_the_page_is_that_of_the_terminal():
    made = fleet_table(members())
    assert table(models_section(members(), (), made, most=10)) is made


def test_notes_on_the_map_stand_beside_it_and_no_others():
    notes = ("2 left out", "the map shows means", "the map's directions", "mean has no map")
    words = to_text(section_of(notes).blocks)
    assert "The map shows means." in words
    assert "The map's directions." in words
    assert not any(note in words for note in ("2 left out", "mean has no map"))


def test_without_models_there_is_no_table():
    assert fleet_table(()) is None
