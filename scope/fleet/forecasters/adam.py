"""Adam, the way of going downhill that the published matrix factorization is trained with."""

from __future__ import annotations

from math import sqrt

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.float32]

_MOMENTUM = 0.9
_MEMORY = 0.999
_EPSILON = 1e-8

_BLOCK = 1 << 15
"""So many numbers at a time: what is worked on then stays in the processor's cache."""


class Adam:
    """Adam (Kingma and Ba, 2015) with the weight decay of its L2 form, as PyTorch's has it.

    Both running means are kept without their factors 1 - 0.9 and 1 - 0.999, which are made up for
    in the size of the step: fewer passes over the numbers, and the same result but for rounding.

    Parameters
    ----------
    numbers
        What is to be learned, in one flat array. Changed in place.
    learning_rate
        The size of a step of a number whose gradient keeps its sign.
    weight_decay
        Times a number itself, this is added to the number's gradient.

    Examples
    --------
    The first step has the size of the learning rate, whatever the gradient's size:

    >>> numbers = np.zeros(2, dtype=np.float32)
    >>> Adam(numbers, learning_rate=0.5, weight_decay=0.0).step(np.float32([4.0, -0.1]))
    >>> print(numbers.round(3))
    [-0.5  0.5]
    """

    def __init__(self, numbers: Numbers, *, learning_rate: float, weight_decay: float) -> None:
        self._numbers = numbers
        self._learning_rate = learning_rate
        self._weight_decay = np.float32(weight_decay)
        self._means, self._squares = np.zeros_like(numbers), np.zeros_like(numbers)
        self._scratch = np.empty(min(_BLOCK, len(numbers)), dtype=np.float32)
        self._steps = 0

    def step(self, gradient: Numbers) -> None:
        """Move the numbers against their gradient, which is overwritten."""
        self._steps += 1
        remembered = sqrt((1 - _MEMORY**self._steps) / (1 - _MEMORY))
        size = self._learning_rate * remembered * (1 - _MOMENTUM) / (1 - _MOMENTUM**self._steps)
        epsilon = np.float32(_EPSILON * remembered)
        for start in range(0, len(gradient), _BLOCK):
            part = slice(start, start + _BLOCK)
            self._step_part(part, gradient[part], np.float32(size), epsilon)

    def _step_part(
        self, part: slice, gradient: Numbers, size: np.float32, epsilon: np.float32
    ) -> None:
        numbers, means, squares = self._numbers[part], self._means[part], self._squares[part]
        scratch = self._scratch[: len(gradient)]
        if self._weight_decay:
            np.multiply(numbers, self._weight_decay, out=scratch)
            gradient += scratch
        means *= np.float32(_MOMENTUM)
        means += gradient
        squares *= np.float32(_MEMORY)
        gradient *= gradient
        squares += gradient
        np.sqrt(squares, out=scratch)
        scratch += epsilon
        np.divide(means, scratch, out=scratch)
        scratch *= size
        numbers -= scratch
