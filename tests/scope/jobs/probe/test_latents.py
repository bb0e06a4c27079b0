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
    one_thread,
    project,
)
from scope.models.torch_setup import load_torch

LATENTS = toy_latents.sentences()[1]


def test_each_dimension_has_its_own_mean_and_deviation_and_parts_count_as_one():
    scales = fit_scales([LATENTS[:30], LATENTS[30:]])
    exact = LATENTS.astype(np.float64)
    np.testing.assert_allclose(scales.centre, exact.mean(axis=0), rtol=1e-6)
    np.testing.assert_allclose(scales.deviation, exact.std(axis=0), rtol=1e-6)
    assert scales.centre.dtype == scales.deviation.dtype == np.float32


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


def test_unwhitened_inputs_keep_distances_up_to_one_factor_and_have_mean_square_1():
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


def test_latents_on_disk_stay_there(tmp_path):
    np.save(tmp_path / "latents.npy", np.ones((5, 3, 8), dtype=np.float32))
    mapped = np.load(tmp_path / "latents.npy", mmap_mode="r")
    assert checked_latents(mapped) is mapped


@pytest.mark.parametrize("shape", [(0, 3, 8), (4, 0, 8), (4, 3, 0), (4, 8)])
def test_latents_that_lack_an_axis_are_refused(shape):
    with pytest.raises(DataError, match="three axes"):
        checked_latents(np.zeros(shape))


@pytest.mark.parametrize("wrong", [np.nan, np.inf])
def test_a_number_that_is_not_finite_is_named_by_row_and_layer(wrong):
    latents = np.zeros((1030, 3, 8))
    latents[1027, 2, 5] = wrong
    with pytest.raises(DataError, match=r"not finite in row 1027, layer 2"):
        checked_latents(latents)


def test_pairs_of_unequal_numbers_are_refused():
    with pytest.raises(DataError, match=r"shape \(4, 3, 8\) beside latents of shape \(5, 3, 8\)"):
        checked_pairs(np.zeros((4, 3, 8)), np.zeros((5, 3, 8)))


@pytest.mark.parametrize(
    ("scores", "told"),
    [
        ([0, 1], "scores of shape (2,) for 3 pairs"),
        ([0, 5.1, 1], "the score 5.1 of pair 1"),
        ([0, 1, -0.5], "the score -0.5 of pair 2"),
        ([np.nan, 1, 2], "the score nan of pair 0"),
        ([2, 2, 2], "3 pairs that all have the score 2"),
    ],
)
def test_scores_that_cannot_be_are_refused(scores, told):
    with pytest.raises(DataError) as caught:
        checked_scores(scores, 3, 0.0, 5.0)
    assert told in str(caught.value)


@pytest.mark.parametrize("groups", [[1, 2], [[1], [2], [3]], [0.5, 1, 2], ["a", "b", "c"]])
def test_groups_that_cannot_be_are_refused(groups):
    with pytest.raises(DataError, match="for 3 sentences"):
        checked_groups(groups, 3, "sentence")


def fail_inside(torch):
    with one_thread():
        assert torch.get_num_threads() == 1
        raise KeyError


def test_torch_has_one_thread_inside_and_as_many_as_before_afterwards_even_after_an_error():
    torch = load_torch()
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        with pytest.raises(KeyError):
            fail_inside(torch)
        assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(before)
