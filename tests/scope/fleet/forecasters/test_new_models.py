import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize

from scope.fleet.forecasters.new_models import Spread, most_probable_vectors, spread_of

NAN = np.nan


def drawn(seed, models=30, dimensions=4, questions=50):
    generator = np.random.default_rng(seed)
    spread = spread_of(generator.standard_normal((models, dimensions)).astype(np.float32) + 1)
    coordinates = generator.standard_normal((questions, dimensions)).astype(np.float32)
    offsets = generator.standard_normal(questions).astype(np.float32)
    answers = generator.integers(0, 2, size=(questions, 3)).astype(np.float32)
    answers[generator.random(answers.shape) < 0.2] = NAN
    return spread, coordinates, offsets, answers


@given(st.integers(0, 1000), st.integers(1, 60))
def test_the_most_probable_vector_is_that_of_a_general_optimizer(seed, questions):
    # Fewer and more answers than dimensions take different ways.
    spread, coordinates, offsets, answers = drawn(seed, questions=questions)
    precision = np.linalg.inv((spread.root @ spread.root.T).astype(np.float64))
    for found, right in zip(
        most_probable_vectors(spread, coordinates, offsets, answers), answers.T, strict=True
    ):
        seen = ~np.isnan(right)

        def cost(vector, seen=seen, right=right):
            logits = offsets[seen] + coordinates[seen] @ vector
            away = vector - spread.mean
            return (np.logaddexp(0, logits) - right[seen] * logits).sum() + (
                away @ precision @ away
            ) / 2

        assert cost(found) <= minimize(cost, spread.mean.astype(np.float64)).fun + 1e-4


def test_without_answers_it_is_the_fleets_mean():
    spread, coordinates, offsets, _ = drawn(0)
    found = most_probable_vectors(
        spread, coordinates, offsets, np.full((50, 1), NAN, dtype=np.float32)
    )
    assert found[0] == pytest.approx(spread.mean)


def test_models_do_not_change_each_others_place():
    spread, coordinates, offsets, answers = drawn(1)
    together = most_probable_vectors(spread, coordinates, offsets, answers)
    alone = [
        most_probable_vectors(spread, coordinates, offsets, answers[:, [model]])[0]
        for model in range(3)
    ]
    assert together.tobytes() == np.array(alone).tobytes()


def test_answers_that_are_all_right_give_finite_places():
    spread, coordinates, offsets, answers = drawn(2)
    found = most_probable_vectors(spread, 100 * coordinates, offsets, np.ones_like(answers))
    assert np.isfinite(found).all()


def test_the_spread_is_the_covariances_root():
    vectors = np.random.default_rng(0).standard_normal((40, 3)).astype(np.float32) * [1, 2, 3]
    mean, root = spread_of(vectors.astype(np.float32))
    assert mean == pytest.approx(vectors.mean(axis=0), abs=1e-6)
    assert root @ root.T == pytest.approx(np.cov(vectors.T), abs=1e-4)


@pytest.mark.parametrize("models", [1, 2, 3])
def test_fewer_models_than_dimensions_have_a_spread(models):
    vectors = np.random.default_rng(0).standard_normal((models, 8)).astype(np.float32)
    spread = spread_of(vectors)
    assert isinstance(spread, Spread)
    assert np.isfinite(spread.root).all()
    # A new model is let differ as those of the fleet do, and hardly otherwise.
    assert np.linalg.matrix_rank(spread.root, tol=0.01) == (8 if models == 1 else models - 1)
