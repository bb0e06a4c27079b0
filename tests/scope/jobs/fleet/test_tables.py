"""The tables of the jobs on a fleet."""

from dataclasses import replace
from itertools import groupby

from made_up_fleet_comparison import (
    MODELS,
    communities,
    contributions,
    expected,
    members,
    predictions,
    routers,
    scores,
)

from reports.prose import plain, written
from scope.jobs.fleet import tables
from scope.records import Undefined


def words(table):
    return [
        [plain(written(cell)).replace("\u00a0", " ") for cell in row.cells] for row in table.rows
    ]


def heads(table):
    return [column.heading for column in table.columns]


def test_columns_without_a_value_are_left_out():
    assert "Category" not in heads(tables.scores_table(scores()[:3]))
    free = [replace(one, cost=None) for one in routers()]
    assert "Cost" not in heads(tables.routers_table(free))
    blind = [replace(one, observed=None, shift=None) for one in expected()]
    assert heads(tables.expected_table(blind)) == ["Model", "Expected, %"]
    plain_ones = [replace(one, community=None, nearest=()) for one in members()]
    assert heads(tables.models_table(plain_ones)) == ["Model", "Correct, %"]
    assert tables.models_table(plain_ones).finder.selects == ()


def test_where_all_is_undefined_the_reasons_stand_in_the_table():
    nothing = Undefined(reason="nothing known")
    table = tables.scores_table([replace(one, accuracy=nothing) for one in scores()])
    assert {row.cells[2].reason for row in table.rows} == {"nothing known"}


def test_without_rows_there_is_no_table():
    makers = [getattr(tables, name) for name in dir(tables) if name.endswith("_table")]
    makers.remove(tables._table)
    assert len(makers) == 9
    assert {make(()) for make in makers} == {None}


def test_rows_of_a_category_stand_together_in_whatever_order_they_come():
    shuffled = sorted(routers(), key=lambda one: one.router)
    names = [row.cells[1] for row in tables.routers_table(shuffled).rows]
    assert len(list(groupby(names))) == len(set(names))


def test_errors_of_benchmarks_are_roots_in_points():
    table = tables.predictions_table(predictions())
    assert "Of the mean" not in heads(table)
    first, _, last = table.rows
    # The roots of 0.03125, 0.0234375 and 0.0390625.
    assert (first.cells[2].value, first.cells[2].interval) == ("17.7", "[15.3, 19.8]")
    assert (first.cells[3].value, plain(first.cells[4])) == ("0.625", "97 of 100")
    assert last.cells[3].reason.startswith("too few models")


def test_contributions_begin_with_the_greatest_and_communities_with_themselves():
    gains = [row.cells[2].value for row in tables.contributions_table(contributions()).rows]
    assert gains == ["+4.7", "0.0", "−2.3", "undefined"]
    near = words(tables.communities_table(communities()))
    assert [row[1:3] + row[4:] for row in near] == [
        ["itself", "1", "0.500", "0.500"],
        ["itself", "1", "< 0.001", "< 0.001"],
        [communities()[0].second, "4", "", ""],
    ]
    small = replace(communities()[1], p_value=None, p_adjusted=None)
    assert words(tables.communities_table([small]))[0][-1] == "fewer than 8 models"


def test_models_begin_with_the_most_accurate_and_end_with_the_unknown():
    rows = tables.models_table(members()).rows
    assert [plain(row.cells[0]).removesuffix(" (added)") for row in rows] == [
        MODELS[place] for place in (1, 2, 0, 5, 3, 4)
    ]
    assert rows[0].cells[1].interval == "[71.9, 78.1]"
    assert [row.keys["community"] for row in rows[:4]] == ["1", "1", "0", ""]
    assert plain(rows[0].cells[3]) == f"{MODELS[2]}\u00a00.250"
    errors = [float(row.keys["error"]) for row in rows]
    assert errors == sorted(errors)
