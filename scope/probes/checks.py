"""What latents and scores must be before a probe takes them, and how many threads compute."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from threadpoolctl import threadpool_limits

from scope.errors import DataError
from scope.models.torch_setup import one_torch_thread

Latents = NDArray[np.float32]
"""Shape (sentences or pairs, layers, width): one vector a layer, after the residual connection."""

Scores = NDArray[np.float64]
"""Shape (pairs,): how alike two sentences are in meaning, as people say or a probe does."""

_ROWS = 1024


def checked_latents(latents: NDArray[Any], name: str = "the latents") -> Latents:
    """The latents in single precision, if they have three axes and are finite.

    A memory-mapped file of float32 is read in parts and stays where it is.

    Raises
    ------
    DataError
        When they are not so.

    Examples
    --------
    >>> checked_latents(np.zeros((2, 3, 8))).dtype
    dtype('float32')
    >>> checked_latents(np.zeros((2, 8)))
    Traceback (most recent call last):
    ...
    scope.errors.DataError: found:    the latents of shape (2, 8)
    expected: three axes: sentences, layers and width, none of them empty
    fix:      read the latents of all layers, one vector a sentence and layer
    """
    latents = np.asanyarray(latents)
    if latents.ndim != 3 or 0 in latents.shape:
        raise DataError(
            f"{name} of shape {latents.shape}",
            expected="three axes: sentences, layers and width, none of them empty",
            fix="read the latents of all layers, one vector a sentence and layer",
        )
    found = latents.astype(np.float32, copy=False)
    for start in range(0, len(found), _ROWS):
        finite = np.isfinite(found[start : start + _ROWS]).all(axis=2)
        if not finite.all():
            row, layer = np.argwhere(~finite)[0]
            raise DataError(
                f"{name} hold a number that is not finite in row {start + row}, layer {layer}",
                expected="finite numbers",
                fix="read them again in float32: float16 overflows in some models",
            )
    return found


def checked_pairs(first: NDArray[Any], second: NDArray[Any]) -> tuple[Latents, Latents]:
    """The latents of both sentences of each pair, if they go together.

    Raises
    ------
    DataError
        When the numbers of pairs, layers or dimensions differ.
    """
    pair = (
        checked_latents(first, "the first sentences' latents"),
        checked_latents(second, "the second sentences' latents"),
    )
    if pair[0].shape != pair[1].shape:
        raise DataError(
            f"latents of shape {pair[0].shape} beside latents of shape {pair[1].shape}",
            expected="as many second sentences as first ones, read from the same model",
            fix="give two arrays of the same pairs, in the same order",
        )
    return pair


def checked_scores(scores: ArrayLike, pairs: int, low: float, high: float) -> Scores:
    """Human scores in double precision, if there is one a pair and they differ.

    Raises
    ------
    DataError
        When there are too few or too many, one lies outside the range, or all are the same.

    Examples
    --------
    >>> checked_scores([0, 5.5], 2, 0.0, 5.0)
    Traceback (most recent call last):
    ...
    scope.errors.DataError: found:    the score 5.5 of pair 1
    expected: scores from 0 to 5
    fix:      correct the score, or give the range that the scores have as `low` and `high`
    """
    found = np.asarray(scores, dtype=np.float64)
    if found.shape != (pairs,):
        raise DataError(
            f"scores of shape {found.shape} for {pairs} pairs",
            expected="one score a pair",
            fix="give the scores of the same pairs, in the same order",
        )
    outside = np.flatnonzero(~((found >= low) & (found <= high)))
    if outside.size:
        place = int(outside[0])
        raise DataError(
            f"the score {found[place]:g} of pair {place}",
            expected=f"scores from {low:g} to {high:g}",
            fix="correct the score, or give the range that the scores have as `low` and `high`",
        )
    if (found == found[0]).all():
        raise DataError(
            f"{pairs} pairs that all have the score {found[0]:g}",
            expected="pairs of different scores: nothing correlates with a constant",
            fix="give pairs that mean the same beside pairs that do not",
        )
    return found


def checked_groups(groups: ArrayLike, count: int, unit: str = "pair") -> NDArray[np.intp]:
    """The groups of pairs, or of another unit, numbered anew from 0, if each has one.

    Raises
    ------
    DataError
        When there are too few or too many, or they are not whole numbers.

    Examples
    --------
    >>> checked_groups([7, 2, 7], 3).tolist()
    [1, 0, 1]
    """
    found = np.asarray(groups)
    if found.shape != (count,) or found.dtype.kind not in "iu":
        raise DataError(
            f"groups of {found.dtype} and of shape {found.shape} for {count} {unit}s",
            expected=f"one whole number a {unit}, the same for those that hang together",
            fix=f"give the groups of the same {unit}s, in the same order, or none",
        )
    return np.unique(found, return_inverse=True)[1]


def require_form(latents: Latents, layers: int, width: int) -> None:
    """Check that latents have the layers and the width that a probe was fitted on.

    Raises
    ------
    DataError
        When they have not.
    """
    if latents.shape[1:] != (layers, width):
        raise DataError(
            f"latents of {latents.shape[1]} layers of width {latents.shape[2]}",
            expected=f"{layers} layers of width {width}, as the probe was fitted on",
            fix="read the latents from the model that the probe was fitted on",
        )


@contextmanager
def one_thread() -> Iterator[None]:
    """Let torch and NumPy compute with one thread inside, and as before afterwards.

    Sums that several threads share are added in an order that depends on their number.
    """
    with one_torch_thread(), threadpool_limits(1):
        yield
