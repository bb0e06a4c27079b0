import numpy as np
import pytest
from scipy.stats import kstest

from scope.fleet.forecasters.noise import Noise


def test_it_is_normal_with_the_deviation_asked_for():
    drawn = Noise(0.05, 200_000, np.random.default_rng(0)).draw(500, 400)
    assert drawn.shape == (500, 400)
    assert drawn.dtype == np.float32
    assert kstest(drawn.ravel() / 0.05, "norm").pvalue > 0.01


def test_the_two_halves_that_share_their_uniform_numbers_are_independent():
    drawn = Noise(1.0, 100_000, np.random.default_rng(1)).draw(2, 50_000)
    for power in (1, 2):
        assert abs(np.corrcoef(drawn**power)[0, 1]) < 0.02


@pytest.mark.parametrize(("rows", "columns"), [(0, 3), (1, 1), (3, 3), (2, 4)])
def test_odd_and_even_counts_are_filled(rows, columns):
    noise = Noise(1.0, 9, np.random.default_rng(0))
    drawn = noise.draw(rows, columns)
    assert drawn.shape == (rows, columns)
    assert np.isfinite(drawn).all()
    assert len(np.unique(drawn)) == rows * columns


def test_one_seed_gives_the_same_noise():
    first, second = (Noise(1.0, 6, np.random.default_rng(4)).draw(2, 3) for _ in range(2))
    assert first.tobytes() == second.tobytes()
