"""Several numbers predicted from one table, each by a ridge regression of its own strength."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

STRENGTHS = tuple(np.geomspace(0.03, 300, 15).tolist())


class Ridge(NamedTuple):
    """``inputs`` predict ``(inputs - centre) @ weights + offset``.

    ``weights`` has shape (inputs, targets), ``centre`` (inputs,), ``offset`` (targets,). ``gain``,
    shape (targets,), is the squared error that each target's regression saves over its mean,
    left-out row by left-out row, summed over the rows; 0 where the mean was kept.
    """

    weights: NDArray[np.float32]
    centre: NDArray[np.float32]
    offset: NDArray[np.float32]
    gain: NDArray[np.float64]

    def predict(self, inputs: NDArray[np.float32]) -> NDArray[np.float32]:
        """The targets predicted, shape (rows, targets)."""
        centred: NDArray[np.float32] = inputs - self.centre
        return np.asarray(centred @ self.weights + self.offset, dtype=np.float32)


def fit_ridge(
    inputs: NDArray[np.float32],
    targets: NDArray[np.float32],
    *,
    guard: float = 0.5,
    strengths: tuple[float, ...] = STRENGTHS,
) -> Ridge:
    """A ridge regression of each target on the inputs, with the strength that is best for it.

    For each strength every row is predicted from all others, in closed form; the least mean
    squared error decides. A target whose error does not fall by more than ``guard`` standard
    errors below its mean's keeps its mean, whatever the inputs are.

    Parameters
    ----------
    inputs
        Shape (rows, inputs).
    targets
        Shape (rows, targets).
    guard
        How many standard errors a gain must exceed.
    strengths
        What is added to the inputs' squared singular values, from weak to strong.

    Examples
    --------
    The first target follows the input, the second does not:

    >>> inputs = np.array([[-2.0], [-1.0], [1.0], [2.0]], dtype=np.float32)
    >>> targets = np.array([[-4, 1], [-2, -1], [2, -1], [4, 1]], dtype=np.float32)
    >>> fit_ridge(inputs, targets).weights.round(1).tolist()
    [[2.0, 0.0]]
    """
    rows = len(inputs)
    centre, offset = inputs.mean(axis=0), targets.mean(axis=0)
    away = (targets - offset).astype(np.float64)
    centred = inputs - centre
    squares, turn = np.linalg.eigh((centred.T @ centred).astype(np.float64))
    squares, turned = np.maximum(squares, 0), centred @ turn.astype(np.float32)
    turned_squares = turned * turned
    products = turned.T.astype(np.float64) @ away
    left_out_mean = (away * rows / max(rows - 1, 1)) ** 2
    least = np.full(targets.shape[1], np.inf)
    chosen, gain = np.zeros_like(products), np.zeros(targets.shape[1])
    for strength in strengths:
        shrunk = 1 / (squares + strength)
        leverage = 1 / rows + turned_squares @ shrunk.astype(np.float32)
        weights = products * shrunk[:, None]
        residual = away - turned @ weights.astype(np.float32)
        error = (residual / np.maximum(1 - leverage, 1e-3)[:, None]) ** 2
        saved = left_out_mean - error
        better = error.mean(axis=0) < least
        least = np.where(better, error.mean(axis=0), least)
        doubt = saved.std(axis=0) / np.sqrt(rows) + 1e-12
        sure = saved.mean(axis=0) > guard * doubt
        chosen = np.where(better, np.where(sure, weights, 0), chosen)
        gain = np.where(better, np.where(sure, saved.sum(axis=0), 0), gain)
    return Ridge((turn @ chosen).astype(np.float32), centre, offset, gain)
