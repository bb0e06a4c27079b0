import math

import pytest

from scope.jobs import expected_queries
from scope.jobs.expected_queries import (
    CountedClassifier,
    ExpectedQueries,
    expect_queries,
)
from scope.models.cached import CachedClassifier, MemoryStore
from scope.protocols import SearchOptions
from scope.records import Example
from scope.testing import HashedWords

EXAMPLES = tuple(Example(id=str(number), text="a" * number) for number in range(1, 7))


class Letters:
    """Estimates two queries a letter."""

    name = "letters"
    question = "Does the prediction stay?"

    def __init__(self):
        self.estimated = []

    def settings(self):
        return {}

    def search(self, classifier, examples, options):
        raise AssertionError("not searched")

    def estimate_queries(self, example, options):
        self.estimated.append(example.id)
        return 2 * len(example.text)


def run_in_turn(expected, taken):
    """One example after the other, each with so many queries; the totals as they go."""
    totals = []
    for example_id, queries in taken.items():
        expected.answer(queries)
        expected.finish(example_id)
        totals.append(expected.total())
    return totals


def test_examples_that_take_as_estimated_leave_the_total_alone():
    expected = ExpectedQueries({"a": 10, "b": 20, "c": 5}, scale=1)
    assert run_in_turn(expected, {"a": 10, "b": 20, "c": 5}) == [35, 35, 35]


def test_examples_that_take_half_of_their_estimate_halve_what_is_left():
    expected = ExpectedQueries({"a": 10, "b": 20, "c": 10}, scale=1)
    assert run_in_turn(expected, {"a": 5, "b": 10, "c": 5}) == [20, 20, 20]


def test_more_answers_than_estimated_leave_one_for_each_unfinished_example():
    expected = ExpectedQueries(dict.fromkeys("abcd", 10), scale=1)
    expected.answer(50)
    assert expected.total() == 54


def test_searches_under_way_do_not_count_for_those_that_are_finished():
    expected = ExpectedQueries(dict.fromkeys("abcd", 10), scale=1)
    expected.answer(34)
    expected.finish("a")
    assert expected.total() == 40


def test_an_unknown_scale_follows_from_the_finished_examples():
    expected = ExpectedQueries(dict.fromkeys("abcd", 1), scale=math.inf)
    expected.answer(6)
    assert expected.total() is None
    expected.finish("a")
    assert expected.total() == 24


def test_texts_that_take_no_query_at_all_divide_by_nothing():
    expected = ExpectedQueries({"a": 0, "b": 0}, scale=1)
    assert run_in_turn(expected, {"a": 0, "b": 0}) == [1, 0]


def test_what_was_searched_before_is_done_and_sets_the_scale():
    estimates = {str(number): 2 * number for number in range(1, 7)}
    expected = expect_queries(Letters(), EXAMPLES, SearchOptions(), {"5": 5, "6": 6})
    assert sum(estimates.values()) == 42
    assert (expected.answered, expected.total()) == (11, 21)


def test_repeats_among_what_was_searched_before_do_not_count():
    expected = expect_queries(Letters(), EXAMPLES, SearchOptions(), {"5": 30, "6": 36})
    assert (expected.answered, expected.total()) == (22, 42)


def test_examples_that_time_does_not_suffice_for_are_estimated_by_their_length(monkeypatch):
    monkeypatch.setattr(expected_queries, "SECONDS_TO_ESTIMATE", 0.0)
    letters = Letters()
    expected = expect_queries(letters, EXAMPLES, SearchOptions(), {})
    assert len(letters.estimated) == 1
    assert expected.total() == 42


def test_nothing_is_estimated_where_nothing_waits():
    letters = Letters()
    done = {one.id: 3 for one in EXAMPLES}
    expected = expect_queries(letters, EXAMPLES, SearchOptions(), done)
    assert letters.estimated == []
    assert expected.answered == expected.total() == 18


@pytest.mark.parametrize("cached", [[], ["a"], ["a", "b", "c"]], ids=str)
def test_a_text_counts_once_whether_its_answer_is_cached_or_not(cached):
    reference = CachedClassifier(HashedWords(), MemoryStore())
    reference.classify(cached)
    expected = ExpectedQueries({"e": 3}, scale=1)
    advances = []
    counted = CountedClassifier(reference, expected, advances.append)
    assert counted.classify(["a", "b", "a"]) == HashedWords().classify(["a", "b", "a"])
    assert sum(advances) == expected.answered == 2
    counted.classify(["b", "c"])
    assert sum(advances) == expected.answered == 3


def test_examples_that_were_not_waited_for_change_nothing():
    expected = ExpectedQueries({"a": 10, "b": 10}, scale=1)
    expected.answer(10)
    for example_id in ("a", "a", "never heard of"):
        expected.finish(example_id)
    assert expected.total() == 20
