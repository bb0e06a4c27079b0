import math
from dataclasses import replace

import numpy as np
import pytest
import toy_latents

from scope.jobs.probe.latents import fit_basis, project
from scope.jobs.probe.network import (
    RECIPES,
    dissimilarity,
    head_size,
    starting_head,
    train,
    train_autoencoders,
)
from scope.models.torch_setup import load_torch


def head(**changed):
    torch = load_torch()
    start = starting_head(2, 3, torch.Generator().manual_seed(0))
    return start | {name: torch.tensor(value) for name, value in changed.items()}


def test_the_dissimilarity_is_the_formula_by_hand():
    torch = load_torch()
    parameters = head(
        weights=[0.0, 1.0],
        hidden=[[1.0, 0.0, 0.0], [0.0, 0.5, 0.0]],
        hidden_offsets=[0.0, 0.0, 0.25],
        out=[1.0, -1.0, 2.0],
        out_offset=0.1,
    )
    apart = math.log(2) * 0.5 + math.log1p(math.e) * 0.25
    gate = math.tanh(0.0) - math.tanh(0.5) + 2 * math.tanh(0.25) + 0.1
    found = dissimilarity(torch.tensor([[0.5, 0.25]]), parameters)
    assert found.item() == pytest.approx(apart * math.exp(gate), rel=1e-5)


def test_a_head_without_hidden_units_is_a_sigmoid_on_the_weighted_cosines():
    torch = load_torch()
    start = starting_head(2, 0, torch.Generator().manual_seed(0))
    assert sum(tensor.numel() for tensor in start.values()) == head_size(2, 0)
    plain = {"weights": torch.tensor([1.0, -2.0]), "out_offset": torch.tensor(0.5)}
    # Cosines .75 and .25: 1 * .75 - 2 * .25 + .5 = .75.
    similarity = (-dissimilarity(torch.tensor([[0.25, 0.75]]), plain)).exp()
    assert similarity.item() == pytest.approx(1 / (1 + math.exp(-0.75)))
    kept = torch.tensor([0.0, 1.0])
    without = (-dissimilarity(torch.tensor([[0.25, 0.75]]), plain, kept)).exp()
    assert without.item() == pytest.approx(1 / (1 + math.exp(0.0)))


def trained(judge, *, epochs=5, patience=2, **changes):
    torch = load_torch()
    generator = torch.Generator().manual_seed(0)
    start = {
        "encoders": torch.randn(3, 4, 2, generator=generator),
        "offsets": torch.zeros(3, 1, 2),
        **starting_head(3, 2, generator),
    }
    sides = torch.randn(2, 3, 20, 4, generator=generator)
    scores = torch.rand(20, generator=generator) * 5
    recipe = replace(RECIPES["final"], epochs=epochs, batch=8, patience=patience, **changes)
    found = train(start, (sides[0], sides[1]), scores, recipe, judge, generator)
    return start, found


def judge_of(values, seen):
    def judge(parameters):
        seen.append(parameters)
        return values[len(seen) - 1]

    return judge


@pytest.mark.parametrize(
    ("values", "epochs", "best"),
    [([1, 2, 3, 4, 5], 5, 4), ([1, 3, 2, 2, 9], 4, 1), ([5, 5, 5, 9, 9], 3, 0)],
)
def test_the_best_epoch_is_kept_and_two_without_a_gain_end_it(values, epochs, best):
    seen = []
    _, found = trained(judge_of(values, seen))
    assert len(seen) == epochs
    assert all((found[name] == seen[best][name]).all() for name in found)


LATENTS = toy_latents.sentences()[1]
INPUTS = project(fit_basis([LATENTS], 8, whitened=False), [LATENTS])


def left_over(encoders):
    """The share of the inputs that the best linear decoder of the encodings does not explain."""
    torch = load_torch()
    hidden = torch.tanh(torch.bmm(INPUTS, encoders["encoders"]) + encoders["offsets"]).numpy()
    rests = []
    for inputs, codes in zip(INPUTS.numpy(), hidden, strict=True):
        decoder = np.linalg.lstsq(codes, inputs, rcond=None)[0]
        rests.append(np.square(codes @ decoder - inputs).mean())
    return np.array(rests)


def test_early_layers_have_the_narrower_bottleneck():
    encoders = train_autoencoders(INPUTS, 4, seed=0)
    assert (encoders["encoders"][0, :, 2:] == 0).all()
    assert (encoders["offsets"][0, :, 2:] == 0).all()
    assert (encoders["encoders"][1:] != 0).all()


def test_training_leaves_less_of_the_inputs_unexplained(monkeypatch):
    monkeypatch.setattr("scope.jobs.probe.network.EPOCHS", 0)
    before = left_over(train_autoencoders(INPUTS, 4, seed=0))
    monkeypatch.setattr("scope.jobs.probe.network.EPOCHS", 300)
    # The sentences are one batch, so that steps are few.
    monkeypatch.setattr("scope.jobs.probe.network.RATE", 2e-2)
    assert (left_over(train_autoencoders(INPUTS, 4, seed=0)) < before).all()
