"""Which pairs a probe learns from, and the range of their scores."""

import pytest
from toy_pairs import Rated

from capabilities.cloze import Cloze
from capabilities.similarity import Similarity
from scope.errors import SpecError
from scope.jobs.probe.pair_task_choice import ChosenPairTask


def find_pair_task(*given, **settings):
    chosen = ChosenPairTask.of(*given, **settings)
    return chosen.task, chosen.origin


def test_a_name_gives_the_task_as_it_comes_and_its_origin():
    task, origin = find_pair_task("similarity")
    assert task == Similarity()
    assert origin.startswith("scope-models ")


def test_an_object_is_taken_with_its_range_and_says_where_it_comes_from():
    task, origin = find_pair_task(Rated())
    assert (task.name, task.low, task.high, origin) == ("rated", Rated.low, Rated.high, "toy_pairs")


@pytest.mark.parametrize(
    ("low", "high", "range_"), [(-1, None, (-1, 5)), (None, 1, (0, 1)), (0, 0.5, (0, 0.5))]
)
@pytest.mark.parametrize("task", ["similarity", Similarity()])
def test_a_range_that_is_given_takes_the_place_of_the_tasks_own(task, low, high, range_):
    found, _ = find_pair_task(task, low, high)
    assert (found.low, found.high) == range_


def test_what_is_not_given_stays_as_the_task_has_it():
    found, _ = find_pair_task(Similarity(low=1, high=4), high=9)
    assert (found.low, found.high) == (1, 9)


def test_a_range_that_makes_no_sense_is_refused():
    with pytest.raises(SpecError, match=r"scores from 6 to 5\.0"):
        find_pair_task("similarity", low=6)


def test_a_task_that_takes_no_range_refuses_one():
    with pytest.raises(SpecError) as caught:
        find_pair_task(Rated(), low=0, high=1)
    assert caught.value.found == (
        "the range --low 0 --high 1 for the task `rated`, whose scores are from 1 to 7"
    )
    assert caught.value.fix == "omit --low and --high"


@pytest.mark.parametrize("task", ["cloze", Cloze()])
def test_a_task_whose_questions_are_answered_is_refused(task):
    with pytest.raises(SpecError) as caught:
        find_pair_task(task)
    assert caught.value.found == ("the task `cloze`, which has no pairs with human scores")
    assert caught.value.expected == "a task of scored pairs: similarity"
    assert "--task similarity" in caught.value.fix


def test_a_class_is_refused_for_its_object():
    with pytest.raises(SpecError) as caught:
        find_pair_task(Similarity)
    assert caught.value.found == "the class Similarity"
    assert caught.value.fix == "make an object of it: Similarity()"


def test_what_is_no_task_at_all_is_shown():
    with pytest.raises(SpecError, match=r"the int 3 as a capability or task"):
        find_pair_task(3)


def test_an_unknown_name_is_answered_with_the_known_ones():
    with pytest.raises(SpecError) as caught:
        find_pair_task("similarty")
    assert caught.value.fix == "did you mean `similarity`?"
