from itertools import product

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy.optimize import linprog

from scope.jobs.fleet.routing import (
    route_questions,
    router_scores,
    single_best,
    within_budget,
)
from scope.records import Undefined
from scope.records.fleet import BEST_PER_BENCHMARK, ORACLE, ROUTER, SAME_MIX, SINGLE_BEST


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
def test_the_budget_is_kept_and_the_best_choice_missed_by_less_than_one_questions_gain(problem):
    worth, costs, budget = problem
    chosen = within_budget(worth, costs, budget)
    assert costs[chosen].mean() <= budget + 1e-9
    found = total(worth, chosen)
    best = best_of_all(worth, costs, budget)
    assert found <= best + 1e-9
    one_question = (worth.max(axis=1) - worth.min(axis=1)).max()
    bound = relaxed(worth, costs, budget)
    assert best <= bound + 1e-6
    assert found >= bound - one_question - 1e-6


def test_a_budget_that_is_just_enough_is_not_missed_by_rounding():
    # Six times 0.3 adds up to more than 6 · 0.3 by the last bit.
    costs = np.array([0.1, 0.3])
    assert costs[[1] * 6].sum() > 6 * 0.3
    assert within_budget(np.tile([0.2, 0.9], (6, 1)), costs, 0.3).tolist() == [1] * 6


def test_what_is_left_goes_to_the_question_that_gains_most_by_it():
    # One question gets the dearest model for 3; 1 is left for the better of the other two.
    worth = np.array([[0.0, 0.1, 3.0], [0.0, 0.2, 3.0], [0.0, 0.1, 9.0]])
    assert within_budget(worth, np.array([0.0, 1.0, 3.0]), 4 / 3).tolist() == [0, 1, 2]


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


def test_the_single_best_is_the_most_skilled_that_can_be_paid():
    skills, costs = [0.7, 0.9, 0.8, 0.8], [1, 9, 5, 4]
    assert single_best(skills) == single_best(skills, costs) == 1
    assert single_best(skills, costs, budget=8.9) == 3
    assert single_best(skills, costs, budget=1) == 0


NAN = np.nan
ANSWERS = np.array([[1, 0, 0], [0, 1, 0], [0, 0, 0], [1, 1, 1]], dtype=np.float32)
CHOSEN = np.array([0, 1, 1, 1])


def by_router(answers=ANSWERS, chosen=CHOSEN, category=None, **options):
    models, ids = "abcd"[: answers.shape[1]], [f"q{row}" for row in range(len(answers))]
    scores = router_scores(chosen, answers, ids, models=models, single=0, **options)
    return {score.router: score for score in scores if score.category == category}


def test_four_ways_to_route_by_hand():
    found = by_router(costs=[4, 2, 1])
    values = {name: (one.accuracy.value, one.cost) for name, one in found.items()}
    assert values == {
        ROUTER: (0.75, (4 + 2 + 2 + 2) / 4),
        SINGLE_BEST: (0.5, 4),
        # A quarter to a, three quarters to b: 1/4, 3/4, 0 and 1 on the four questions.
        SAME_MIX: (0.5, 0.25 * 4 + 0.75 * 2),
        # The cheapest right one of each question, and the cheapest where none is right.
        ORACLE: (0.75, (4 + 2 + 1 + 1) / 4),
    }
    assert found[SINGLE_BEST].model == "a"
    assert found[ROUTER].gain is None
    gains = [found[name].gain for name in (SINGLE_BEST, SAME_MIX, ORACLE)]
    assert [(gain.value, gain.n) for gain in gains] == [(0.25, 4), (0.25, 4), (0, 4)]
    assert by_router()[ROUTER].cost is None


def test_a_question_counts_only_where_the_answer_it_gets_is_known():
    answers = ANSWERS.copy()
    answers[1, 1] = NAN
    found = by_router(answers)
    assert (found[ROUTER].accuracy.n, found[ROUTER].accuracy.value) == (3, 2 / 3)
    assert found[SINGLE_BEST].accuracy.n == 4
    assert found[SINGLE_BEST].gain.n == 3
    # Only a and its quarter are known there, and a is wrong.
    assert found[SAME_MIX].accuracy.value == (0.25 + 0 + 0 + 1) / 4


def test_an_oracle_is_judged_by_the_answers_that_are_known():
    answers = np.array([[NAN, NAN, 0], [NAN, 1, NAN]], dtype=np.float32)
    found = by_router(answers, chosen=np.array([0, 0]))
    assert (found[ORACLE].accuracy.value, found[ORACLE].accuracy.n) == (0.5, 2)
    assert isinstance(found[ROUTER].accuracy, Undefined)
    assert isinstance(found[ORACLE].gain, Undefined)
    # All questions go to the first model, of which no answer is known.
    assert isinstance(found[SAME_MIX].accuracy, Undefined)


def test_a_category_keeps_the_mix_of_all_questions():
    categories = ["law", "art", "art", None]
    found = by_router(categories=categories, category="law", costs=[4, 2, 1])
    assert found[ROUTER].accuracy.value == 1
    # Not 1, which the mix of this category alone would give.
    assert found[SAME_MIX].accuracy.value == 0.25
    assert found[SAME_MIX].cost == 2.5
    assert by_router(categories=categories, category="art")[ROUTER].accuracy.n == 2


def test_the_best_of_each_benchmark_is_known_from_the_same_answers():
    categories = ["law", "art", "art", None]
    found = by_router(categories=categories, costs=[4, 2, 1])
    best = found[BEST_PER_BENCHMARK]
    # a in law; in art b, right once of twice; the last question has no category.
    assert (best.accuracy.value, best.accuracy.n) == (pytest.approx(2 / 3), 3)
    art = by_router(categories=categories, category="art")[BEST_PER_BENCHMARK]
    assert (art.accuracy.value, art.gain.value) == (0.5, 0)


@st.composite
def routed(draw):
    generator = np.random.default_rng(draw(st.integers(0, 10_000)))
    questions, models = draw(st.integers(1, 8)), draw(st.integers(1, 4))
    values = [0, 1, NAN] if draw(st.booleans()) else [0, 1]
    answers = generator.choice(values, size=(questions, models)).astype(np.float32)
    return generator.integers(0, models, size=questions), answers


@given(routed())
def test_a_random_router_is_the_mean_of_very_many_draws_of_its_mix(made):
    chosen, answers = made
    if np.isnan(answers).any():
        return
    shares = [np.mean(chosen == column) for column in range(answers.shape[1])]
    expected = sum(share * answers[:, column].mean() for column, share in enumerate(shares))
    assert by_router(answers, chosen)[SAME_MIX].accuracy.value == pytest.approx(expected)


@given(routed())
def test_all_to_one_model_makes_three_routers_one(made):
    _, answers = made
    found = by_router(answers, np.zeros(len(answers), dtype=np.int64))
    assert found[ROUTER].accuracy == found[SINGLE_BEST].accuracy == found[SAME_MIX].accuracy


def test_of_equal_scores_the_cheaper_model_is_asked_then_the_earlier_one():
    scores = np.array([[0.9, 0.8, 0.7], [0.1, 0.6, 0.6], [0.5, 0.5, 0.5]])
    assert route_questions(scores, costs=[3, 2, 1]).tolist() == [0, 2, 2]
    assert route_questions(scores, costs=[1, 1, 1]).tolist() == [0, 1, 0]
