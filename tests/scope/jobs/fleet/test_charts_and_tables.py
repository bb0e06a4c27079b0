"""The results of the jobs on a fleet in charts and tables."""

from dataclasses import replace

import pytest
from made_up_fleet_comparison import MODELS, estimate, expected, predictions

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


@pytest.mark.parametrize(
    ("skills", "fifths"),
    [
        (
            [place / 20 for place in range(10, 0, -1)],
            [
                ("least accurate fifth", "m8 m9"),
                ("second", "m6 m7"),
                ("third", "m4 m5"),
                ("fourth", "m2 m3"),
                ("most accurate fifth", "m0 m1"),
            ],
        ),
        # An unknown accuracy counts least.
        ([0.5, None, 0.25], [("second", "m1"), ("fourth", "m2"), ("most accurate fifth", "m0")]),
    ],
)
def test_without_communities_models_stand_in_fifths_by_accuracy(skills, fifths):
    groups = map_chart(models(*skills)).chart.series
    assert [(group.name, " ".join(dot.name for dot in group.dots)) for group in groups] == fifths


@pytest.mark.parametrize(
    ("communities", "found"),
    [
        (("a", "b", "b", None), [("b", "(2)"), ("a", "(1)"), ("other or no community", "(1)")]),
        ("abcdefg", [*((name, "(1)") for name in "abcde"), ("other or no community", "(2)")]),
    ],
)
def test_communities_come_from_the_largest_and_there_are_never_more_than_shapes(communities, found):
    groups = map_chart(models(*[0.5] * len(communities), communities=communities)).chart.series
    assert [(group.name, group.note) for group in groups] == found
    assert len(groups) <= MOST_COMMUNITIES + 1


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


def test_of_models_without_observed_accuracies_the_expected_ones_are_drawn():
    unobserved = [replace(row, observed=None) for row in expected()]
    alone = tables.accuracies_chart(unobserved)
    assert isinstance(alone, Table)
    assert [row.cells[0][0].text for row in alone.rows] == list(MODELS[:3])
