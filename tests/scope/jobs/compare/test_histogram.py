from dataclasses import replace

import pytest
from hypothesis import given, strategies as st

from scope.jobs.compare.figures import BINS, bin_counts, histogram
from scope.jobs.compare.task_estimates import task_estimates


@pytest.mark.parametrize("tenth", range(9))
def test_a_bin_holds_its_start_and_not_its_end(tenth):
    found = bin_counts([tenth / 10, (tenth + 1) / 10 - 1e-6])
    assert found[tenth + 1] == 2


@given(st.lists(st.floats(-1, 1).map(lambda value: round(value, 6))))
def test_every_value_below_point_nine_is_counted_once(values):
    found = bin_counts(values)
    assert len(found) == len(BINS) - 1
    assert sum(found) == sum(value < 0.9 for value in values)
    assert found[0] == sum(value < 0 for value in values)


def test_the_series_are_models_against_gold_and_then_pairs(tasks_comparison):
    found = histogram(task_estimates(tasks_comparison)[0])
    assert [name.partition(" ")[0] for name in found.names[:2]] == ["small", "large"]
    assert found.names[0] == "small against gold"
    assert found.counts[0] == (0,) * 10
    assert found.counts[1] == (0, 1, 1, 0, 0, 0, 0, 0, 0, 0)
    assert (found.drawn, len(found.series)) == (6, 6)


def test_without_negative_values_their_bin_is_left_out(tasks_comparison):
    numbers = task_estimates(tasks_comparison)[0]
    small = replace(numbers, names=numbers.names[:2])
    assert histogram(small).bins[0] == "0.0–0.1"


def test_the_histogram_of_a_probes_scores_goes_up_to_one(tasks_comparison):
    numbers = task_estimates(tasks_comparison)[0]
    cosines, scores = histogram(numbers), histogram(numbers, cosines=False)
    assert (cosines.title, scores.title) == ("SemScores below 0.9", "SemScores")
    assert (cosines.bins[-1], scores.bins[-1]) == ("0.8–0.9", "0.9–1.0")
    # All of the first model's values are 1.
    assert scores.counts[0] == (
        *cosines.counts[0],
        len(numbers.against_gold("sem_score")["small"].values),
    )


def test_without_values_there_is_no_histogram(tasks_comparison):
    numbers = task_estimates(tasks_comparison)[0]
    bare = tuple(replace(row, values=(), example_ids=()) for row in numbers.rows)
    assert histogram(replace(numbers, rows=bare)) is None
