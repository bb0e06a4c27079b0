import numpy as np
import pytest
from hypothesis import given, strategies as st

from scope.jobs.fleet.routing import route_questions, router_scores
from scope.records import Undefined
from scope.records.fleet import BEST_PER_BENCHMARK, ORACLE, ROUTER, SAME_MIX, SINGLE_BEST


@given(st.integers(0, 10_000))
def test_renumbering_the_models_renumbers_the_routes(seed):
    generator = np.random.default_rng(seed)
    scores, costs = generator.random((6, 4)), generator.random(4)
    order = generator.permutation(4)
    plain, renumbered = (
        route_questions(scores, costs),
        route_questions(scores[:, order], costs[order]),
    )
    assert order[renumbered].tolist() == plain.tolist()


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
