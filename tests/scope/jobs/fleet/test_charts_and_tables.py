"""The results of the jobs on a fleet in charts and tables."""

from dataclasses import replace

import pytest
from made_up_fleet_comparison import (
    MODELS,
    estimate,
    expected,
    members,
    predictions,
    routers,
    scores,
)

from reports.blocks import Table
from scope.jobs.fleet import charts_and_tables as tables
from scope.jobs.fleet.charts_and_tables import MOST_COMMUNITIES, MOST_DOTS, map_chart
from scope.records import BenchmarkPoint, FleetModel, Undefined


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
    return [dot.name for dot in group.dots]


def test_without_communities_models_stand_in_fifths_by_accuracy():
    chart = map_chart(models(*(place / 20 for place in range(10, 0, -1)))).chart
    assert chart.label == "Map of the models by accuracy"
    assert [names(group) for group in chart.series] == [
        ["m8", "m9"],
        ["m6", "m7"],
        ["m4", "m5"],
        ["m2", "m3"],
        ["m0", "m1"],
    ]
    assert chart.series[0].name == "least accurate fifth"
    assert [group.style for group in chart.series] == ["q0", "q1", "q2", "q3", "q4"]


def test_few_models_make_few_groups_and_an_unknown_accuracy_counts_least():
    chart = map_chart(models(0.5, None, 0.25)).chart
    assert [(group.name, names(group)) for group in chart.series] == [
        ("second", ["m1"]),
        ("fourth", ["m2"]),
        ("most accurate fifth", ["m0"]),
    ]


@pytest.mark.parametrize(
    ("communities", "found"),
    [
        (("a", "b", "b", None), [("b", "(2)"), ("a", "(1)"), ("other or no community", "(1)")]),
        ("abcde", [(name, "(1)") for name in "abcde"]),
        ("abcdefg", [*((name, "(1)") for name in "abcde"), ("other or no community", "(2)")]),
    ],
)
def test_communities_come_from_the_largest_and_there_are_never_more_than_shapes(communities, found):
    groups = map_chart(models(*[0.5] * len(communities), communities=communities)).chart.series
    assert [(group.name, group.note) for group in groups] == found
    assert len(groups) <= MOST_COMMUNITIES + 1


def test_observed_accuracies_are_drawn_beside_the_expected_ones_or_these_alone():
    chart = tables.accuracies_chart(expected()).chart
    assert [(dot.name, dot.x, dot.y) for dot in chart.dots] == [
        (MODELS[0], 0.75, 0.625),
        (MODELS[2], 0.25, 0.25),
    ]
    blind = [replace(one, observed=None) for one in expected()]
    alone = tables.accuracies_chart(blind)
    assert isinstance(alone, Table)
    assert [row.cells[0][0].text for row in alone.rows] == list(MODELS[:3])


def test_of_very_many_models_some_are_drawn_from_the_lowest_to_the_highest():
    points = tuple(
        BenchmarkPoint(model=str(place), predicted=0.5, observed=place / 3_000)
        for place in reversed(range(2_001))
    )
    chart = tables.benchmark_chart(replace(predictions()[0], points=points)).chart
    drawn = [dot.y for dot in chart.dots]
    assert len(set(drawn)) == len(drawn) <= MOST_DOTS
    assert (drawn[0], drawn[-1]) == (0, 1_998 / 3_000)
    assert chart.series[0].note == "667 of 2,001 models"
    assert tables.benchmark_chart(predictions()[2]) is None


def heads(table):
    return [column.heading for column in table.columns]


def test_columns_without_a_value_are_left_out():
    whole, by_category = tables.scores_tables(scores())
    assert "Category" in heads(by_category)
    assert "Category" not in heads(whole)
    free = [replace(one, cost=None) for one in routers()]
    assert "Cost" not in heads(next(tables.routers_tables(free)))
    blind = [replace(one, observed=None, shift=None) for one in expected()]
    assert heads(tables.expected_table(blind)) == ["Model", "Expected, %"]
    plain_ones = [replace(one, community=None, nearest=()) for one in members()]
    assert heads(tables.models_table(plain_ones)) == ["Model", "Correct, %"]
    assert tables.models_table(plain_ones).finder.selects == ()


def test_errors_of_benchmarks_are_roots_in_points():
    table = tables.predictions_table(predictions())
    assert "Of the mean" not in heads(table)
    first, _, last = table.rows
    # The roots of 0.03125, 0.0234375 and 0.0390625.
    assert (first.cells[2].value, first.cells[2].interval) == ("17.7", "[15.3, 19.8]")
    assert (first.cells[3].value, first.cells[4]) == ("0.625", "97 of 100")
    assert last.cells[3].reason.startswith("too few models")
