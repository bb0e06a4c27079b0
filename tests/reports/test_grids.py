from kept_results import estimate

from reports.blocks import LEVELS, grid
from scope.records import Undefined


def cells(**values):
    return {
        (name[0], name[1]): Undefined(reason="none") if value is None else estimate(value, 1200)
        for name, value in values.items()
    }


def levels(made):
    return [[cell.level for cell in row] for _, row in made.rows]


def test_backgrounds_run_from_the_lowest_to_the_highest_number():
    made = grid("t", cells(ax=0.25, ay=0.5, bx=0.75), rows="ab", columns="xy")
    assert levels(made) == [[0, LEVELS // 2], [LEVELS, None]]
    assert (made.low, made.high, made.gaps) == (".25", ".75", False)


def test_numbers_close_together_do_not_take_the_whole_scale():
    made = grid("t", cells(ax=0.5, bx=0.505), rows="ab", columns="x")
    assert levels(made) == [[0], [0]]
    assert made.high == ".70"


def test_a_cell_tells_names_value_interval_and_n():
    (_, (cell,)), *_ = grid("t", cells(ax=-0.125), rows="a", columns="x").rows
    assert (cell.text, cell.title) == ("−.12", "a, x: −0.125 [−0.250, 0.000] (n\u00a0=\u00a01,200)")


def test_an_undefined_number_is_a_dash_with_its_reason():
    made = grid("t", cells(ax=0.5, bx=None), rows="ab", columns="x")
    (cell,) = made.rows[1][1]
    assert (cell.text, cell.title, cell.level) == ("–", "b, x: undefined (none)", None)
    assert made.gaps


def test_without_a_number_there_is_no_grid():
    assert grid("t", cells(ax=None), rows="a", columns="x") is None
