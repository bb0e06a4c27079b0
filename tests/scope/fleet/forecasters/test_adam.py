import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scope.fleet.forecasters.adam import Adam


@pytest.mark.parametrize("weight_decay", [0.0, 0.1])
def test_steps_are_those_of_pytorch(weight_decay):
    import torch

    generator = np.random.default_rng(0)
    start = generator.standard_normal(70_000).astype(np.float32)
    ours, theirs = start.copy(), torch.tensor(start, requires_grad=True)
    adam = Adam(ours, learning_rate=0.01, weight_decay=weight_decay)
    oracle = torch.optim.Adam([theirs], lr=0.01, weight_decay=weight_decay)
    for _ in range(20):
        gradient = generator.standard_normal(len(start)).astype(np.float32)
        theirs.grad = torch.tensor(gradient)
        oracle.step()
        adam.step(gradient)
    # A move of 20 steps is of the order of 0.2, and rounding of 1e-7 a step.
    assert np.abs(ours - theirs.detach().numpy()).max() < 5e-6


def test_numbers_without_gradient_stay():
    numbers = np.ones(3, dtype=np.float32)
    adam = Adam(numbers, learning_rate=0.5, weight_decay=0.0)
    adam.step(np.zeros(3, dtype=np.float32))
    assert numbers.tolist() == [1, 1, 1]


def test_weight_decay_alone_draws_to_zero():
    numbers = np.array([1.0, -1.0], dtype=np.float32)
    adam = Adam(numbers, learning_rate=0.25, weight_decay=1e-3)
    adam.step(np.zeros(2, dtype=np.float32))
    assert numbers == pytest.approx([0.75, -0.75], abs=1e-4)


@given(st.floats(0.01, 100), st.floats(1e-4, 1.0))
def test_the_first_step_has_the_size_of_the_learning_rate(gradient, learning_rate):
    numbers = np.zeros(1, dtype=np.float32)
    adam = Adam(numbers, learning_rate=learning_rate, weight_decay=0.0)
    adam.step(np.array([gradient], dtype=np.float32))
    assert numbers[0] == pytest.approx(-learning_rate, rel=1e-4)
