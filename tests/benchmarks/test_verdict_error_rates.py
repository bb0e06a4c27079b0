"""Verdicts are rarely wrong at their margin: a small version of the simulation."""

import numpy as np
import pytest
from verdict_error_rates import (
    WORLDS,
    errors,
    powers,
)

from scope.progress import Silent


@pytest.mark.parametrize("world", WORLDS)
def test_a_world_has_its_difference_at_the_margin(world):
    margin, drawn = WORLDS[world]
    mean = drawn(np.random.default_rng(0), (100, 1000), margin).mean()
    assert mean == pytest.approx(-margin, abs=0.004)


def test_errors_at_the_margin_are_rare():
    found = errors((50, 200), 60, np.random.default_rng(0), Silent())
    assert len(found) == len(WORLDS) * 2 * 2 * 2 * 2
    assert max(found.values()) <= 0.1
    assert np.mean(list(found.values())) <= 0.03


def test_the_advised_rows_have_the_power():
    found = powers(200, np.random.default_rng(0))
    assert min(value for key, value in found.items() if key.startswith("power")) >= 0.74
