from pathlib import Path

import numpy as np
import pytest
import toy_fleet
from hypothesis import given, strategies as st

from scope.errors import DataError
from scope.fleet.forecasters import item_response
from scope.fleet.forecasters.baselines import MeanForecaster, accuracies
from scope.fleet.forecasters.factorization import shrunk_skills
from scope.fleet.forecasters.item_response import ItemResponse, fit_responses
from scope.fleet.layout import QuestionLayout

NAN = np.nan


def simulated(dimensions=2, questions=400, models=150, seed=0):
    """Answers drawn from the model itself, with the truth behind them."""
    generator = np.random.default_rng(seed)
    abilities = generator.standard_normal((models, dimensions))
    easiness = generator.standard_normal(questions)
    discriminations = generator.standard_normal((questions, dimensions)) + 0.5
    chances = 1 / (1 + np.exp(-(easiness[:, None] + discriminations @ abilities.T)))
    return (generator.random(chances.shape) < chances).astype(np.float32), chances


def chances_of(found):
    logits = found.easiness[:, None] + found.discriminations @ found.abilities.T
    return 1 / (1 + np.exp(-logits))


@pytest.mark.parametrize("unknown", [0.0, 0.5])
def test_the_chances_behind_the_answers_are_found_again(unknown):
    answers, chances = simulated()
    answers[np.random.default_rng(1).random(answers.shape) < unknown] = NAN
    found = chances_of(fit_responses(answers, 2))
    assert np.corrcoef(found.ravel(), chances.ravel())[0, 1] > 0.9
    assert np.sqrt(((found - chances) ** 2).mean()) < 0.15


def test_each_ability_has_mean_0_and_variance_1():
    found = fit_responses(simulated()[0], 3)
    assert found.abilities.mean(axis=0) == pytest.approx([0, 0, 0], abs=1e-5)
    assert found.abilities.std(axis=0) == pytest.approx([1, 1, 1], abs=1e-4)


@given(st.integers(0, 100))
def test_of_one_dimension_the_better_model_is_the_abler(seed):
    generator = np.random.default_rng(seed)
    skill = np.linspace(0.05, 0.95, 8)
    answers = (generator.random((300, 8)) < skill).astype(np.float32)
    abilities = fit_responses(answers, 1).abilities[:, 0]
    assert np.argsort(abilities).tolist() == np.argsort(answers.mean(axis=0)).tolist()


def test_models_that_are_all_right_or_all_wrong_have_finite_abilities():
    answers = np.tile([1, 0, 1], (50, 1)).astype(np.float32)
    found = fit_responses(answers, 3)
    assert all(np.isfinite(part).all() for part in found)
    assert chances_of(found)[:, 0].min() > 0.8
    assert chances_of(found)[:, 1].max() < 0.2


def test_models_and_questions_without_answers_do_no_harm():
    answers, _ = simulated(questions=60, models=9)
    answers[3], answers[:, 4] = NAN, NAN
    assert all(np.isfinite(part).all() for part in fit_responses(answers, 2))


def test_many_abilities_are_found_some_questions_at_a_time(monkeypatch):
    answers, _ = simulated(questions=60, models=20)
    at_once = fit_responses(answers, 3)
    # Room for four questions, or four models, of four numbers each.
    monkeypatch.setattr(item_response, "_AT_ONCE", 64)
    in_parts = fit_responses(answers, 3)
    for whole, parts in zip(at_once, in_parts, strict=True):
        assert parts == pytest.approx(whole, abs=1e-5)


TESTS = Path(toy_fleet.__file__).parent


def made(**parameters):
    return ItemResponse(layout=toy_fleet.LAYOUT, **{"dimensions": 2, **parameters})


def test_unseen_questions_are_predicted_better_than_by_the_mean():
    table, answers = toy_fleet.fleet(questions=400, models=30)
    fitted = made().fit(table[:300], answers[:300])
    mean = MeanForecaster(layout=toy_fleet.LAYOUT).fit(table[:300], answers[:300])
    assert fitted.helps_ is True
    gain = fitted.score(table[300:], answers[300:]) - mean.score(table[300:], answers[300:])
    assert gain > 0.05


def test_probabilities_are_as_bold_as_the_text_allows():
    table, answers = toy_fleet.fleet(questions=1200, models=30, unknown=0.0)
    # Half of the vector is hidden: parameters predicted from the rest are far from the true ones.
    half = ItemResponse(layout=QuestionLayout(vector=2)).fit(table[:200, :2], answers[:200])
    found = half.predict_proba(table[200:, :2])
    right = (found > 0.5) == (answers[200:] == 1)
    # Without the slope the mean of the bolder chance would be 0.76, and 0.70 of them came true.
    assert np.maximum(found, 1 - found).mean() == pytest.approx(right.mean(), abs=0.02)


def test_where_the_text_says_nothing_the_forecasts_are_the_skills():
    table, answers = toy_fleet.fleet(questions=200)
    shuffled = np.random.default_rng(0).permutation(answers)
    fitted = made().fit(table, shuffled)
    assert fitted.helps_ is False
    assert fitted.predict_proba(table[:1])[0] == pytest.approx(shrunk_skills(answers))
    assert fitted.routing_scores(table[:1])[0] == pytest.approx(shrunk_skills(answers))


def test_a_router_is_not_led_by_a_model_with_a_few_lucky_answers():
    table, answers = toy_fleet.fleet(questions=200, unknown=0.0)
    shuffled = np.random.default_rng(0).permutation(answers)
    best, lucky = np.argsort(shuffled.mean(axis=0))[[-1, 0]]
    shuffled[:, lucky] = NAN
    shuffled[:3, lucky] = 1
    fitted = made().fit(table, shuffled)
    assert fitted.skills_[lucky] < fitted.skills_[best] < 1
    assert (fitted.routing_scores(table).argmax(axis=1) == best).all()


def test_places_weigh_an_ability_by_what_it_decides():
    """A second ability that decides little is scaled like the first, and shows far less."""
    generator = np.random.default_rng(1)
    abilities = generator.standard_normal((40, 2)) * (2.0, 0.2)
    asked = generator.standard_normal((500, 2))
    asked[:, 0] += 2
    chances = 1 / (1 + np.exp(-(asked @ abilities.T)))
    answers = (generator.random(chances.shape) < chances).astype(np.float32)
    table = generator.standard_normal((500, 4)).astype(np.float32)
    fitted = made().fit(table, answers)
    assert fitted.model_vectors_.std(axis=0) == pytest.approx([1, 1], abs=1e-3)
    strengths = np.linalg.svd(fitted.places_ - fitted.places_.mean(axis=0))[1]
    assert strengths[1] < 0.4 * strengths[0]
    logits = fitted.question_vectors_ @ fitted.model_vectors_.T
    apart = ((logits[:, 3] - logits[:, 7]) ** 2).mean()
    assert ((fitted.places_[3] - fitted.places_[7]) ** 2).sum() == pytest.approx(apart, rel=1e-3)


def test_twins_do_not_teach_it_to_trust_the_text():
    generator = np.random.default_rng(0)
    table = np.repeat(generator.standard_normal((100, 4)), 3, axis=0)
    coins = np.repeat(generator.integers(0, 2, size=(100, 8)), 3, axis=0)
    # With twins on both sides every coin would be predicted, and any guard be passed.
    fitted = made(guard=2.0).fit(table, coins.astype(np.float32))
    assert fitted.helps_ is False
    assert fitted.route_weights_.tolist() == [0]


def test_the_router_goes_by_the_text_only_where_that_proved_useful():
    table, answers = toy_fleet.fleet(questions=400, models=30, unknown=0.0)
    fitted = made().fit(table[:300], answers[:300])
    asked = fitted.routing_scores(table[300:]).argmax(axis=1)
    best = accuracies(answers[:300]).argmax()
    assert answers[300:][np.arange(100), asked].mean() > answers[300:, best].mean() + 0.05
    shuffled = np.random.default_rng(0).permutation(answers)
    blind = made().fit(table, shuffled)
    assert (blind.routing_scores(table).argmax(axis=1) == accuracies(answers).argmax()).all()


def test_features_and_category_count():
    table, answers = toy_fleet.fleet(questions=300, models=20)
    layout = QuestionLayout(vector=1, features=("one", "two"), categories=("a", "b"))
    codes = (table[:, 3] > 0).astype(np.float32)
    # The first number of the vector says little: the rest is told by the other columns.
    wide = np.column_stack([table[:, :1], table[:, 1:3], codes])
    blind = np.column_stack([table[:, :1], np.zeros((300, 3), dtype=np.float32)])
    with_all, without = (
        ItemResponse(layout=layout, dimensions=2).fit(seen[:200], answers[:200])
        for seen in (wide, blind)
    )
    gain = with_all.score(wide[200:], answers[200:]) - without.score(blind[200:], answers[200:])
    assert gain > 0.03


@pytest.mark.parametrize("helps", [True, False])
def test_a_further_model_is_predicted_about_as_well_as_the_others(helps):
    table, answers = toy_fleet.fleet(questions=300, models=30)
    if not helps:
        answers = np.random.default_rng(0).permutation(answers)
    fitted = made().fit(table, answers[:, :-1])
    assert fitted.helps_ is helps
    larger = fitted.added(np.arange(200), answers[:200, -1:])
    known = ~np.isnan(answers[200:, -1])
    right = (larger.predict(table[200:])[:, -1] == answers[200:, -1])[known].mean()
    assert right > fitted.score(table[200:], answers[200:, :-1]) - 0.1
    assert larger.model_vectors_.shape == (30, 2)
    assert fitted.model_vectors_.shape == (29, 2)
    assert larger.predict_proba(table)[:, :-1] == pytest.approx(
        fitted.predict_proba(table), abs=1e-6
    )


def test_a_new_process_gives_the_same_bytes():
    toy_fleet.assert_the_same_in_a_new_process(ItemResponse, dimensions=2)


@pytest.mark.parametrize(("models", "dimensions"), [(2, 2), (9, 4)])
def test_there_are_four_abilities_or_as_many_as_models(models, dimensions):
    fitted = ItemResponse(layout=toy_fleet.LAYOUT).fit(*toy_fleet.fleet(models=models))
    assert fitted.model_vectors_.shape == (models, dimensions)


def test_one_question_is_refused():
    table = np.ones((1, 4), dtype=np.float32)
    with pytest.raises(DataError, match="1 question"):
        made().fit(table, np.array([[1, 0]], dtype=np.float32))
    with pytest.raises(DataError, match="2 questions with one vector"):
        made().fit(np.ones((2, 4)), np.array([[1, 0], [0, 1]], dtype=np.float32))
