"""The map of two models' layers by linear CKA, with how sure it is and what chance would give."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.stats import t as student

from scope.errors import DataError
from scope.probes.alignment import linear_cka

_GROUPS = 10
_LEVEL = 0.95


class AlignedLayers(NamedTuple):
    """A map of shape (layers of the first, layers of the second), from 0 to 1.

    ``margins``, of the same shape, are the half widths of the 95 % intervals; ``chance`` is the
    greatest value of the map when the sentences of one model are shuffled.
    """

    values: NDArray[np.float64]
    margins: NDArray[np.float64]
    chance: float


def align_layers(first: NDArray[Any], second: NDArray[Any], *, seed: int) -> AlignedLayers:
    """Hold every layer of one model beside every layer of the other, by standardised linear CKA.

    The margins are those of a jackknife that leaves a tenth of the sentences out in turn, with
    Student's t of 9 degrees. Few sentences in many dimensions look alike by chance, which the
    margins do not show: a value says something as far as it lies above ``chance``.

    Parameters
    ----------
    first, second
        Latents of the same sentences, in the same order, by two models.
    seed
        Of the tenths, and of the shuffled order.

    Raises
    ------
    DataError
        When there are fewer than 10 sentences, or as for `linear_cka`.

    Examples
    --------
    >>> latents = np.random.default_rng(0).normal(size=(20, 2, 3))
    >>> found = align_layers(latents, latents[:, :1], seed=0)
    >>> found.values.round(2).tolist(), found.margins.round(2).tolist()
    ([[1.0], [0.13]], [[0.0], [0.12]])
    """
    values = linear_cka(first, second)
    count = len(first)
    if count < _GROUPS:
        raise DataError(
            f"{count} sentences",
            expected=f"at least {_GROUPS}, so that a tenth of them can be left out",
            mend="read more sentences with both models",
        )
    order = np.random.default_rng(seed).permutation(count)
    without = [
        linear_cka(first[kept], second[kept])
        for kept in (np.setdiff1d(order, group) for group in np.array_split(order, _GROUPS))
    ]
    spread = np.var(without, axis=0) * (_GROUPS - 1)
    quantile = float(student.ppf((1 + _LEVEL) / 2, _GROUPS - 1))
    return AlignedLayers(
        values, quantile * np.sqrt(spread), float(linear_cka(first, second[order]).max())
    )
