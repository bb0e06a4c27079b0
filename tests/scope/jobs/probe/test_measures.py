import math
from dataclasses import replace

import numpy as np
import pytest
import toy_latents
from scipy.optimize import approx_fprime
from scipy.special import expit

from scope.jobs.probe import measures
from scope.jobs.probe.latents import fit_basis, project
from scope.jobs.probe.measures import AllCosines, ScoredPairs, SiameseNetwork
from scope.jobs.probe.network import (
    RECIPES,
    dissimilarity,
    encode,
    layer_distances,
    starting_head,
    train,
)
from scope.models.torch_setup import load_torch

TOY = toy_latents.pairs(60)
PAIRS = ScoredPairs(TOY.first, TOY.second, TOY.scores / 5)


def test_the_dissimilarity_is_the_formula_by_hand_with_and_without_a_layer():
    cosines = AllCosines(
        latent_mean=np.zeros((2, 1)),
        latent_deviation=np.ones((2, 1)),
        mean=np.array([0.5, 0.0]),
        deviation=np.array([0.5, 1.0]),
        weights=np.array([1.0, -2.0]),
        offset=np.asarray(0.5),
        near=np.asarray(0.25),
    )
    distances = np.array([[0.25, 0.75], [0.0, 0.0]])
    # Standardised cosines: (.75 - .5) / .5 and .25; raised to .5 - .5 + .5; mean distance .5.
    expected = np.log(1 + np.exp(-0.5)) * (1 - np.exp(-2))
    assert cosines.dissimilarity(distances).tolist() == pytest.approx([expected, 0])
    alone = np.log(1 + np.exp(-1.0)) * (1 - np.exp(-1))
    assert cosines.dissimilarity(distances, without=1).tolist() == pytest.approx([alone, 0])


def fitted(monkeypatch, pairs=PAIRS, penalty=0.01):
    """The fit under one penalty, the distances of the pairs, and the standardised cosines."""
    monkeypatch.setattr(measures, "PENALTIES", (penalty,))
    cosines = AllCosines.fit(pairs, pairs)
    distances = cosines.distances(pairs.first, pairs.second)
    return cosines, distances, (1 - distances - cosines.mean) / cosines.deviation


def test_for_pairs_that_differ_the_similarity_is_the_papers_sigmoid(monkeypatch):
    cosines, distances, standard = fitted(monkeypatch)
    different = distances.mean(axis=1) > 0.2 * distances.mean()
    sigmoid = expit(standard @ cosines.weights + cosines.offset)
    given = np.exp(-cosines.dissimilarity(distances))
    np.testing.assert_allclose(given[different], sigmoid[different], atol=0.01)
    assert different.mean() > 0.9


def test_the_fit_ends_where_no_small_change_raises_the_likelihood(monkeypatch):
    cosines, _, standard = fitted(monkeypatch)
    wanted = PAIRS.similarities

    def loss(numbers):
        given = expit(standard @ numbers[:-1] + numbers[-1])
        likelihood = wanted * np.log(given) + (1 - wanted) * np.log(1 - given)
        return -likelihood.mean() + 0.01 * np.square(numbers[:-1]).sum()

    slopes = approx_fprime(np.append(cosines.weights, cosines.offset), loss)
    assert np.abs(slopes).max() < 1e-4


LATENTS = toy_latents.sentences(count=300)[1]


def test_a_folded_network_measures_as_its_basis_and_encoders_one_after_the_other():
    torch = load_torch()
    generator = torch.Generator().manual_seed(0)
    parameters = {
        "encoders": torch.randn(3, 6, 4, generator=generator),
        "offsets": torch.randn(3, 1, 4, generator=generator),
        **starting_head(3, 2, generator),
    }
    parameters["out"] += 1
    basis = fit_basis([LATENTS], 6, whitened=True)
    for nonlinear in (False, True):
        encoded = encode(project(basis, [LATENTS]), parameters, nonlinear=nonlinear)
        expected = layer_distances(encoded[:, :-1], encoded[:, 1:])
        network = SiameseNetwork.folded(basis, parameters, nonlinear=nonlinear)
        found = network.distances(LATENTS[:-1], LATENTS[1:])
        np.testing.assert_allclose(found, expected.numpy(), atol=1e-5)
        np.testing.assert_allclose(
            network.dissimilarity(found), dissimilarity(expected, parameters).numpy(), rtol=1e-4
        )


def test_the_dissimilarity_is_the_formula_by_hand():
    numbers = {
        "weights": [0.0, 1.0],
        "hidden": [[1.0, 0.0, 0.0], [0.0, 0.5, 0.0]],
        "hidden_offsets": [0.0, 0.0, 0.25],
        "out": [1.0, -1.0, 2.0],
        "out_offset": 0.1,
    }
    torch = load_torch()
    parameters = {name: torch.tensor(value) for name, value in numbers.items()}
    apart = math.log(2) * 0.5 + math.log1p(math.e) * 0.25
    gate = math.tanh(0.0) - math.tanh(0.5) + 2 * math.tanh(0.25) + 0.1
    found = dissimilarity(torch.tensor([[0.5, 0.25]]), parameters)
    assert found.item() == pytest.approx(apart * math.exp(gate), rel=1e-5)


@pytest.mark.parametrize(("kept", "logit"), [(None, 0.75), ([0.0, 1.0], 0.0)])
def test_a_head_without_hidden_units_is_a_sigmoid_on_the_weighted_cosines(kept, logit):
    torch = load_torch()
    plain = {"weights": torch.tensor([1.0, -2.0]), "out_offset": torch.tensor(0.5)}
    # Cosines .75 and .25: 1 * .75 - 2 * .25 + .5 = .75; of the second layer alone 0.
    left = [] if kept is None else [torch.tensor(kept)]
    similarity = (-dissimilarity(torch.tensor([[0.25, 0.75]]), plain, *left)).exp()
    assert similarity.item() == pytest.approx(1 / (1 + math.exp(-logit)))


@pytest.mark.parametrize(
    ("values", "epochs", "best"),
    [([1, 2, 3, 4, 5], 5, 4), ([1, 3, 2, 2, 9], 4, 1), ([5, 5, 5, 9, 9], 3, 0)],
)
def test_the_best_epoch_is_kept_and_two_without_a_gain_end_it(values, epochs, best):
    torch = load_torch()
    generator = torch.Generator().manual_seed(0)
    start = {"encoders": torch.randn(3, 4, 2, generator=generator)}
    start |= starting_head(3, 2, generator)
    sides = torch.randn(2, 3, 20, 4, generator=generator)
    scores = torch.rand(20, generator=generator) * 5
    recipe = replace(RECIPES["siamese"], epochs=5, batch=8, patience=2)
    seen = []

    def judge(parameters):
        seen.append(parameters)
        return values[len(seen) - 1]

    kept = train(start, tuple(sides), scores, recipe, judge, generator)
    assert len(seen) == epochs
    assert all((kept[name] == seen[best][name]).all() for name in kept)
