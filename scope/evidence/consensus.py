"""The expected answers of independent models of a model's skill, from the answers of the pool.

The expectation of model B is a weighted frequency of the others' answers. Control c has the weight

    closeness of B's and c's ranks in skill / (1 + number of c's kin)

or 0 if c is kin of B: a family of clones counts about once, and B's own family does not affect what
is expected of B. For a mistake of model A, the weights of A and its kin are 0, too; otherwise A's
own answer would contribute to its expectation.

Scaled so that their sum is the effective number of models, (Σw)² / Σw², the weights give counts,
and 1 / K is added to each option: an option that no model chose stays possible, with a probability
that decreases with the number of models, and without any model all options are equally likely.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from scope.evidence.answers import NOT_GIVEN
from scope.evidence.arrays import Indices, Square, Values
from scope.evidence.following import Fit, FitRows
from scope.evidence.option_blocks import OptionBlock
from scope.evidence.skill import closeness

_LEAST, _MOST = 0.005, 0.995
"""Bounds of a probability: the pool is too small for certainty."""


def control_weights(skills: Values, kin: NDArray[np.bool_]) -> Square:
    """The weight of each model (column) in the expectation of each model (row), unscaled."""
    return np.where(kin, 0.0, closeness(skills) / (1 + kin.sum(axis=1)))


def leaving_out(weights: Values, kin: NDArray[np.bool_]) -> Square:
    """One model's weights without each model and its kin: row A is without A. Unscaled."""
    out = kin | np.eye(len(weights), dtype=np.bool_)
    return np.where(out, 0.0, weights)


def effective_counts(weights: Values) -> Values:
    """The weights scaled so that they sum to the effective number of models; over the last axis.

    Examples
    --------
    Equal weights are as many models; unequal ones fewer, here 6² / 20; none at all are none.

    >>> effective_counts(np.array([[0.5, 0.5, 0.0], [4.0, 2.0, 0.0], [0.0, 0.0, 0.0]])).tolist()
    [[1.0, 1.0, 0.0], [1.2, 0.6, 0.0], [0.0, 0.0, 0.0]]
    """
    squares = (weights**2).sum(axis=-1, keepdims=True)
    sums = weights.sum(axis=-1, keepdims=True)
    scale = np.divide(sums, squares, out=np.zeros_like(sums), where=squares > 0)
    return np.asarray(weights * scale)


def rows_to_fit(block: OptionBlock, counts: Values, model: int) -> FitRows:
    """A model's answers in a block, with the frequency of each option among the others.

    The frequencies are not normalised; no probability depends on that.
    """
    answered = block.columns[model] != NOT_GIVEN
    frequencies = np.tensordot(counts, block.chosen[:, answered], axes=1)
    return FitRows(
        log_frequencies=np.log(frequencies + block.share[answered, None]),
        options=block.options[answered],
        right=block.right[answered],
        chosen=block.chosen[model, answered],
        share=block.share[answered],
    )


def chances(
    block: OptionBlock, counts: Square, fitted: Fit, models: Indices, places: Indices
) -> Values:
    """The probability that the fitted model gives the answers of other models.

    Parameters
    ----------
    counts
        Of all models, row A without A and its kin; shape (models, models).
    models, places
        Whose answer, and to which of the block's questions; each of shape (m,).

    Returns
    -------
    Values
        Shape (m,), each in 0.005..0.995.
    """
    size = block.options.shape
    frequencies = (counts @ block.chosen.reshape(len(counts), -1)).reshape(-1, *size)
    weights = frequencies[models, places]
    weights += block.share[places, None]
    np.log(weights, out=weights)
    weights *= fitted.consensus
    np.exp(weights, out=weights)
    weights *= (block.options * np.exp(fitted.right * block.right))[places]
    answers = weights[np.arange(len(places)), block.columns[models, places]]
    return np.asarray(np.clip(answers / weights.sum(axis=1), _LEAST, _MOST))
