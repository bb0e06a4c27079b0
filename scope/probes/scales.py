"""Each dimension's mean and deviation.

A few dimensions of a language model have variances above those of all others together; unless all
are brought to one scale, those few decide every cosine and every principal component.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from scope.probes.checks import Latents

_STILL = 1e-6
"""A dimension of a smaller deviation says nothing; it is left at its own scale."""


class Scales(NamedTuple):
    """Mean and standard deviation of each dimension, both of shape (layers, width)."""

    centre: NDArray[np.float32]
    deviation: NDArray[np.float32]


def fit_scales(parts: Sequence[Latents]) -> Scales:
    """Find each dimension's mean and deviation.

    Parameters
    ----------
    parts
        Latents of sentences, in one array or several: all of their rows count alike.

    Examples
    --------
    >>> points = np.array([[[1.0, 3.0]], [[-1.0, 3.0]]], dtype=np.float32)
    >>> scales = fit_scales([points])
    >>> scales.centre.tolist(), scales.deviation.tolist()
    ([[0.0, 3.0]], [[1.0, 1.0]])
    """
    found = [moments(rows_of(parts, layer)) for layer in range(parts[0].shape[1])]
    centres, deviations = (np.stack(one).astype(np.float32) for one in zip(*found, strict=True))
    return Scales(centres, deviations)


def rows_of(parts: Sequence[Latents], layer: int) -> NDArray[np.float64]:
    """One layer's latents in double precision, those of all parts under each other."""
    return np.concatenate([np.asarray(part[:, layer], dtype=np.float64) for part in parts])


def moments(rows: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Each dimension's mean, and its deviation, or 1 of one that hardly changes."""
    deviation = rows.std(axis=0)
    deviation[deviation < _STILL] = 1.0
    return rows.mean(axis=0), deviation
