"""Routing on small fleets of means, which need no encoder."""

import numpy as np
import pytest
from hypothesis import given, strategies as st

import scope
from scope.jobs.fleet.forecast import route_questions, router_scores, routing_note
from scope.jobs.fleet.questions import QuestionLayout
from scope.jobs.fleet.text_factors import TextFactors
from scope.records import Undefined
from scope.records.fleet import BEST_PER_BENCHMARK, ORACLE, ROUTER, SAME_MIX, SINGLE_BEST

EASY = 20
QUESTIONS = 200
USUAL = [f"usual-{number}" for number in range(10)]


@pytest.fixture
def save(write, tmp_path, monkeypatch):
    """Writes answers by model and question as a long table; gives its path."""
    monkeypatch.chdir(tmp_path)

    def written(name, answers):
        lines = (f"{model},{question},{right}" for model, question, right in answers)
        return str(write(name, "model,id,correct", *lines))

    return written


def right(share, number):
    """Every question below 20 is easy; of the others every so many-th is answered correctly."""
    return int(number < EASY or (number * 37 % 100) < 100 * share)


def learned(usual=0.5, best=0.85):
    shares = {"best": best, **{name: usual + 0.01 * place for place, name in enumerate(USUAL)}}
    return [
        (name, f"q{number}", right(share, number))
        for name, share in shares.items()
        for number in range(QUESTIONS)
    ]


def asked(strong):
    """New questions on which one model alone is always right."""
    return [
        (name, f"new{number}", int(name == strong or number % 3 == 0))
        for name in ("best", *USUAL)
        for number in range(30)
    ]


def single_best(result):
    whole = (score for score in result.routers if score.category is None)
    return next(score for score in whole if score.router == "single best")


EASY_ONES = [("lucky", f"q{number}", 1) for number in range(EASY)]


@pytest.mark.parametrize("added", [True, False])
def test_a_lucky_model_of_few_or_easy_questions_is_not_the_single_best(save, added):
    """It is added to the fleet, or was there from the beginning with three answers."""
    data = save("train.csv", learned() if added else [*learned(), *EASY_ONES[:3]])
    scope.embed_fleet(data=data, forecaster="mean", run="ours")
    found = scope.route_fleet(
        fleet="ours",
        add=save("lucky.csv", EASY_ONES) if added else None,
        questions=save("new.csv", asked("usual-0")),
        run="routed",
    )
    assert single_best(found).model == "best"
    assert [model.name for model in found.fleet if model.added] == ["lucky"] * added


@pytest.mark.parametrize("strong", ["usual-0", "usual-9"])
def test_the_single_best_is_chosen_without_the_answers_it_is_judged_by(save, strong):
    scope.embed_fleet(data=save("train.csv", learned()), forecaster="mean", run="ours")
    found = scope.route_fleet(fleet="ours", questions=save("new.csv", asked(strong)), run="to")
    score = single_best(found)
    assert score.model == "best"
    assert score.accuracy.value == pytest.approx(1 / 3)


@pytest.mark.parametrize(
    ("weights", "told"),
    [
        ([0.0], "only the models' skills"),
        ([0.5], "from cross-validation is 0.50 (at most 1)"),
        # Of two categories, and of questions without one.
        ([0.0, 0.5, 0.5], "the weight is 0 for `arc`, where it is harmful"),
    ],
)
def test_a_note_gives_the_weight_of_the_text_and_where_skill_alone_decides(weights, told):
    categories = ("arc", "gsm8k")[: len(weights) - 1]
    forecaster = TextFactors(layout=QuestionLayout(vector=1, categories=categories))
    forecaster.route_weights_ = np.array(weights)
    assert told in routing_note(forecaster)


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
