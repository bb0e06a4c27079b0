"""A map of the models in two dimensions."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from scope.records import Undefined


class ModelMap(NamedTuple):
    """Where each model lies, and how much of their differences can be seen there.

    ``places`` has the shape (models, 2). ``shown`` is the share, from 0 to 1, of the variance of
    the vectors that lies in the two directions of the map; what is left may set apart models that
    lie side by side on it.
    """

    places: NDArray[np.float64]
    shown: float | Undefined


def model_map(vectors: NDArray[np.floating]) -> ModelMap:
    """Project the vectors on the two directions in which they differ most (principal components).

    The vectors are taken as they stand. A coordinate that varies more weighs more, which is right
    where coordinates are in one unit, such as a skill and its deviations, both in shares of right
    answers; scale the vectors before where they are not. Lengths on the map are in the vectors'
    unit, and none is longer than the distance it stands for. Each direction points so that the
    coordinate which weighs most in it grows along it, so the same vectors give the same map, in
    whichever order the models stand.

    Parameters
    ----------
    vectors
        Shape (models, dimensions).

    Raises
    ------
    ValueError
        If that is not the shape, or a number is not finite.

    Examples
    --------
    >>> drawn = model_map(np.array([[0.0, 1.0, 0.0], [4.0, 1.0, 0.0], [2.0, 1.0, 0.0]]))
    >>> drawn.places.round(6).tolist(), drawn.shown
    ([[-2.0, 0.0], [2.0, 0.0], [0.0, 0.0]], 1.0)
    """
    found = np.asarray(vectors, dtype=np.float64)
    if found.ndim != 2 or not len(found) or not np.isfinite(found).all():
        raise ValueError(f"vectors are finite, one row a model: shape {found.shape}")
    centred = found - found.mean(axis=0)
    with threadpool_limits(1):
        _, strengths, directions = np.linalg.svd(centred, full_matrices=False)
        axes = directions[:2]
        heaviest = np.abs(axes).argmax(axis=1)
        axes = axes * np.where(axes[np.arange(len(axes)), heaviest] < 0, -1.0, 1.0)[:, np.newaxis]
        places = np.zeros((len(found), 2))
        places[:, : len(axes)] = centred @ axes.T
    if not np.ptp(found, axis=0).any():
        return ModelMap(np.zeros_like(places), Undefined(reason="all vectors are equal"))
    return ModelMap(places, float((strengths[:2] ** 2).sum() / (strengths**2).sum()))
