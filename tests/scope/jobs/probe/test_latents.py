import numpy as np
import pytest
import toy_latents

from scope.errors import DataError
from scope.jobs.probe.latents import (
    FLOOR,
    POWER,
    Scales,
    checked_groups,
    checked_latents,
    checked_pairs,
    checked_scores,
    cosine_distances,
    fit_basis,
    fit_scales,
    project,
)

LATENTS = toy_latents.sentences()[1]


TOY = toy_latents.pairs(60)


def by_hand(first, second):
    return 1 - first @ second / np.linalg.norm(first) / np.linalg.norm(second)


def test_mean_and_deviation_of_each_dimension_are_taken_first_and_parts_count_as_one():
    scales = fit_scales([TOY.first, TOY.second])
    found = cosine_distances(TOY.first, TOY.second, scales)
    layer = np.concatenate(TOY[:2]).astype(np.float64)[:, 1]
    ends = [(side[7, 1] - layer.mean(axis=0)) / layer.std(axis=0) for side in TOY[:2]]
    assert found[7, 1] == pytest.approx(by_hand(*ends), rel=1e-5)
    assert (cosine_distances(TOY.first, TOY.first, scales) == 0).all()


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


def test_unwhitened_inputs_keep_distances_up_to_one_factor_and_have_mean_square_1():
    # The first components alone have variances far above 1.
    first = project(fit_basis([LATENTS], 2, whitened=False), [LATENTS]).numpy()
    np.testing.assert_allclose(np.square(first).mean(axis=(1, 2)), 1, atol=1e-4)
    found = project(fit_basis([LATENTS], 8, whitened=False), [LATENTS]).numpy()
    for layer in range(3):
        assert np.square(found[layer]).mean() == pytest.approx(1, abs=1e-4)
        expected = np.linalg.norm(standardised(layer)[0] - standardised(layer)[1:], axis=1)
        np.testing.assert_allclose(
            np.linalg.norm(found[layer][0] - found[layer][1:], axis=1), expected, rtol=1e-4
        )


def test_a_dimension_that_never_changes_is_not_blown_up():
    still = LATENTS.copy()
    still[:, 1, 3] = 7
    basis = fit_basis([still], 8, whitened=True)
    still[0, 1, 3] = 8
    assert np.isfinite(basis.projection).all()
    assert np.abs(project(basis, [still]).numpy()).max() < 20


NAN, FOUR = np.full((4, 3, 8), np.nan), np.zeros((4, 3, 8))


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (lambda: checked_latents(NAN), "of shape (4, 3, 8), not all of them finite"),
        (lambda: checked_pairs(FOUR, FOUR[:3]), "(4, 3, 8) beside latents of shape (3, 3, 8)"),
        (lambda: checked_scores([0, 1], 3, 0.0, 5.0), "scores of shape (2,) for 3 pairs"),
        (lambda: checked_scores([np.nan, 1], 2, 0.0, 5.0), "the score nan of pair 0"),
        (lambda: checked_scores([2, 2, 2], 3, 0.0, 5.0), "3 pairs that all have the score 2"),
        (lambda: checked_groups([[1], [2]], 2, "sentence"), "shape (2, 1) for 2 sentences"),
        (lambda: checked_groups([0.5, 1], 2), "groups of float64 and of shape (2,) for 2 pairs"),
    ],
)
def test_arrays_that_cannot_be_are_refused(given, told):
    with pytest.raises(DataError) as caught:
        given()
    assert told in str(caught.value)
