"""Forecasts, routing, benchmarks and probes of a fleet as records."""

from dataclasses import replace
from itertools import groupby

import pytest
from made_up_fleet_comparison import CATEGORIES, KNN, MODELS, USED, findings

from reports.view.fleet import fleet_view
from reports.view.fleet_asked import MOST_NAMED
from reports.view.fleet_contributions import communities, contribution_section
from reports.view.fleet_forecast import MOST_DRAWN, forecasts
from reports.view.fleet_predictions import MOST_DOTS, predictions
from reports.view.fleet_routing import MOST_SHARES, routing
from reports.view.fleet_words import forecaster_names
from scope.records import BenchmarkPoint, FleetFindings, RouteShare, Undefined

EMPTY = FleetFindings(questions=0, models=0, answers=0, forecaster="mean", encoder="none")


def test_forecasters_stand_with_accuracy_gain_and_brier_score():
    mean, knn, used = forecasts(findings()).rows
    assert (mean.gain, used.chosen, knn.chosen) == (None, True, False)
    assert (used.accuracy.value, used.accuracy.interval, used.accuracy.n) == (
        "70.3\u00a0%",
        "[67.2, 73.4]",
        400,
    )
    assert (used.gain.value, used.brier.value) == ("+6.2\u00a0points", "0.188")
    assert knn.brier.reason.startswith("no probabilities")


def test_the_charts_name_forecasters_shortly_and_draw_what_is_defined():
    made = forecasts(findings())
    assert [dot.category for dot in made.chart.intervals] == ["mean", "knn", "factors"]
    # Ends of intervals at 0.609375 and 0.734375, on an axis in twentieths.
    assert (made.chart.start, made.chart.end) == (0.6, 0.75)
    drawn = [(dot.category, dot.series) for dot in made.category_chart.intervals]
    assert drawn == [(name, series) for name in CATEGORIES[:2] for series in (0, 1)]
    assert made.category_chart.series == ("mean", "factors")


def test_forecasters_of_one_name_keep_their_parameters():
    assert list(forecaster_names([KNN, "knn(neighbours=15)", USED]).values()) == [
        KNN,
        "knn(neighbours=15)",
        "factors",
    ]


def test_categories_are_rows_and_of_very_many_no_chart():
    made = forecasts(findings())
    assert [row.category for row in made.categories] == [
        name for name in CATEGORIES for _ in range(2)
    ]
    assert made.categories[-1].accuracy.reason.startswith("one question")
    mean = findings().scores[0]
    many = tuple(replace(mean, category=f"c{place}") for place in range(MOST_DRAWN + 1))
    made = forecasts(replace(EMPTY, scores=many))
    assert (made.category_chart, made.folded, len(made.categories)) == (None, True, 21)
    assert forecasts(replace(EMPTY, scores=many[1:])).category_chart is not None


def test_rows_of_a_category_stand_together_in_whatever_order_they_come():
    found = findings()
    shuffled = replace(
        found,
        scores=tuple(sorted(found.scores, key=lambda one: one.forecaster)),
        routers=tuple(sorted(found.routers, key=lambda one: one.router)),
    )
    for rows in (forecasts(shuffled).categories, routing(shuffled).categories):
        names = [row.category for row in rows]
        assert len(list(groupby(names))) == len(set(names))


def test_the_reliability_curve_holds_the_defined_bins_and_the_table_all():
    made = forecasts(findings())
    assert [(dot.x, dot.y) for dot in made.curve.dots] == [
        (0.125, 0.1875),
        (0.375, 0.375),
        (0.875, 0.8125),
    ]
    assert made.curve.diagonal
    assert [row.between for row in made.reliability][2] == "0.50 to 0.75"
    assert made.reliability[2].observed.reason.startswith("empty")
    assert made.curve.dots[0].title == (
        "predicted 12.5 %: 18.8\u00a0% correct, [15.6, 21.9], n = 400"
    )
    assert forecasts(replace(EMPTY, reliability=findings().reliability)).rows == ()


def test_routing_is_held_against_each_baseline():
    made = routing(findings())
    assert [(row.router, row.model, row.cost) for row in made.rows] == [
        ("router", None, "0.125"),
        ("single best", MODELS[1], "0.5"),
        ("random with the same mix", None, None),
        ("oracle", None, None),
    ]
    assert made.rows[3].gain.value == "−21.9\u00a0points"
    assert [name for name, _ in made.meanings] == [row.router for row in made.rows]
    assert made.costed
    assert [row for row, _ in made.grid.rows] == list(CATEGORIES[:2])
    assert len(made.categories) == 8


@pytest.mark.parametrize(
    ("forecaster", "said"),
    [
        ("factors(dimensions=8)", "skill plus the prediction from the text"),
        ("irt", "skill plus the prediction from the text"),
        ("knn", "the highest predicted probability"),
        ("mf(epochs=3)", "the highest predicted probability"),
    ],
)
def test_what_a_router_asks_by_depends_on_the_forecaster(forecaster, said):
    meanings = dict(routing(replace(findings(), forecaster=forecaster)).meanings)
    assert said in meanings["router"]


def test_the_mix_begins_with_the_model_asked_most_and_is_cut_but_counted():
    assert routing(findings()).mix == ((MODELS[1], "75.0\u00a0%"), (MODELS[0], "25.0\u00a0%"))
    many = tuple(RouteShare(model=str(place), share=place / 10_000) for place in range(100))
    made = routing(replace(EMPTY, mix=many))
    assert (made.asked, len(made.mix), made.mix[0][0]) == (100, MOST_SHARES, "99")
    assert (made.chart, made.grid, made.costed) == (None, None, False)


def test_a_benchmark_has_its_splits_errors_and_dots():
    first, _, last = predictions(findings())
    assert (first.tau.value, first.significant, first.splits) == ("+0.625", 97, 100)
    assert (first.mse.value, first.mse.interval) == ("0.0312", "[0.0234, 0.0391]")
    assert len(first.chart.dots) == first.points == 6
    assert first.chart.dots[1].title == f"{MODELS[1]}: predicted 0.125, observed 0.143"
    assert (last.chart, last.tau.reason.startswith("too few models")) == (None, True)


def test_of_very_many_models_some_are_drawn_from_the_lowest_to_the_highest():
    points = tuple(
        BenchmarkPoint(model=str(place), predicted=0.5, observed=place / 3_000)
        for place in reversed(range(2_001))
    )
    lost = BenchmarkPoint(model="lost", predicted=float("nan"), observed=0.5)
    row = replace(findings().predictions[0], points=(*points, lost))
    (made,) = predictions(replace(EMPTY, predictions=(row,)))
    drawn = [dot.y for dot in made.chart.dots]
    assert (made.points, len(drawn), len(set(drawn))) == (2_001, MOST_DOTS, MOST_DOTS)
    assert (drawn[0], drawn[-1]) == (0, 2_000 / 3_000)


def test_contributions_are_points_on_a_scale_with_two_sides():
    made = contribution_section(findings())
    assert [row for row, _ in made.grid.rows] == list(CATEGORIES)
    assert made.grid.columns == CATEGORIES
    (_, (_, helps, nothing)), (_, (hurts, *_)), (_, (undefined, *_)) = made.grid.rows
    assert (helps.text, helps.level, nothing.level, hurts.level) == ("+4.7", 10, 0, -5)
    assert (undefined.text, undefined.level) == ("–", None)
    assert [row.cell.value for row in made.rows] == [
        "+4.7\u00a0points",
        "0.0\u00a0points",
        "−2.3\u00a0points",
        "undefined",
    ]


def test_distances_within_communities_come_before_those_between():
    rows = communities(findings()).rows
    assert [(row.second is None, row.p_value, row.p_adjusted) for row in rows] == [
        (True, "0.500", "0.500"),
        (True, "< 0.001", "< 0.001"),
        (False, "", ""),
    ]
    corrected = replace(findings().communities[1], p_value=0.04, p_adjusted=0.08)
    (row,) = communities(replace(EMPTY, communities=(corrected,))).rows
    assert (row.p_value, row.p_adjusted) == ("0.040", "0.080")


def test_sections_without_content_are_left_out(fleet_comparison):
    def sections(found):
        view = fleet_view(fleet_comparison, found, max_models=9)
        return [section.anchor for section in view.sections]

    assert sections(EMPTY) == ["answer", "asked", "reproduce"]
    assert len(sections(findings())) == 10
    routed = replace(EMPTY, mix=findings().mix)
    assert sections(routed) == ["answer", "asked", "routing", "reproduce"]


def test_unknown_answers_are_the_rest_of_the_matrix(fleet_comparison):
    asked = fleet_view(fleet_comparison, findings(), max_models=9).asked
    assert (asked.unknown, asked.conflicts) == (900, 3)


def test_models_that_were_added_are_counted_and_the_first_named(fleet_comparison):
    def asked(found):
        return fleet_view(fleet_comparison, found, max_models=9).asked

    assert (asked(findings()).added, asked(findings()).added_names) == (1, (MODELS[5],))
    assert (asked(EMPTY).added, asked(EMPTY).added_names) == (0, ())
    late = findings().members[5]
    many = tuple(replace(late, name=f"m{place}") for place in range(MOST_NAMED + 3))
    made = asked(replace(EMPTY, members=many))
    assert (made.added, len(made.added_names), made.added_names[0]) == (23, 20, "m0")


def test_where_all_is_undefined_there_are_tables_and_no_charts():
    nothing = Undefined(reason="nothing known")
    found = findings()
    bare = replace(
        found,
        scores=tuple(replace(one, accuracy=nothing) for one in found.scores),
        routers=tuple(replace(one, accuracy=nothing) for one in found.routers),
        reliability=tuple(replace(one, observed=nothing) for one in found.reliability),
        contributions=tuple(replace(one, value=nothing) for one in found.contributions),
    )
    made, routed = forecasts(bare), routing(bare)
    assert (made.chart, made.category_chart, made.curve) == (None, None, None)
    assert (routed.chart, routed.grid, contribution_section(bare).grid) == (None, None, None)
    assert {row.accuracy.reason for row in (*made.rows, *routed.rows)} == {"nothing known"}
