import numpy as np
import pytest
import toy_fleet

from scope.fleet.forecasters.bilinear import Settings, train_bilinear
from scope.models.torch_setup import load_torch

SETTINGS = Settings(
    dimensions=8, epochs=5, batch=32, learning_rate=0.01, weight_decay=0.1, noise=0.0
)


def published(table, answers, settings, seed):
    """The published network and training: every pair of a question and a model by itself."""
    torch = load_torch()
    torch.manual_seed(seed)
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


def log_loss(network, table, answers):
    known = ~np.isnan(answers)
    logits = logits_of(network, table)[known]
    return (np.logaddexp(0, logits) - answers[known] * logits).mean()


def test_it_learns_what_the_published_network_does():
    table, answers = toy_fleet.fleet()
    found = logits_of(train_bilinear(table, answers, SETTINGS, 3), table)
    assert found == pytest.approx(published(table, answers, SETTINGS, 3), abs=1e-3)


def test_training_makes_the_loss_smaller():
    table, answers = toy_fleet.fleet()
    trained, started = (
        train_bilinear(table, answers, SETTINGS._replace(epochs=epochs, weight_decay=0), 0)
        for epochs in (30, 0)
    )
    assert log_loss(trained, table, answers) < 0.6 < 0.65 < log_loss(started, table, answers)


def test_noise_changes_what_is_learned_and_nothing_of_the_table():
    table, answers = toy_fleet.fleet()
    before = table.copy()
    plain, noisy = (
        train_bilinear(table, answers, SETTINGS._replace(noise=noise), 0) for noise in (0.0, 0.1)
    )
    assert not np.array_equal(plain.projection, noisy.projection)
    assert np.array_equal(table, before)


def test_torchs_own_generator_and_threads_stay_as_they_were():
    torch = load_torch()
    threads, state = torch.get_num_threads(), torch.random.get_rng_state()
    train_bilinear(*toy_fleet.fleet(), SETTINGS, 0)
    assert torch.get_num_threads() == threads
    assert torch.equal(torch.random.get_rng_state(), state)
