import numpy as np
import pytest

from scope.models.torch_setup import load_torch
from scope.probes.losses import log_variance, squared

ERRORS = np.random.default_rng(0).normal(size=30)


def test_losses_are_those_of_numpy():
    errors = load_torch().tensor(ERRORS)
    assert squared(errors).item() == pytest.approx(np.mean(ERRORS**2))
    expected = np.log(np.var(ERRORS, ddof=1) + 1e-6) + 0.1 * np.mean(ERRORS) ** 2
    assert log_variance(errors).item() == pytest.approx(expected)


def test_a_shift_of_all_errors_costs_little_under_the_log_variance_and_something():
    errors = load_torch().tensor(ERRORS - ERRORS.mean())
    assert log_variance(errors + 1).item() - log_variance(errors).item() == pytest.approx(0.1)


def test_errors_that_are_all_alike_have_a_finite_loss():
    assert np.isfinite(log_variance(load_torch().zeros(4)).item())
