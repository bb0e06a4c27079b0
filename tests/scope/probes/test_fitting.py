import numpy as np
import pytest
from hypothesis import given, strategies as st

from scope.probes.fitting import Calibration, calibrate, scores_of


@given(
    st.lists(st.floats(0, 1e6), min_size=2, max_size=9),
    st.floats(0.01, 100),
    st.floats(0.05, 20),
)
def test_scores_fall_with_the_dissimilarity_within_their_range(dissimilarities, scale, power):
    dissimilarities = np.sort(dissimilarities)
    scores = scores_of(dissimilarities, Calibration(scale, power), 0.1, 0.7)
    assert (np.diff(scores) <= 0).all()
    assert ((scores >= 0.1) & (scores <= 0.7)).all()


def test_no_dissimilarity_is_exactly_the_top_of_any_range():
    for low, high in [(0.0, 5.0), (0.1, 0.7), (-1.0, 1.0), (1.0, 1.1)]:
        assert scores_of(np.zeros(1), Calibration(3.3, 0.7), low, high)[0] == high


@pytest.mark.parametrize("size", [1e4, 1e-3, 1e-5, 1e-8, 1e-300])
def test_distances_however_small_are_calibrated_alike(size):
    """Bfloat16's latents lie so near each other that all cosines of a layer are almost 1."""
    dissimilarities = np.random.default_rng(0).uniform(0, 3, 60)
    scores = 5 * np.exp(-((0.8 * dissimilarities) ** 1.7))
    given = [
        scores_of(one, calibrate(one, scores, 0.0, 5.0), 0.0, 5.0)
        for one in (dissimilarities, size * dissimilarities)
    ]
    np.testing.assert_allclose(given[1], given[0], atol=1e-6)
    np.testing.assert_allclose(given[1], scores, atol=1e-2)


def test_the_unit_is_the_median_of_the_pairs_that_differ():
    found = calibrate(np.array([0.0, 0, 0, 0, 0.1, 0.2, 0.4]), np.arange(7.0)[::-1], 0.0, 6.0)
    assert found.unit == 0.2
    dissimilarities = np.array([0.0, 1.5])
    assert scores_of(
        dissimilarities, Calibration(2.0, 3.0, 6.0), 0.0, 5.0
    ).tolist() == pytest.approx([5, 5 * np.exp(-1 / 8)])


def test_the_least_error_is_found_where_one_start_would_end_short_of_it():
    """Pairs of two kinds, a thousand times as far apart; people part the nearer kind in two."""
    step = np.linspace(0.5, 1.5, 10)
    dissimilarities = np.concatenate([step / 1000, step])
    scores = np.where(dissimilarities < 0.75e-3, 5.0, 0.0)
    found = scores_of(dissimilarities, calibrate(dissimilarities, scores, 0.0, 5.0), 0.0, 5.0)
    np.testing.assert_allclose(found, scores, atol=0.01)


def test_a_calibration_lessens_the_error_and_never_leaves_its_bounds():
    generator = np.random.default_rng(0)
    dissimilarities, scores = generator.uniform(0, 3, 50), generator.uniform(0, 5, 50)
    found = calibrate(dissimilarities, scores, 0.0, 5.0)
    errors = [
        np.square(scores_of(dissimilarities, one, 0.0, 5.0) - scores).mean()
        for one in (found, Calibration())
    ]
    assert errors[0] < errors[1]
    constant = calibrate(np.zeros(3), scores[:3], 0.0, 5.0)
    assert np.isfinite(constant).all()
    assert constant.unit == 1.0
