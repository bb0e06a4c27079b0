import numpy as np
import pytest
import toy_fleet
from hypothesis import given, strategies as st
from scipy.optimize import minimize

from scope.jobs.fleet.matrix_factorization import (
    MatrixFactorization,
    most_probable_vectors,
    spread_of,
    train_bilinear,
)
from scope.models.torch_setup import load_torch


def settings(**changes):
    usual = {"dimensions": 8, "epochs": 5, "batch": 32, "learning_rate": 0.01, "noise": 0.0}
    return MatrixFactorization(
        layout=toy_fleet.LAYOUT, **{**usual, "weight_decay": 0.1, "seed": 3, **changes}
    )


def published(table, answers, settings):
    """The published network and training: every pair of a question and a model by itself."""
    torch = load_torch()
    torch.manual_seed(settings.seed)
    of_models = torch.nn.Embedding(answers.shape[1], settings.dimensions)
    projection = torch.nn.Linear(table.shape[1], settings.dimensions)
    output = torch.nn.Linear(settings.dimensions, 2)
    network = torch.nn.ModuleList([of_models, projection, output])
    adam = torch.optim.Adam(
        network.parameters(), lr=settings.learning_rate, weight_decay=settings.weight_decay
    )
    rows, models = map(torch.tensor, np.nonzero(~np.isnan(answers)))
    right = torch.tensor(answers)[rows, models].long()
    vectors = torch.tensor(table)

    def logits(questions, of):
        return output(of_models(of) * projection(vectors[questions]))

    for _ in range(settings.epochs):
        for batch in torch.randperm(len(rows)).split(settings.batch):
            adam.zero_grad()
            loss = torch.nn.functional.cross_entropy
            loss(logits(rows[batch], models[batch]), right[batch]).backward()
            adam.step()
    everything = torch.cartesian_prod(torch.arange(len(table)), torch.arange(answers.shape[1]))
    wrong, right_ones = logits(*everything.T).detach().numpy().T
    return (right_ones - wrong).reshape(answers.shape)


def logits_of(network, table):
    projected = table @ network.projection + network.shift
    return projected @ network.model_vectors.T + network.constant


def test_it_learns_what_the_published_network_does():
    table, answers = toy_fleet.fleet()
    found = logits_of(train_bilinear(table, answers, settings()), table)
    assert found == pytest.approx(published(table, answers, settings()), abs=1e-3)


def test_noise_changes_what_is_learned_and_nothing_of_the_table():
    table, answers = toy_fleet.fleet()
    before = table.copy()
    plain, noisy = (train_bilinear(table, answers, settings(noise=noise)) for noise in (0.0, 0.1))
    assert not np.array_equal(plain.projection, noisy.projection)
    assert np.array_equal(table, before)


FAST = {"dimensions": 8, "epochs": 40, "batch": 64, "learning_rate": 0.02}


def made(**parameters):
    return MatrixFactorization(layout=toy_fleet.LAYOUT, **{**FAST, **parameters})


def test_a_forecast_is_the_logistic_of_vectors_times_projected_question():
    table, answers = toy_fleet.fleet()
    fitted = made().fit(table, answers)
    question, model = table[3].astype(np.float64), 2
    logit = fitted.model_vectors_[model] @ (question @ fitted.projection_ + fitted.shift_)
    logit += fitted.constant_
    found = fitted.predict_proba(table)[3, model]
    assert found == pytest.approx(1 / (1 + np.exp(-logit)), abs=1e-5)
    assert fitted.model_vectors_.shape == (6, 8)


def test_places_are_a_difference_of_logits_apart():
    table, answers = toy_fleet.fleet(questions=200)
    fitted = made().fit(table, answers)
    chances = fitted.predict_proba(table).astype(np.float64)
    logits = np.log(chances / (1 - chances))
    apart = ((logits[:, 1] - logits[:, 4]) ** 2).mean()
    assert ((fitted.places_[1] - fitted.places_[4]) ** 2).sum() == pytest.approx(apart, rel=1e-2)


def drawn(seed, models=30, dimensions=4, questions=50):
    generator = np.random.default_rng(seed)
    spread = spread_of(generator.standard_normal((models, dimensions)).astype(np.float32) + 1)
    coordinates = generator.standard_normal((questions, dimensions)).astype(np.float32)
    offsets = generator.standard_normal(questions).astype(np.float32)
    answers = generator.integers(0, 2, size=(questions, 3)).astype(np.float32)
    answers[generator.random(answers.shape) < 0.2] = np.nan
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


def test_the_spread_is_the_covariances_root():
    vectors = np.random.default_rng(0).standard_normal((40, 3)).astype(np.float32) * [1, 2, 3]
    mean, root = spread_of(vectors.astype(np.float32))
    assert mean == pytest.approx(vectors.mean(axis=0), abs=1e-6)
    assert root @ root.T == pytest.approx(np.cov(vectors.T), abs=1e-4)


@pytest.mark.parametrize("models", [1, 2, 3])
def test_fewer_models_than_dimensions_have_a_spread(models):
    vectors = np.random.default_rng(0).standard_normal((models, 8)).astype(np.float32)
    spread = spread_of(vectors)
    assert np.isfinite(spread.root).all()
    # A new model is let differ as those of the fleet do, and hardly otherwise.
    assert np.linalg.matrix_rank(spread.root, tol=0.01) == (8 if models == 1 else models - 1)
