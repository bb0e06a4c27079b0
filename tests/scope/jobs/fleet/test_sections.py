"""The pages of the jobs on a fleet as blocks."""

from dataclasses import replace
from itertools import groupby

import pytest
from made_up_fleet_comparison import (
    CATEGORIES,
    MODELS,
    RECORDS,
    USED,
    bare,
    build_comparison,
    communities,
    contributions,
    members,
    predictions,
    reliability,
    routers,
    scores,
)

from reports.blocks import Beside, Figure, Table, Terms, within
from reports.charts import IntervalChart, ScatterChart
from reports.grids import Grid
from reports.prose import plain, written
from reports.wording import Cell
from scope.jobs.fleet.forecast_sections import calibration_curve
from scope.jobs.fleet.prediction_section import MOST_DOTS
from scope.jobs.fleet.routing_section import MOST_SHARES, router_meanings
from scope.jobs.fleet.sections import MOST_NAMED
from scope.jobs.pages import page_of
from scope.records import BenchmarkPoint, RouteShare, Undefined

EVERYTHING = {job: build_comparison(job) for job in RECORDS}


def section(result, anchor):
    (found,) = (one for one in page_of(result).sections if one.anchor == anchor)
    return tuple(within(found.blocks))


def of_kind(blocks, kind):
    return [one for one in blocks if isinstance(one, kind)]


def charts(blocks, kind=IntervalChart):
    return [one.chart for one in of_kind(blocks, Figure) if isinstance(one.chart, kind)]


def words(row):
    return [plain(written(cell)) for cell in row.cells]


@pytest.mark.parametrize("job", RECORDS)
def test_the_terminals_tables_are_those_of_the_page(job):
    page = page_of(EVERYTHING[job])
    shown = of_kind(page.brief, Table)
    assert shown
    assert all(any(one is block for block in page.blocks()) for one in shown)


@pytest.mark.parametrize(
    ("job", "anchors"),
    [
        ("embed", ("models", "forecasts")),
        ("forecast", ("expected", "forecasts")),
        ("map", ("models", "contributions", "communities")),
        ("predict", ("predictions",)),
        ("route", ("forecasts", "routing")),
    ],
)
def test_each_job_has_its_sections_and_those_without_content_are_left_out(job, anchors):
    around = ("answer", "asked"), ("reproduce",)
    full, empty = (
        tuple(one.anchor for one in page_of(result).sections)
        for result in (EVERYTHING[f"fleet-{job}"], bare(f"fleet-{job}"))
    )
    assert full == (*around[0], *anchors, *around[1])
    assert empty == (*around[0], *around[1])


def test_forecasters_stand_with_accuracy_gain_and_brier_score():
    mean, knn, used = of_kind(section(EVERYTHING["fleet-embed"], "forecasts"), Table)[0].rows
    assert [row.chosen for row in (mean, knn, used)] == [False, False, True]
    assert plain(used.cells[0]) == f"{USED} (in use)"
    accuracy, gain, brier = used.cells[1:]
    assert (accuracy.value, accuracy.interval, accuracy.n) == ("70.3\u00a0%", "[67.2, 73.4]", 400)
    assert (mean.cells[2], gain.value, brier.value) == (None, "+6.2\u00a0points", "0.188")
    assert (knn.cells[2].remark, gain.remark) == ("may be chance", "")
    assert knn.cells[3].reason.startswith("no probabilities")


def test_categories_are_rows():
    table = of_kind(section(EVERYTHING["fleet-embed"], "forecasts"), Table)[1]
    assert [row.cells[0] for row in table.rows] == [name for name in CATEGORIES for _ in range(2)]
    assert table.rows[-1].cells[2].reason.startswith("one question")


def test_rows_of_a_category_stand_together_in_whatever_order_they_come():
    shuffled = build_comparison(
        "fleet-route",
        scores=tuple(sorted(scores(), key=lambda one: one.forecaster)),
        routers=tuple(sorted(routers(), key=lambda one: one.router)),
    )
    for anchor in ("forecasts", "routing"):
        table = of_kind(section(shuffled, anchor), Table)[1]
        names = [row.cells[0] for row in table.rows]
        assert len(list(groupby(names))) == len(set(names))


def test_the_reliability_curve_holds_the_defined_bins_and_the_table_all():
    curve = calibration_curve(reliability())
    assert [(dot.x, dot.y) for dot in curve.dots] == [
        (0.125, 0.1875),
        (0.375, 0.375),
        (0.875, 0.8125),
    ]
    assert curve.diagonal
    assert curve.dots[0].title == "predicted 12.5 %: 18.8\u00a0% correct, [15.6, 21.9], n = 400"
    alone = section(bare("fleet-embed", reliability=reliability()), "forecasts")
    (table,) = of_kind(alone, Table)
    assert plain(table.rows[2].cells[0]) == "0.50 to 0.75"
    assert table.rows[2].cells[2].reason.startswith("empty")


def test_routing_is_compared_with_each_baseline():
    blocks = section(EVERYTHING["fleet-route"], "routing")
    whole, parts, _ = of_kind(blocks, Table)
    assert [(plain(row.cells[0]), plain(row.cells[3])) for row in whole.rows] == [
        ("router", "0.125"),
        (f"single best: {MODELS[1]}", "0.5"),
        ("random with the same mix", "unknown"),
        ("oracle", "unknown"),
    ]
    assert whole.rows[3].cells[2].value == "−21.9\u00a0points"
    assert [row.chosen for row in whole.rows] == [True, False, False, False]
    (meanings,) = of_kind(blocks, Terms)
    assert len(meanings.pairs) == len(whole.rows)
    assert len(parts.rows) == 8


@pytest.mark.parametrize(
    ("forecaster", "said"),
    [
        ("factors(dimensions=8)", "skill plus the prediction from the text"),
        ("knn", "the highest predicted probability"),
        ("mf(epochs=3)", "the highest predicted probability"),
    ],
)
def test_what_a_router_asks_by_depends_on_the_forecaster(forecaster, said):
    ((_, meaning),) = router_meanings(routers()[:1], forecaster)
    assert said in plain(meaning)


def test_the_mix_begins_with_the_model_asked_most_and_is_cut_but_counted():
    mix = of_kind(section(EVERYTHING["fleet-route"], "routing"), Table)[-1]
    assert [words(row) for row in mix.rows] == [
        [MODELS[1], "75.0\u00a0%"],
        [MODELS[0], "25.0\u00a0%"],
    ]
    many = tuple(RouteShare(model=str(place), share=place / 10_000) for place in range(100))
    page = page_of(bare("fleet-route", mix=many))
    (shown,) = of_kind(page.sections[2].blocks, Table)
    (brief,) = of_kind(page.brief, Table)
    assert (len(shown.rows), shown.rows[0].cells[0]) == (MOST_SHARES, "99")
    assert len(brief.rows) == 100
    assert "40 most frequently selected of 100 models" in bare("fleet-route", mix=many).html()


def test_a_benchmark_has_its_splits_errors_and_dots():
    blocks = section(EVERYTHING["fleet-predict"], "predictions")
    (table,) = of_kind(blocks, Table)
    first, _, last = table.rows
    assert (first.cells[4].value, plain(first.cells[5])) == ("+0.625", "97 of 100")
    assert (first.cells[6].value, first.cells[6].interval) == ("0.0312", "[0.0234, 0.0391]")
    assert last.cells[4].reason.startswith("too few models")
    drawn, _ = charts(blocks, ScatterChart)
    assert len(drawn.dots) == 6
    assert drawn.dots[1].title == f"{MODELS[1]}: predicted 0.125, observed 0.143"


def test_of_very_many_models_some_are_drawn_from_the_lowest_to_the_highest():
    points = tuple(
        BenchmarkPoint(model=str(place), predicted=0.5, observed=place / 3_000)
        for place in reversed(range(2_001))
    )
    lost = BenchmarkPoint(model="lost", predicted=float("nan"), observed=0.5)
    row = replace(predictions()[0], points=(*points, lost))
    result = bare("fleet-predict", predictions=(row,))
    (chart,) = charts(section(result, "predictions"), ScatterChart)
    drawn = [dot.y for dot in chart.dots]
    assert (len(drawn), len(set(drawn))) == (MOST_DOTS, MOST_DOTS)
    assert (drawn[0], drawn[-1]) == (0, 2_000 / 3_000)
    assert "1,000 of 2,001 models, evenly from the lowest to the highest" in result.html()


def test_without_a_place_for_any_model_there_are_no_charts_of_benchmarks():
    blocks = section(bare("fleet-predict", predictions=predictions()[2:]), "predictions")
    assert of_kind(blocks, Beside) == []


def test_contributions_are_points_on_a_scale_with_two_sides():
    blocks = section(EVERYTHING["fleet-map"], "contributions")
    (grid,) = of_kind(blocks, Grid)
    assert [row for row, _ in grid.rows] == list(CATEGORIES)
    assert grid.columns == CATEGORIES
    (_, (_, helps, nothing)), (_, (hurts, *_)), (_, (undefined, *_)) = grid.rows
    assert (helps.text, helps.level, nothing.level, hurts.level) == ("+4.7", 10, 0, -5)
    assert (undefined.text, undefined.level) == ("–", None)
    (table,) = of_kind(blocks, Table)
    assert [row.cells[2].value for row in table.rows] == [
        "+4.7\u00a0points",
        "0.0\u00a0points",
        "−2.3\u00a0points",
        "undefined",
    ]


def test_distances_within_communities_come_before_those_between():
    (table,) = of_kind(section(EVERYTHING["fleet-map"], "communities"), Table)
    assert [words(row)[1::3] + words(row)[5:] for row in table.rows] == [
        ["itself", "0.500", "0.500"],
        ["itself", "< 0.001", "< 0.001"],
        [communities()[0].second, "", ""],
    ]


def facts(result):
    (matrix, *_) = of_kind(section(result, "asked"), Terms)
    return {plain(term): plain(value) for term, value in matrix.pairs}


def test_unknown_answers_are_the_rest_of_the_matrix():
    found = facts(EVERYTHING["fleet-map"])
    assert "8,100 known answers, 900 unknown (90.0\u00a0% known)" in found["Matrix"]
    assert found["Conflicts"] == "3 answers are given more than once with different values"
    assert "Conflicts" not in facts(bare("fleet-map", conflicts=0))


def test_models_that_were_added_are_counted_and_the_first_named():
    assert facts(EVERYTHING["fleet-map"])["Added models"] == f"1 model: {MODELS[5]}"
    assert "Added models" not in facts(bare("fleet-map"))
    late = members()[5]
    many = tuple(replace(late, name=f"m{place}") for place in range(MOST_NAMED + 3))
    added = facts(bare("fleet-route", fleet=many))["Added models"]
    assert added.startswith("23 models: m0, m1, ")
    assert added.endswith("m19, …")


def test_where_all_is_undefined_there_are_tables_and_no_charts():
    nothing = Undefined(reason="nothing known")

    def without(found, name):
        return tuple(replace(one, **{name: nothing}) for one in found)

    embedded = bare(
        "fleet-embed",
        scores=without(scores(), "accuracy"),
        reliability=without(reliability(), "observed"),
    )
    routed = bare("fleet-route", routers=without(routers(), "accuracy"))
    mapped = bare("fleet-map", contributions=without(contributions(), "value"))
    for result, anchor in (
        (embedded, "forecasts"),
        (routed, "routing"),
        (mapped, "contributions"),
    ):
        blocks = section(result, anchor)
        assert of_kind(blocks, Figure) + of_kind(blocks, Grid) == []
        cells = [
            cell for table in of_kind(blocks, Table) for row in table.rows for cell in row.cells
        ]
        assert "nothing known" in {cell.reason for cell in cells if isinstance(cell, Cell)}
