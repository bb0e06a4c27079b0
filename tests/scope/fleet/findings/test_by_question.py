import numpy as np

from scope.fleet.findings.by_question import known_gain, known_mean, means_of_known, question_parts
from scope.records import Undefined
from scope.statistics import mean_estimate, paired_difference

FOUR = ["q1", "q2", "q3", "q4"]


def test_questions_without_a_category_count_towards_all_alone():
    parts = question_parts(["law", None, "art", "law"])
    assert [part.category for part in parts] == [None, "art", "law"]
    assert [part.rows.tolist() for part in parts] == [[0, 1, 2, 3], [2], [0, 3]]


def test_no_questions_are_one_empty_part():
    (part,) = question_parts([])
    assert part.category is None
    assert len(part.rows) == 0


def test_unknown_values_do_not_weigh_even_where_they_are_no_numbers():
    values = np.array([[1.0, np.nan, 0.5], [np.nan, np.nan, np.nan]])
    means = means_of_known(values, ~np.isnan(values))
    assert means[0] == 0.75
    assert np.isnan(means[1])


def test_questions_without_a_value_are_left_out_of_mean_and_count():
    values = np.array([1.0, np.nan, 0.5, 0.0])
    assert known_mean(values, FOUR) == mean_estimate([1, 0.5, 0], ["q1", "q3", "q4"])


def test_a_gain_is_over_the_questions_where_both_have_a_value():
    first, second = np.array([1.0, np.nan, 0.5, 0.0]), np.array([0.0, 1.0, np.nan, 1.0])
    assert known_gain(first, second, FOUR) == paired_difference([1, 0], [0, 1], ["q1", "q4"])


def test_where_nothing_is_known_there_is_neither_mean_nor_gain():
    unknown = np.full(4, np.nan)
    assert isinstance(known_mean(unknown, FOUR), Undefined)
    gain = known_gain(unknown, np.ones(4), FOUR)
    assert isinstance(gain, Undefined)
    assert "no" in str(gain) or "none" in str(gain)
