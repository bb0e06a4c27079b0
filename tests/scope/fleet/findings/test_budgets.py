from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linprog

from scope.errors import SpecError
from scope.fleet.findings.budgets import within_budget


@st.composite
def problems(draw):
    """Worth and ascending costs of a few questions and models, and a budget that can be kept.

    Whole numbers make for ties, equal costs and budgets that are used up exactly.
    """
    generator = np.random.default_rng(draw(st.integers(0, 100_000)))
    questions, models = draw(st.integers(1, 5)), draw(st.integers(1, 4))
    if draw(st.booleans()):
        worth = generator.integers(0, 4, size=(questions, models)).astype(float)
        costs = np.sort(generator.integers(0, 4, size=models)).astype(float)
    else:
        worth, costs = generator.random((questions, models)), np.sort(generator.random(models))
    share = draw(st.sampled_from([0.0, 0.1, 0.3, 0.5, 0.8, 1.0]))
    return worth, costs, costs[0] + share * (costs[-1] - costs[0])


def total(worth, chosen):
    return worth[np.arange(len(worth)), chosen].sum()


def best_of_all(worth, costs, budget):
    """The greatest worth of all the choices that keep to the budget, tried one by one."""
    choices = (np.array(one) for one in product(range(len(costs)), repeat=len(worth)))
    return max(
        total(worth, one) for one in choices if costs[one].sum() <= budget * len(worth) + 1e-9
    )


def relaxed(worth, costs, budget):
    """The greatest worth where questions may be split, by linear programming."""
    questions, models = worth.shape
    found = linprog(
        -worth.ravel(),
        A_ub=[np.tile(costs, questions)],
        b_ub=[budget * questions + 1e-9],
        A_eq=np.kron(np.eye(questions), np.ones(models)),
        b_eq=np.ones(questions),
    )
    return -found.fun


@given(problems())
def test_the_budget_is_kept(problem):
    worth, costs, budget = problem
    assert costs[within_budget(worth, costs, budget)].mean() <= budget + 1e-9


@given(problems())
def test_the_best_choice_is_missed_by_less_than_one_questions_gain(problem):
    worth, costs, budget = problem
    found = total(worth, within_budget(worth, costs, budget))
    best = best_of_all(worth, costs, budget)
    assert found <= best + 1e-9
    one_question = (worth.max(axis=1) - worth.min(axis=1)).max()
    bound = relaxed(worth, costs, budget)
    assert best <= bound + 1e-6
    assert found >= bound - one_question - 1e-6


@given(problems())
def test_one_question_gets_the_best_model_that_it_can_pay(problem):
    worth, costs, budget = problem
    for row in worth:
        found = within_budget(row[np.newaxis], costs, budget)[0]
        assert row[found] == row[costs <= budget + 1e-9].max()


@given(problems(), st.integers(0, 1000))
def test_the_order_of_the_questions_does_not_change_the_worth(problem, seed):
    worth, costs, budget = problem
    order = np.random.default_rng(seed).permutation(len(worth))
    one, other = (within_budget(rows, costs, budget) for rows in (worth, worth[order]))
    assert total(worth[order], other) == pytest.approx(total(worth, one))


def test_the_questions_that_gain_most_for_the_money_are_given_to_the_dearer_model():
    worth = np.array([[0.1, 0.2], [0.1, 0.9], [0.1, 0.5], [0.1, 0.3]])
    # 4 questions at 2 each are 8; all at the cheaper one cost 4, and each better answer 2 more.
    assert within_budget(worth, np.array([1.0, 3.0]), 2.0).tolist() == [0, 1, 1, 0]


def test_alike_questions_share_a_budget_that_is_enough_for_some():
    chosen = within_budget(np.tile([0.5, 0.8], (100, 1)), np.array([1.0, 2.0]), 1.3)
    assert chosen.sum() == 30


def test_a_budget_for_the_best_of_everything_gives_it():
    worth = np.array([[0.1, 0.9], [0.9, 0.1]])
    assert within_budget(worth, np.array([1.0, 9.0]), 5.0).tolist() == [1, 0]


def test_of_equally_cheap_models_the_better_one_is_asked():
    assert within_budget(np.array([[0.1, 0.5, 0.9]]), np.array([1.0, 1.0, 9.0]), 1.0) == [1]


@pytest.mark.parametrize("budget", [0.9, 0.0, float("nan")])
def test_a_budget_below_the_cheapest_choice_is_refused(budget):
    with pytest.raises(SpecError, match="which the cheapest model costs") as raised:
        within_budget(np.ones((2, 2)), np.array([1.0, 2.0]), budget)
    assert f"{budget:g}" in raised.value.found
    assert "at least 1," in raised.value.expected


def test_a_budget_that_is_just_enough_is_not_missed_by_rounding():
    # Six times 0.3 adds up to more than 6 · 0.3 by the last bit.
    costs = np.array([0.1, 0.3])
    assert costs[[1] * 6].sum() > 6 * 0.3
    assert within_budget(np.tile([0.2, 0.9], (6, 1)), costs, 0.3).tolist() == [1] * 6


def test_alike_questions_go_to_the_model_that_gives_most_for_the_money():
    worth = np.tile([0.1, 0.8, 0.9], (100, 1))
    chosen = within_budget(worth, np.array([1.0, 2.0, 10.0]), 1.5)
    # Not to the best one, although it too could be paid for some of them.
    assert np.bincount(chosen).tolist() == [50, 50]


def test_what_is_left_goes_to_the_question_that_gains_most_by_it():
    # One question gets the dearest model for 3; 1 is left for the better of the other two.
    worth = np.array([[0.0, 0.1, 3.0], [0.0, 0.2, 3.0], [0.0, 0.1, 9.0]])
    assert within_budget(worth, np.array([0.0, 1.0, 3.0]), 4 / 3).tolist() == [0, 1, 2]


def test_who_gets_no_dearer_model_keeps_the_best_of_the_cheapest():
    worth = np.tile([0.0, 0.5, 0.6, 0.99], (3, 1))
    chosen = within_budget(worth, np.array([1.0, 1.0, 2.0, 2.5]), 1.4)
    assert chosen.tolist() == [2, 1, 1]
