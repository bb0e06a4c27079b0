import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scope.fleet.forecasters import response_model
from scope.fleet.forecasters.response_model import fit_responses

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
    monkeypatch.setattr(response_model, "_AT_ONCE", 64)
    in_parts = fit_responses(answers, 3)
    for whole, parts in zip(at_once, in_parts, strict=True):
        assert parts == pytest.approx(whole, abs=1e-5)
