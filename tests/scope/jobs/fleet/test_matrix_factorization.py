import numpy as np
import pytest
import toy_fleet

from scope.jobs.fleet.matrix_factorization import MatrixFactorization, train_bilinear
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
            given = logits(rows[batch], models[batch])
            torch.nn.functional.cross_entropy(given, right[batch]).backward()
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


@pytest.mark.slow
def test_a_model_added_with_its_answers_is_predicted_as_one_that_was_there():
    table, answers = toy_fleet.fleet(questions=300, models=40)
    everything = made(batch=256).fit(table, answers)
    without = made(batch=256).fit(table, answers[:, :-1])
    rows = np.arange(0, 300, 2)
    larger = without.added(rows, answers[rows][:, -1:])
    unseen = table[1::2], answers[1::2]
    known = ~np.isnan(unseen[1][:, -1])
    right = unseen[1][known, -1]
    # The other one was fitted on these very answers.
    theirs = ((everything.predict(unseen[0])[known, -1]) == right).mean()
    ours = ((larger.predict(unseen[0])[known, -1]) == right).mean()
    assert ours > theirs - 0.1
    before = without.predict_proba(table)
    assert larger.predict_proba(table)[:, :-1] == pytest.approx(before, abs=1e-6)
