"""Each layer's correlation with human scores, and the decrease without it."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from scope.errors import SpecError
from scope.probes.bases import cosine_distances
from scope.probes.checks import checked_pairs, checked_scores, one_thread
from scope.probes.correlations import pearson_difference, pearson_estimate
from scope.probes.probe import SimilarityProbe
from scope.records.estimates import Estimate, Undefined


class LayerPoint(NamedTuple):
    """The correlation of one layer's cosines with human scores, by `pearson_estimate`."""

    layer: int
    pearson: Estimate | Undefined


class LayerLoss(NamedTuple):
    """The decrease of a probe's Pearson correlation without one layer."""

    layer: int
    lost: Estimate | Undefined


def layer_curve(
    first: NDArray[Any],
    second: NDArray[Any],
    scores: ArrayLike,
    *,
    low: float = 0.0,
    high: float = 5.0,
    probe: SimilarityProbe | None = None,
    groups: NDArray[np.int64] | None = None,
) -> tuple[LayerPoint, ...]:
    """Correlate each layer's cosines with human scores.

    Parameters
    ----------
    first, second
        Latents, shape (pairs, layers, width).
    scores
        Shape (pairs,), from ``low`` to ``high``.
    probe
        Take the cosines of its encodings; None: of the latents as they are.
    groups
        Shape (pairs,): one number for all pairs that share sentences; None: each by itself.

    Raises
    ------
    DataError
        When the pairs, their scores or groups are not as they must be.

    Examples
    --------
    >>> first = np.array([[[1.0, 0.0]]] * 4)
    >>> second = np.array([[[1.0, 0.0]], [[1.0, 1.0]], [[0.0, 1.0]], [[-1.0, 0.1]]])
    >>> print(layer_curve(first, second, [5, 4, 2, 0])[0].pearson)
    0.994 [0.644, 1.000]
    """
    pair = checked_pairs(first, second)
    wanted = checked_scores(scores, len(pair[0]), low, high)
    if probe is None:
        with one_thread():
            distances = cosine_distances(*pair)
    else:
        distances = probe.layer_distances(*pair)
    return tuple(
        LayerPoint(layer, pearson_estimate(-column, wanted, groups))
        for layer, column in enumerate(distances.T)
    )


def leave_one_layer_out(
    probe: SimilarityProbe,
    first: NDArray[Any],
    second: NDArray[Any],
    scores: ArrayLike,
    groups: NDArray[np.int64] | None = None,
) -> tuple[LayerLoss, ...]:
    """Remove each layer from a fitted probe in turn, without retraining.

    A layer that is lost little may still hold much that its neighbours hold as well. Neither the
    layer's distance counts nor its cosine in the head's gate, as if that were 0; the step ``raw``
    takes the next best layer. What is left is brought to the scale of the whole over these pairs
    (`SimilarityProbe.scores_from`). Intervals are as `pearson_difference` has them.

    Parameters
    ----------
    first, second, scores, groups
        As `layer_curve` has them; the scores in the range of the probe.

    Raises
    ------
    DataError
        When the pairs, their scores or groups are not as they must be.
    SpecError
        When the model has one layer alone.
    """
    wanted = checked_scores(scores, len(first), probe.low, probe.high)
    distances = probe.layer_distances(first, second)
    layers = distances.shape[1]
    if layers == 1:
        raise SpecError(
            "a probe of one layer, to be measured without it",
            expected="a probe of two layers or more",
            fix="read the latents of all layers",
        )
    whole = probe.scores_from(distances)
    without = (probe.scores_from(distances, without=layer) for layer in range(layers))
    return tuple(
        LayerLoss(layer, pearson_difference(whole, rest, wanted, groups))
        for layer, rest in enumerate(without)
    )
