from dataclasses import replace
from itertools import combinations

from hypothesis import given, strategies as st
from made_up_tasks_comparison import MODELS, QA, estimate

from reports.blocks import Table
from reports.prose import plain, written
from scope.jobs.compare.page import matrix, picture
from scope.jobs.compare.task_estimates import TaskEstimates, task_estimates
from scope.records import FourCells, Measurement


def of_values(values, size):
    """Models with these discrete CAPAs, in the order of their pairs; None where not measured."""
    names = tuple(f"m{place}" for place in range(size))
    rows = tuple(
        Measurement(
            metric="capa_discrete",
            target=one,
            against=two,
            capability="t",
            estimate=estimate(value, 9),
        )
        for (one, two), value in zip(combinations(names, 2), values, strict=True)
        if value is not None
    )
    return TaskEstimates(task="t", names=names, choice=True, rows=rows, degenerate={})


def order(task):
    return [name for name, _ in matrix(task).rows]


def test_models_of_one_kind_stand_together():
    found = order(
        of_values([((a + b) % 2 and 0.1) or 0.9 for a, b in combinations(range(6), 2)], 6)
    )
    kinds = [int(name[1:]) % 2 for name in found]
    assert kinds in ([0, 0, 0, 1, 1, 1], [1, 1, 1, 0, 0, 0])


def test_groups_are_joined_at_their_most_alike_ends():
    # 0-1 and 2-3 are close pairs; of their members, 0 and 3 are the closest.
    assert order(of_values([0.9, 0.1, 0.5, 0.1, 0.1, 0.8], 4)) == ["m1", "m0", "m3", "m2"]


@given(st.lists(st.sampled_from([None, -0.5, 0.0, 0.5, 1.0]), min_size=10, max_size=10))
def test_every_model_stands_in_the_matrix_once(values):
    made = matrix(of_values([0.5, *values[1:]], 5))
    assert sorted(name for name, _ in made.rows) == [f"m{place}" for place in range(5)]


def test_beyond_sixty_models_there_is_no_matrix():
    found = list(picture(replace(of_values([0.5], 2), names=tuple(map(str, range(61))))))
    assert [type(one) for one in found] == [Table]


def task(comparison, name, *degenerate):
    (found,) = (one for one in task_estimates(comparison) if one.task == name)
    return replace(found, degenerate=dict.fromkeys(degenerate, "one answer"))


def cells(table):
    return [[plain(written(cell)) for cell in (row.cells[0], *row.cells[2:])] for row in table.rows]


def test_a_degenerate_model_is_marked_and_nobodys_most_similar(tasks_comparison):
    grid, table = picture(task(tasks_comparison, QA, MODELS[2]))
    assert cells(table)[-1][0::2] == [f"{MODELS[2]} (degenerate)", "none"]
    assert f"{MODELS[2]} (degenerate)" in grid.columns


def test_of_two_models_the_four_cells_are_shown():
    shares = (0.5, 0.25, 0.125, 0.125)
    names = ("both", "only_first", "only_second", "neither")
    two = FourCells(
        task="t",
        first="m0",
        second="m1",
        difference=estimate(0.125, 8),
        **{name: estimate(share, 8) for name, share in zip(names, shares, strict=True)},
    )
    (table,) = picture(replace(of_values([0.5], 2), cells=(two,)))
    assert [row[0] for row in cells(table)] == [
        "Both are right",
        "Only m0 is right",
        "Only m1 is right",
        "Both are wrong",
    ]
    assert [row.cells[1].estimate.value for row in table.rows] == list(shares)
