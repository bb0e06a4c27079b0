import numpy as np
import toy_latents

from scope.models.torch_setup import load_torch
from scope.probes.autoencoders import output_mask, train_autoencoders
from scope.probes.bases import fit_basis, project

LATENTS = toy_latents.sentences()[1]
INPUTS = project(fit_basis([LATENTS], 8, whitened=False), [LATENTS])


def left_over(encoders):
    """The share of the inputs that the best linear decoder of the encodings does not explain."""
    torch = load_torch()
    hidden = torch.tanh(torch.bmm(INPUTS, encoders.weights) + encoders.offsets).numpy()
    rests = []
    for inputs, codes in zip(INPUTS.numpy(), hidden, strict=True):
        decoder = np.linalg.lstsq(codes, inputs, rcond=None)[0]
        rests.append(np.square(codes @ decoder - inputs).mean())
    return np.array(rests)


def test_early_layers_have_the_narrower_bottleneck():
    assert output_mask(5, 6).sum(dim=2)[:, 0].tolist() == [3, 3, 6, 6, 6]
    encoders = train_autoencoders(INPUTS, 4, seed=0)
    assert (encoders.weights[0, :, 2:] == 0).all()
    assert (encoders.offsets[0, :, 2:] == 0).all()
    assert (encoders.weights[1:] != 0).all()


def test_training_leaves_less_of_the_inputs_unexplained(monkeypatch):
    monkeypatch.setattr("scope.probes.autoencoders.EPOCHS", 0)
    before = left_over(train_autoencoders(INPUTS, 4, seed=0))
    monkeypatch.setattr("scope.probes.autoencoders.EPOCHS", 300)
    # The sentences are one batch, so that steps are few.
    monkeypatch.setattr("scope.probes.autoencoders.RATE", 2e-2)
    assert (left_over(train_autoencoders(INPUTS, 4, seed=0)) < before).all()


def test_the_seed_decides_the_start():
    one, same, other = (train_autoencoders(INPUTS, 4, seed=seed).weights for seed in (0, 0, 1))
    assert (one == same).all()
    assert (one != other).any()
