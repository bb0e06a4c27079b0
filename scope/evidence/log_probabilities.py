"""Do two models doubt alike? The correlation of their log-probabilities beyond the consensus.

Models that were made apart are sure of the easy questions and unsure of the hard ones alike. What
is left after that, to what degree a model is surer than others and of which option, follows a
model's own training. For a reference A and a model B, with x_M(i, k) the log-probability of option
k of item i, centred over the item's options, and μ the mean of x over all models but A and B,

    r_M = x_M - b_M μ,  b_M by least squares,

and the evidence is the correlation of r_A and r_B over all items and options that both answered.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from scope.evidence.answers import AnswerMatrix, Scores

LEAST_PROBABILITY: Final = 1e-4
"""Lower ones count as this: how a model spells near-certainty says little."""

Centred = NDArray[np.float64]
"""Shape (items, options): log-probabilities less their mean over an item's options."""


def log_probability_scores(answers: AnswerMatrix) -> Scores | None:
    """How each model's log-probabilities go with the reference's, in -1..1.

    None where no model of the pool gives probabilities, or the reference gives none. A model that
    gives none, or has fewer than two others to be held against, has the value NaN.
    """
    if answers.probabilities is None:
        return None
    centred, shown = _centred(answers, answers.probabilities)
    if not shown[0].any() or not shown[1:].any():
        return None
    models, units = len(centred), int(answers.units.max(initial=-1)) + 1
    values, parts = np.full(models, np.nan), np.zeros((models, units))
    total, count = centred[1:].sum(axis=0), shown[1:].sum(axis=0)
    for model in range(1, models):
        # An item counts where both answered and somebody else did, who makes the consensus.
        both = shown[0] & shown[model] & (count > 1)
        if not both.any():
            continue
        consensus = (total[both] - centred[model, both]) / (count[both] - 1)[:, None]
        products = _products(centred[0, both], centred[model, both], consensus)
        if products is not None:
            values[model] = products.sum()
            parts[model] = np.bincount(answers.units[both], weights=products, minlength=units)
    return Scores(values=values, parts=parts)


def _centred(
    answers: AnswerMatrix, probabilities: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """All models' centred log-probabilities, 0 where there are none, and where there are."""
    shown = np.isfinite(probabilities).all(axis=2) & answers.given
    real = np.arange(probabilities.shape[2]) < answers.options[:, None]
    logs = np.log(np.maximum(np.nan_to_num(probabilities), LEAST_PROBABILITY)) * real
    mean = logs.sum(axis=2, keepdims=True) / answers.options[:, None]
    return (logs - mean) * real * shown[:, :, None], shown


def _products(reference: Centred, other: Centred, consensus: Centred) -> Centred | None:
    """What each item adds to the correlation of the two residuals; None where one is constant."""
    norm = float((consensus**2).sum())
    residuals = [
        one - (float((one * consensus).sum()) / norm) * consensus if norm > 0 else one
        for one in (reference, other)
    ]
    lengths = [float(np.sqrt((one**2).sum())) for one in residuals]
    if min(lengths) < 1e-9:
        return None
    first, second = (one / length for one, length in zip(residuals, lengths, strict=True))
    return np.asarray((first * second).sum(axis=1))
