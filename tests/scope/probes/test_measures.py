import numpy as np
import toy_latents

from scope.models.torch_setup import load_torch
from scope.probes.bases import fit_basis, project
from scope.probes.measures import RawLayer, SiameseNetwork
from scope.probes.network import dissimilarity, encode, layer_distances, starting_head

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


def test_measuring_without_a_layer_leaves_the_network_as_it_was():
    torch = load_torch()
    generator = torch.Generator().manual_seed(0)
    parameters = {
        "encoders": torch.randn(3, 8, 4, generator=generator),
        "offsets": torch.zeros(3, 1, 4),
        **starting_head(3, 2, generator),
    }
    basis = fit_basis([LATENTS], 8, whitened=True)
    network = SiameseNetwork.folded(basis, parameters, nonlinear=False)
    distances = network.distances(LATENTS[:5], LATENTS[5:10])
    before = network.dissimilarity(distances)
    assert not np.array_equal(network.dissimilarity(distances, without=0), before)
    assert np.array_equal(network.dissimilarity(distances), before)


def test_without_the_best_raw_layer_the_next_best_is_taken():
    measure = RawLayer(np.array([0.2, 0.9, 0.5]))
    distances = np.array([[0.1, 0.2, 0.3]])
    assert measure.dissimilarity(distances) == 0.2
    assert measure.dissimilarity(distances, without=1) == 0.3
    assert measure.dissimilarity(distances, without=0) == 0.2
