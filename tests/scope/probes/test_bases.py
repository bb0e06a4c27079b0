import numpy as np
import pytest
import toy_latents

from scope.probes import bases
from scope.probes.bases import FLOOR, POWER, fit_basis, project

LATENTS = toy_latents.sentences()[1]


def standardised(layer):
    rows = LATENTS[:, layer].astype(np.float64)
    return (rows - rows.mean(axis=0)) / rows.std(axis=0)


@pytest.mark.parametrize("layer", [0, 1, 2])
def test_whitened_components_are_those_of_a_singular_value_decomposition(layer):
    basis = fit_basis([LATENTS], 5, whitened=True)
    found = project(basis, [LATENTS])[layer].numpy()
    left, sizes, _ = np.linalg.svd(standardised(layer), full_matrices=False)
    variances = sizes[:5] ** 2 / len(LATENTS)
    expected = left[:, :5] * sizes[:5] / (variances + FLOOR) ** POWER
    # A decomposition leaves the signs free.
    signs = np.sign((found * expected).sum(axis=0))
    np.testing.assert_allclose(found, expected * signs, atol=1e-4)


def test_components_do_not_correlate_and_the_leading_vary_most():
    found = project(fit_basis([LATENTS], 8, whitened=True), [LATENTS]).numpy()
    for layer in found:
        covariance = layer.T @ layer / len(layer)
        np.testing.assert_allclose(covariance, np.diag(np.diag(covariance)), atol=1e-4)
        assert (np.diff(np.diag(covariance)) <= 1e-5).all()


def test_unwhitened_inputs_keep_distances_up_to_one_factor_and_have_mean_square_1():
    found = project(fit_basis([LATENTS], 8, whitened=False), [LATENTS]).numpy()
    for layer in range(3):
        assert np.square(found[layer]).mean() == pytest.approx(1, abs=1e-4)
        expected = np.linalg.norm(standardised(layer)[0] - standardised(layer)[1:], axis=1)
        np.testing.assert_allclose(
            np.linalg.norm(found[layer][0] - found[layer][1:], axis=1), expected, rtol=1e-4
        )


def test_only_the_components_that_are_kept_are_asked_for(monkeypatch):
    found = []

    with monkeypatch.context() as changed:
        original = bases.eigh
        changed.setattr(
            bases,
            "eigh",
            lambda *given, **told: found.append(original(*given, **told)) or found[-1],
        )
        fit_basis([LATENTS], 3, whitened=True)
    assert [vectors.shape for _, vectors in found] == [(8, 3)] * 3


def test_two_parts_count_as_one():
    whole = fit_basis([LATENTS], 4, whitened=True)
    parts = fit_basis([LATENTS[:30], LATENTS[30:]], 4, whitened=True)
    for one, other in zip(whole, parts, strict=True):
        assert np.array_equal(one, other)


def test_a_dimension_that_never_changes_is_not_blown_up():
    still = LATENTS.copy()
    still[:, 1, 3] = 7
    basis = fit_basis([still], 8, whitened=True)
    still[0, 1, 3] = 8
    assert np.isfinite(basis.projection).all()
    assert np.abs(project(basis, [still]).numpy()).max() < 20
