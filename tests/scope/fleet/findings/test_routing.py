import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scope.errors import DataError, SpecError
from scope.fleet.findings.routing import route_mix, route_questions, single_best

SCORES = np.array([[0.9, 0.8, 0.7], [0.1, 0.6, 0.6], [0.5, 0.5, 0.5]])


def test_every_question_goes_to_its_greatest_score():
    assert route_questions(SCORES).tolist() == [0, 1, 0]


def test_of_equal_scores_the_cheaper_model_is_asked_then_the_earlier_one():
    assert route_questions(SCORES, costs=[3, 2, 1]).tolist() == [0, 2, 2]
    assert route_questions(SCORES, costs=[1, 1, 1]).tolist() == [0, 1, 0]


def test_a_great_budget_changes_nothing():
    assert route_questions(SCORES, costs=[3, 2, 1], budget=99).tolist() == [0, 2, 2]


def test_costs_need_not_be_in_order():
    # With 2 a question, 6 in all: 1 for each at the least, and the first gains most by another.
    assert route_questions(SCORES, costs=[4, 2, 1], budget=2).tolist() == [0, 2, 2]
    assert route_questions(SCORES, costs=[4, 2, 1], budget=1).tolist() == [2, 2, 2]


@given(st.integers(0, 10_000))
def test_renumbering_the_models_renumbers_the_routes(seed):
    generator = np.random.default_rng(seed)
    scores, costs = generator.random((6, 4)), generator.random(4)
    budget = float(np.median(costs))
    order = generator.permutation(4)
    plain, renumbered = (
        route_questions(scores, costs, budget),
        route_questions(scores[:, order], costs[order], budget),
    )
    assert order[renumbered].tolist() == plain.tolist()


def test_no_questions_have_no_routes():
    assert route_questions(np.zeros((0, 2))).tolist() == []
    assert route_questions(np.zeros((0, 2)), costs=[1, 2], budget=1).tolist() == []
    assert route_mix(np.array([], dtype=np.int64), ["a", "b"]) == ()


def test_a_single_model_gets_everything():
    assert route_questions(np.ones((3, 1)), costs=[2], budget=2).tolist() == [0, 0, 0]


def test_a_budget_takes_costs():
    with pytest.raises(SpecError, match="give the models' costs"):
        route_questions(SCORES, budget=3)


def test_a_budget_below_the_cheapest_model_is_refused():
    with pytest.raises(SpecError, match=r"a budget of 0\.5 a question"):
        route_questions(SCORES, costs=[3, 2, 1], budget=0.5)


@pytest.mark.parametrize("wrong", [-1, float("nan"), float("inf")])
def test_a_cost_that_is_none_is_refused_with_its_column(wrong):
    with pytest.raises(DataError, match="of the model in column 1"):
        route_questions(SCORES, costs=[1, wrong, 1])


@pytest.mark.parametrize("scores", [[[0.5, float("nan")]], [0.5], np.zeros((2, 0))])
def test_scores_of_another_shape_or_without_a_number_are_refused(scores):
    with pytest.raises(ValueError, match="one row a question"):
        route_questions(scores)
    with pytest.raises(ValueError, match="2 models"):
        route_questions([[0.5, 0.5]], costs=[1])


def test_the_single_best_is_the_most_skilled_that_can_be_paid():
    skills, costs = [0.7, 0.9, 0.8, 0.8], [1, 9, 5, 4]
    assert single_best(skills) == single_best(skills, costs) == 1
    assert single_best(skills, costs, budget=8.9) == 3
    assert single_best(skills, costs, budget=1) == 0


def test_the_mix_comes_by_share_then_by_name_without_idle_models():
    mix = route_mix(np.array([0, 1, 1, 3, 3, 1, 0, 1]), ["d", "c", "b", "a"])
    assert [(one.model, one.share) for one in mix] == [("c", 0.5), ("a", 0.25), ("d", 0.25)]
