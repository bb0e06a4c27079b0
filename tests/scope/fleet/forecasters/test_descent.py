import numpy as np
import pytest
import toy_fleet

from scope.fleet.forecasters.bilinear import Bilinear
from scope.fleet.forecasters.descent import Held, Settings, descend, log_loss

SETTINGS = Settings(
    epochs=5, batch=32, learning_rate=0.01, weight_decay=0.0, noise=0.0, patience=None
)


def started(models=6):
    network = Bilinear(models, toy_fleet.LAYOUT.vector, 8, biases=False)
    network.start(np.random.default_rng(1))
    return network


def run(settings, held=None, network=None, **kinds):
    network = network or started()
    table, answers = toy_fleet.fleet(**kinds)
    loss = descend(network, table, answers, settings, np.random.default_rng(2), held)
    return network, loss


def test_one_batch_of_all_answers_moves_as_pytorch_does():
    import torch

    table, answers = toy_fleet.fleet()
    rows, models = np.nonzero(~np.isnan(answers))
    before = started()
    parts = {
        "models": before.model_vectors,
        "projection": before.projection,
        "shift": before.shift,
        "output": before.output,
        "constant": before.constant,
    }
    theirs = {name: torch.tensor(part.copy(), requires_grad=True) for name, part in parts.items()}
    oracle = torch.optim.Adam(theirs.values(), lr=0.01, weight_decay=0.1)
    for _ in range(3):
        projected = torch.tensor(table)[rows] @ theirs["projection"] + theirs["shift"]
        logits = (theirs["models"][models] * projected) @ theirs["output"].T + theirs["constant"]
        right = torch.tensor(answers[rows, models]).long()
        oracle.zero_grad()
        torch.nn.functional.cross_entropy(logits, right).backward()
        oracle.step()
    run(SETTINGS._replace(epochs=3, batch=10_000, weight_decay=0.1), network=before)
    for name, part in parts.items():
        assert part == pytest.approx(theirs[name].detach().numpy(), abs=1e-4)


def test_training_makes_the_loss_smaller():
    table, answers = toy_fleet.fleet()
    network, _ = run(SETTINGS._replace(epochs=30))
    assert log_loss(network.logits(table), answers) < 0.6
    assert log_loss(started().logits(table), answers) > 0.65


def test_noise_changes_what_is_learned():
    assert not np.array_equal(run(SETTINGS)[0].flat, run(SETTINGS._replace(noise=0.1))[0].flat)


EAGER = SETTINGS._replace(learning_rate=0.1, epochs=20)


@pytest.fixture(scope="module")
def losses():
    """The loss on questions held out after each epoch, each from a training of its own."""
    return [run(EAGER._replace(epochs=count), held())[1] for count in range(1, 21)]


def held():
    return Held(*toy_fleet.fleet(seed=9))


def test_with_patience_the_best_epoch_is_kept(losses):
    network, loss = run(EAGER._replace(patience=20), held())
    assert loss == min(losses)
    assert log_loss(network.logits(held().vectors), held().answers) == loss
    # The last epoch is far from the best one here.
    assert loss < losses[-1] - 0.05


@pytest.mark.parametrize("patience", [1, 2])
def test_patience_ends_the_training_after_so_many_epochs_that_are_no_better(losses, patience):
    best = int(np.argmin(losses))
    assert best + patience < len(losses) - 1
    eager, spent = np.random.default_rng(2), np.random.default_rng(2)
    table, answers = toy_fleet.fleet()
    descend(started(), table, answers, EAGER._replace(patience=patience), eager, held())
    epochs = best + 1 + patience
    descend(started(), table, answers, EAGER._replace(epochs=epochs), spent, held())
    # Each epoch draws an order of the answers: as many were drawn.
    assert eager.random() == spent.random()


def test_without_questions_held_out_there_is_no_loss():
    assert np.isnan(run(SETTINGS)[1])


def test_the_loss_of_an_even_chance_is_the_logarithm_of_two():
    answers = np.array([[1, 0, np.nan]], dtype=np.float32)
    assert log_loss(np.zeros((1, 3), dtype=np.float32), answers) == pytest.approx(np.log(2))
