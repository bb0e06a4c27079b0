import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scope.fleet.findings.routers import router_scores
from scope.records import Estimate, Undefined
from scope.records.fleet import ORACLE, ROUTER, SAME_MIX, SINGLE_BEST

NAN = np.nan
IDS = ["q1", "q2", "q3", "q4"]
MODELS = ["a", "b", "c"]
ANSWERS = np.array([[1, 0, 0], [0, 1, 0], [0, 0, 0], [1, 1, 1]], dtype=np.float32)
CHOSEN = np.array([0, 1, 1, 1])


def by_router(answers=ANSWERS, chosen=CHOSEN, category=None, **options):
    options = {"models": MODELS, "single": 0, **options}
    scores = router_scores(chosen, answers, IDS[: len(answers)], **options)
    return {score.router: score for score in scores if score.category == category}


def test_four_ways_to_route_by_hand():
    found = by_router()
    assert list(found) == [ROUTER, SINGLE_BEST, SAME_MIX, ORACLE]
    assert found[ROUTER].accuracy.value == 0.75
    assert found[SINGLE_BEST].accuracy.value == 0.5
    assert found[SINGLE_BEST].model == "a"
    # A quarter to a, three quarters to b: 1/4, 3/4, 0 and 1 on the four questions.
    assert found[SAME_MIX].accuracy.value == 0.5
    assert found[ORACLE].accuracy.value == 0.75


def test_gains_are_the_routers_over_each_other_way():
    found = by_router()
    assert found[ROUTER].gain is None
    assert {name: found[name].gain.value for name in (SINGLE_BEST, SAME_MIX, ORACLE)} == {
        SINGLE_BEST: 0.25,
        SAME_MIX: 0.25,
        ORACLE: 0.0,
    }
    assert all(found[name].gain.n == 4 for name in (SINGLE_BEST, SAME_MIX, ORACLE))


def test_without_costs_there_are_none():
    assert {score.cost for score in by_router().values()} == {None}


def test_costs_are_the_mean_of_what_is_asked():
    found = by_router(costs=[4, 2, 1])
    assert found[ROUTER].cost == (4 + 2 + 2 + 2) / 4
    assert found[SINGLE_BEST].cost == 4
    assert found[SAME_MIX].cost == 0.25 * 4 + 0.75 * 2
    # The cheapest right one of each question, and the cheapest where none is right.
    assert found[ORACLE].cost == (4 + 2 + 1 + 1) / 4


def test_a_question_counts_only_where_the_answer_it_gets_is_known():
    answers = ANSWERS.copy()
    answers[1, 1] = NAN
    found = by_router(answers)
    assert (found[ROUTER].accuracy.n, found[ROUTER].accuracy.value) == (3, 2 / 3)
    assert found[SINGLE_BEST].accuracy.n == 4
    assert found[SINGLE_BEST].gain.n == 3
    # Only a and its quarter are known there, and a is wrong.
    assert found[SAME_MIX].accuracy.value == (0.25 + 0 + 0 + 1) / 4


def test_a_question_that_nobody_answered_counts_nowhere():
    answers = ANSWERS.copy()
    answers[0] = NAN
    assert {score.accuracy.n for score in by_router(answers).values()} == {3}


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


def test_no_questions_are_undefined_and_cost_nothing_known():
    found = by_router(ANSWERS[:0], chosen=CHOSEN[:0], costs=[1, 2, 3])
    assert all(isinstance(score.accuracy, Undefined) for score in found.values())
    assert {score.cost for score in found.values()} == {None}


@st.composite
def routed(draw):
    generator = np.random.default_rng(draw(st.integers(0, 10_000)))
    questions, models = draw(st.integers(1, 8)), draw(st.integers(1, 4))
    values = [0, 1, NAN] if draw(st.booleans()) else [0, 1]
    answers = generator.choice(values, size=(questions, models)).astype(np.float32)
    return generator.integers(0, models, size=questions), answers


def scored(chosen, answers, **options):
    questions, models = answers.shape
    ids, names = [f"q{row}" for row in range(questions)], [f"m{row}" for row in range(models)]
    return router_scores(chosen, answers, ids, models=names, single=0, **options)


@given(routed())
def test_a_random_router_is_the_mean_of_very_many_draws_of_its_mix(made):
    chosen, answers = made
    if np.isnan(answers).any():
        return
    shares = [np.mean(chosen == column) for column in range(answers.shape[1])]
    expected = sum(share * answers[:, column].mean() for column, share in enumerate(shares))
    assert scored(chosen, answers)[2].accuracy.value == pytest.approx(expected)


@given(routed())
def test_no_way_to_route_beats_the_oracle_question_by_question(made):
    chosen, answers = made
    router, *_, oracle = scored(chosen, answers)
    if isinstance(router.accuracy, Estimate):
        assert oracle.gain.value <= 0
        assert oracle.gain.n == router.accuracy.n


@given(routed())
def test_all_to_one_model_makes_three_routers_one(made):
    _, answers = made
    router, single, drawn, _ = scored(np.zeros(len(answers), dtype=np.int64), answers)
    assert router.accuracy == single.accuracy == drawn.accuracy


@given(routed(), st.integers(0, 1000))
def test_the_order_of_questions_does_not_matter(made, seed):
    chosen, answers = made
    order = np.random.default_rng(seed).permutation(len(answers))
    for one, other in zip(
        scored(chosen, answers), scored(chosen[order], answers[order]), strict=True
    ):
        if isinstance(one.accuracy, Estimate):
            assert other.accuracy.value == pytest.approx(one.accuracy.value)
            assert other.accuracy.n == one.accuracy.n
        else:
            assert other.accuracy == one.accuracy


def test_lengths_that_do_not_go_together_are_refused():
    with pytest.raises(ValueError, match="3 choices, 4 questions"):
        by_router(chosen=CHOSEN[:3])
    with pytest.raises(ValueError, match="2 names for 3 models"):
        by_router(models=["a", "b"])
