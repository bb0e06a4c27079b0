"""Ridge regressions against refitting without each row, and targets that inputs do not tell."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scope.fleet.forecasters.ridge import STRENGTHS, fit_ridge


def data(seed, rows=25, inputs=4, noise=0.5):
    generator = np.random.default_rng(seed)
    table = generator.normal(size=(rows, inputs)) + 1
    signal = table @ generator.normal(size=(inputs, 1))
    targets = np.column_stack([signal, generator.normal(size=(rows, 2))]) + 3
    targets += noise * generator.normal(size=targets.shape)
    return table.astype(np.float32), targets.astype(np.float32)


def solved(inputs, target, strength):
    """Ridge with an intercept that is not penalised, by its normal equations."""
    inputs, target = inputs.astype(float), target.astype(float)
    centre, offset = inputs.mean(axis=0), target.mean()
    away = inputs - centre
    system = away.T @ away + strength * np.eye(inputs.shape[1])
    weights = np.linalg.solve(system, away.T @ (target - offset))
    return weights, lambda other: (other - centre) @ weights + offset


def left_out_errors(inputs, target, strength):
    rows = np.arange(len(inputs))
    return np.array(
        [
            solved(inputs[rows != row], target[rows != row], strength)[1](inputs[row]) - target[row]
            for row in rows
        ]
    )


@given(st.integers(0, 1000))
def test_picks_the_strength_that_refitting_without_each_row_would(seed):
    inputs, targets = data(seed)
    ridge = fit_ridge(inputs, targets, guard=-np.inf)
    for column, target in enumerate(targets.T):
        errors = {s: (left_out_errors(inputs, target, s) ** 2).mean() for s in STRENGTHS}
        best = min(errors, key=errors.get)
        # Two strengths that are as good but for rounding may stand for each other.
        near = [s for s in STRENGTHS if errors[s] < errors[best] * (1 + 1e-5)]
        weights = [solved(inputs, target, strength)[0] for strength in near]
        apart = min(np.abs(ridge.weights[:, column] - one).max() for one in weights)
        assert apart < 1e-3


@given(st.integers(0, 1000))
def test_the_gain_is_what_refitting_saves_over_refitted_means(seed):
    inputs, targets = data(seed)
    ridge = fit_ridge(inputs, targets, guard=-np.inf, strengths=(2.0,))
    total = targets.sum(axis=0, dtype=float)
    means = (total - targets) / (len(targets) - 1)
    for column, target in enumerate(targets.T):
        saved = ((means[:, column] - target) ** 2).sum()
        saved -= (left_out_errors(inputs, target, 2.0) ** 2).sum()
        assert ridge.gain[column] == pytest.approx(saved, abs=1e-2)


def test_each_target_has_a_strength_of_its_own():
    inputs, targets = data(0, rows=60, noise=0.01)
    targets[:, 1] = targets[:, 0] + 8 * np.random.default_rng(1).normal(size=60)
    together = fit_ridge(inputs, targets)
    alone = [fit_ridge(inputs, targets[:, [column]]).weights[:, 0] for column in range(2)]
    assert together.weights[:, :2] == pytest.approx(np.column_stack(alone), abs=1e-5)
    strengths = [
        min(STRENGTHS, key=lambda s, c=c: np.abs(solved(inputs, targets[:, c], s)[0] - a).max())
        for c, a in enumerate(alone)
    ]
    assert strengths[0] < strengths[1]


def test_a_target_that_the_inputs_do_not_tell_keeps_its_mean():
    generator = np.random.default_rng(5)
    inputs = generator.normal(size=(200, 3)).astype(np.float32)
    targets = np.column_stack([inputs[:, 0], generator.normal(size=200)]).astype(np.float32)
    ridge = fit_ridge(inputs, targets, guard=2.0)
    assert ridge.gain[0] > 0 == ridge.gain[1]
    assert not ridge.weights[:, 1].any()
    assert (ridge.predict(inputs)[:, 1] == targets.mean(axis=0)[1]).all()


def test_forecasts_are_those_of_the_normal_equations():
    inputs, targets = data(3)
    ridge = fit_ridge(inputs, targets[:, :1], strengths=(0.5,))
    expected = solved(inputs, targets[:, 0], 0.5)[1](inputs)
    assert ridge.predict(inputs)[:, 0] == pytest.approx(expected, abs=1e-3)


def test_one_row_and_inputs_that_never_vary_give_the_mean():
    one = fit_ridge(np.ones((1, 2), np.float32), np.full((1, 1), 7, np.float32))
    assert one.predict(np.zeros((1, 2), np.float32)).tolist() == [[7]]
    flat = fit_ridge(np.ones((4, 2), np.float32), np.float32([[1], [2], [3], [6]]))
    assert flat.predict(np.zeros((1, 2), np.float32)).tolist() == [[3]]
