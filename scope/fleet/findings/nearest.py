"""Similar models: those with the nearest vectors."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from scope.records import Neighbour

ROWS_AT_ONCE = 500


def nearest_models(
    vectors: NDArray[np.floating], models: Sequence[str], *, count: int = 5
) -> tuple[tuple[Neighbour, ...], ...]:
    """For each model the others that lie nearest to it, nearest first; between equals, by name.

    Distances are Euclidean, and as the vectors stand: none of their coordinates is scaled.

    Parameters
    ----------
    vectors
        Shape (models, dimensions).
    models
        Their names.
    count
        How many others for each; all of them where there are fewer.

    Raises
    ------
    ValueError
        If the lengths differ or the count is negative.

    Examples
    --------
    >>> vectors = np.array([[0.0, 0.0], [3.0, 4.0], [3.0, 5.0]])
    >>> for (one,) in nearest_models(vectors, ["a", "b", "c"], count=1):
    ...     print(one.model, one.distance)
    b 5.0
    c 1.0
    b 1.0
    """
    from scipy.spatial.distance import cdist

    if len(vectors) != len(models) or count < 0:
        raise ValueError(f"{count} neighbours of {len(vectors)} vectors with {len(models)} names")
    by_name = sorted(range(len(models)), key=lambda column: models[column])
    names = [models[column] for column in by_name]
    places = np.asarray(vectors, dtype=np.float64)
    others = places[by_name]
    found: list[tuple[Neighbour, ...]] = []
    for start in range(0, len(models), ROWS_AT_ONCE):
        distances = cdist(places[start : start + ROWS_AT_ONCE], others)
        # Sorted last, a model is not its own neighbour, even beside a twin.
        own = np.argsort(by_name)[start : start + ROWS_AT_ONCE]
        distances[np.arange(len(own)), own] = np.inf
        nearest = np.argsort(distances, axis=1, kind="stable")[:, : min(count, len(models) - 1)]
        found.extend(
            tuple(
                Neighbour(model=names[column], distance=float(distance))
                for column, distance in zip(columns, row, strict=True)
            )
            for columns, row in zip(
                nearest.tolist(), np.take_along_axis(distances, nearest, axis=1), strict=True
            )
        )
    return tuple(found)
