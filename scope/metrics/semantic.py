"""Nearness in meaning: the cosine of two answers' vectors, or whatever else compares two texts.

SemScore is the mean of these values over vectors of sentences (all-mpnet-base-v2 in Aynetdinov &
Akbik 2024, arXiv 2401.17072, and in "How similar are two LLMs"), the word cosine the mean over
static vectors of words.

An empty text has no meaning to encode: two empty ones have the value 1, an empty one and another 0.
"""

from collections.abc import Callable, Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from scope.metrics.arrays import Values

Vector = NDArray[np.float64]
"""Shape (dimensions,): of length 1, or of length 0 where the encoder knows nothing of the text."""

_LENGTH_TOLERANCE = 1e-3


def cosine_values(first: ArrayLike, second: ArrayLike) -> Values:
    """Return the cosine of each two rows, in -1..1. Symmetric.

    Parameters
    ----------
    first, second
        Shape (n, dimensions), rows of length 1. A row of zeros has the cosine 0 with all.

    Raises
    ------
    ValueError
        If the shapes differ, or a row has another length.

    Examples
    --------
    >>> cosine_values([[1, 0], [0, 1]], [[0.6, 0.8], [0, -1]]).tolist()
    [0.6, -1.0]
    """
    one, other = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    if one.ndim != 2 or one.shape != other.shape:
        raise ValueError(f"vectors of shape {one.shape} are compared with {other.shape}")
    _require_length_one(one)
    _require_length_one(other)
    # Rounding may lead out of the range by a last bit.
    cosines: Values = np.clip(np.einsum("ij,ij->i", one, other), -1.0, 1.0)
    return cosines


def text_cosine_values(
    first: Sequence[str], second: Sequence[str], vectors: Mapping[str, Vector]
) -> Values:
    """Return the cosine of each two texts' vectors, in -1..1. Symmetric.

    Parameters
    ----------
    first, second
        Texts, in parallel. Equal ones have the value 1, whatever their vectors.
    vectors
        The vector of each text that is not empty.

    Raises
    ------
    ValueError
        If there are not as many texts on both sides, or a vector is not of length 1.

    Examples
    --------
    >>> vectors = {"king": np.array([1.0, 0.0]), "queen": np.array([0.8, 0.6])}
    >>> text_cosine_values(["king", "king", ""], ["queen", "", ""], vectors).tolist()
    [0.8, 0.0, 1.0]
    """

    def cosines(one: Sequence[str], other: Sequence[str]) -> Values:
        return cosine_values([vectors[text] for text in one], [vectors[text] for text in other])

    return text_likeness_values(first, second, cosines)


def text_likeness_values(
    first: Sequence[str],
    second: Sequence[str],
    likeness: Callable[[Sequence[str], Sequence[str]], Values],
) -> Values:
    """Return how alike each two texts are, equal and empty ones by rule and others as they are.

    Parameters
    ----------
    first, second
        Texts, in parallel. Equal ones have the value 1, space around them aside; an empty one
        and another have 0.
    likeness
        One value a pair for texts that are neither; it is asked once, or not at all.

    Raises
    ------
    ValueError
        If there are not as many texts on both sides.

    Examples
    --------
    >>> def share(one, other): return np.array([len(a) / len(b) for a, b in zip(one, other)])
    >>> text_likeness_values(["ox", "ox", " "], ["oxen", "ox ", "cow"], share).tolist()
    [0.5, 1.0, 0.0]
    """
    if len(first) != len(second):
        raise ValueError(f"{len(first)} texts are compared with {len(second)}")
    pairs = [(one.strip(), other.strip()) for one, other in zip(first, second, strict=True)]
    values = np.array([float(one == other) for one, other in pairs], dtype=np.float64)
    compared = [index for index, (one, other) in enumerate(pairs) if one and other and one != other]
    if compared:
        values[compared] = likeness(
            [first[index] for index in compared], [second[index] for index in compared]
        )
    return values


def _require_length_one(rows: NDArray[np.float64]) -> None:
    lengths = np.sqrt(np.einsum("ij,ij->i", rows, rows))
    good = (np.abs(lengths - 1) <= _LENGTH_TOLERANCE) | (lengths == 0)
    if not good.all():
        raise ValueError(f"a vector of length {lengths[~good][0]:.6g}, not 1")
