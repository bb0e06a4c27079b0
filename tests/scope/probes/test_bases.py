import numpy as np
import pytest
import toy_latents

from scope.probes import bases
from scope.probes.bases import (
    FLOOR,
    POWER,
    Scales,
    cosine_distances,
    fit_basis,
    fit_scales,
    project,
)

LATENTS = toy_latents.sentences()[1]


def test_each_dimension_has_its_own_mean_and_deviation_and_parts_count_as_one():
    scales = fit_scales([LATENTS[:30], LATENTS[30:]])
    exact = LATENTS.astype(np.float64)
    np.testing.assert_allclose(scales.centre, exact.mean(axis=0), rtol=1e-6)
    np.testing.assert_allclose(scales.deviation, exact.std(axis=0), rtol=1e-6)
    assert scales.centre.dtype == scales.deviation.dtype == np.float32


def test_a_dimension_that_never_changes_keeps_its_scale():
    still = LATENTS.copy()
    still[:, 1, 3] = 7
    scales = fit_scales([still])
    assert (scales.centre[1, 3], scales.deviation[1, 3]) == (7, 1)


TOY = toy_latents.pairs(60)


def by_hand(first, second):
    return 1 - first @ second / np.linalg.norm(first) / np.linalg.norm(second)


def test_distances_are_1_less_the_cosine():
    first, second = TOY.first[7, 1].astype(float), TOY.second[7, 1].astype(float)
    found = cosine_distances(TOY.first, TOY.second)
    assert found[7, 1] == pytest.approx(by_hand(first, second))


def test_scales_are_taken_from_each_dimension_first():
    scales = fit_scales([TOY.first, TOY.second])
    found = cosine_distances(TOY.first, TOY.second, scales)
    ends = [(side[7, 1] - scales.centre[1]) / scales.deviation[1] for side in TOY[:2]]
    assert found[7, 1] == pytest.approx(by_hand(*ends), rel=1e-5)
    assert (cosine_distances(TOY.first, TOY.first, scales) == 0).all()


def test_a_dimension_however_large_counts_as_the_others_once_it_is_scaled():
    sizes = np.array([1e6, *[1.0] * 7], dtype=np.float32)
    large = TOY.first * sizes, TOY.second * sizes
    np.testing.assert_allclose(
        cosine_distances(*large, fit_scales(large)),
        cosine_distances(*TOY[:2], fit_scales(TOY[:2])),
        rtol=1e-4,
    )


@pytest.mark.parametrize("scales", [None, Scales(np.zeros((1, 4)), np.ones((1, 4)))])
def test_latents_of_nothing_but_0_have_a_distance(scales):
    nothing = np.zeros((1, 1, 4), dtype=np.float32)
    assert cosine_distances(nothing, nothing, scales) == 0
    assert cosine_distances(nothing, nothing + 1, scales) == pytest.approx(0.5)


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
