"""The forecaster as a whole: signal found, none invented, models added, bytes kept."""

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from scope.errors import SpecError
from scope.jobs.fleet.questions import QuestionLayout
from scope.jobs.fleet.text_factors import TextFactors, left_out_forecasts

LAYOUT = QuestionLayout(vector=6, features=("length", "digits"), categories=("a", "b", "c"))


def fleet(seed=0, questions=300, models=12, layout=LAYOUT, signal=1.0):
    """Questions, and answers that follow from vector, features and category, or from skill only."""
    generator = np.random.default_rng(seed)
    table = generator.normal(size=(questions, layout.width)).astype(np.float32)
    if layout.categories:
        table[:, -1] = generator.integers(0, len(layout.categories), size=questions)
    taste = np.random.default_rng(99).normal(size=(layout.width, models))
    chance = 1 / (1 + np.exp(-np.linspace(-1, 1, models) - signal * table @ taste))
    return table, (generator.random(chance.shape) < chance).astype(np.float32)


def test_forecasts_of_the_training_questions_have_the_mean_of_their_factors():
    table, answers = fleet(questions=100)
    factors = TextFactors(layout=LAYOUT).fit(table, answers)
    coordinates = factors.model_vectors_[:, 1:]
    expected = factors.skills_ + factors.question_vectors_.mean(axis=0) @ coordinates.T
    forecasts = factors._forecasts(table, np.ones(100))
    np.testing.assert_allclose(forecasts.mean(axis=0), expected, atol=1e-4)


def test_texts_that_tell_nothing_leave_exactly_the_means():
    table, answers = fleet(signal=0.0)
    forecaster = TextFactors(layout=LAYOUT, guard=3.0).fit(table[:200], answers[:200])
    expected = np.tile(answers[:200].mean(axis=0), (100, 1))
    assert (forecaster.predict_proba(table[200:]) == expected).all()
    assert (forecaster.routing_scores(table[200:]) == expected).all()


def test_one_seed_gives_the_same_bytes_and_another_other_landmarks():
    table, answers = fleet(questions=150)
    made = [
        TextFactors(layout=LAYOUT, landmarks=40, seed=seed).fit(table, answers)
        for seed in (1, 1, 2)
    ]
    first, again, other = (one.predict_proba(table).tobytes() for one in made)
    assert first == again != other


def test_the_bytes_are_the_same_for_any_number_of_threads():
    table, answers = fleet(questions=600)
    found = set()
    for threads in (1, 3):
        with threadpool_limits(threads):
            forecaster = TextFactors(layout=LAYOUT).fit(table, answers)
            found.add(forecaster.predict_proba(table).tobytes())
            found.add(forecaster.predict_proba(table).tobytes())
    assert len(found) == 1


def test_answers_may_be_unknown_anywhere():
    table, answers = fleet(questions=600)
    known = np.where(np.random.default_rng(0).random((400, 12)) < 0.7, np.nan, answers[:400])
    known[5] = np.nan
    forecaster = TextFactors(layout=LAYOUT).fit(table[:400], known.astype(np.float32))
    means = (np.nanmean(known, axis=0) > 0.5) == answers[400:]
    assert forecaster.score(table[400:], answers[400:]) > means.mean() + 0.05


@pytest.mark.parametrize(
    "layout",
    [
        QuestionLayout(vector=6, features=("length",)),
        QuestionLayout(vector=6, categories=("a", "b")),
        QuestionLayout(vector=0, features=("length", "digits")),
    ],
)
def test_features_and_categories_may_be_missing(layout):
    table, answers = fleet(layout=layout)
    forecaster = TextFactors(layout=layout).fit(table[:200], answers[:200])
    assert forecaster.mix_[1] == 0 or layout.categories
    assert forecaster.mix_[2] == 0 or layout.features
    means = (answers[:200].mean(axis=0) > 0.5) == answers[200:]
    assert forecaster.score(table[200:], answers[200:]) > means.mean() + 0.02


def test_two_models_and_six_questions_will_do():
    table, answers = fleet(questions=6, models=2)
    answers[:2] = np.eye(2)
    forecaster = TextFactors(layout=LAYOUT).fit(table, answers)
    chances = forecaster.predict_proba(table)
    assert chances.shape == (6, 2)
    assert ((chances >= 0) & (chances <= 1)).all()
    assert forecaster.added(np.array([0]), np.float32([[1]])).predict_proba(table).shape == (6, 3)


def test_twins_do_not_teach_it_to_trust_the_text():
    generator = np.random.default_rng(0)
    layout = QuestionLayout(vector=4)
    table = np.repeat(generator.standard_normal((100, 4)), 3, axis=0)
    coins = np.repeat(generator.integers(0, 2, size=(100, 8)), 3, axis=0)
    # With twins on both sides every coin would be predicted, and any guard be passed.
    forecaster = TextFactors(layout=layout, guard=2.0).fit(table, coins.astype(np.float32))
    assert forecaster.predict_proba(table[:1])[0] == pytest.approx(coins.mean(axis=0))
    assert forecaster.route_weights_.tolist() == [0]


def test_fewer_different_questions_than_folds_will_do_but_not_one():
    layout = QuestionLayout(vector=1)
    table = np.float32([[0], [1], [0], [1], [2]])
    answers = np.float32([[1, 0], [0, 1], [1, 0], [0, 1], [1, 1]])
    assert TextFactors(layout=layout).fit(table, answers).predict(table).shape == (5, 2)
    with pytest.raises(SpecError, match="1 folds of 1 different questions"):
        TextFactors(layout=layout).fit(np.ones((5, 1)), answers)


def test_left_out_questions_tell_nothing_about_their_own_forecasts():
    generator = np.random.default_rng(0)
    inputs = generator.normal(size=(40, 3)).astype(np.float32)
    answers = generator.integers(0, 2, size=(40, 5)).astype(np.float32)
    # A question that nobody answered is left aside.
    answers[7] = np.nan
    folds = np.arange(40) % 4
    changed = answers.copy()
    changed[folds == 1] = 1 - changed[folds == 1]
    first, second = (
        left_out_forecasts(inputs, given, np.arange(40), folds, dimensions=2, guard=0.5)
        for given in (answers, changed)
    )
    assert first.numbers.tolist() == [row for row in range(40) if row != 7]
    out = folds[first.numbers] == 1
    assert (first.forecasts[out] == second.forecasts[out]).all()
    assert (first.means[out] == second.means[out]).all()
    assert not (first.means[~out] == second.means[~out]).all()
