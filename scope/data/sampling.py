"""Draws a sample in one pass: the smallest of random numbers, one a candidate."""

from __future__ import annotations

import heapq
from collections.abc import Iterable
from operator import itemgetter
from typing import TypeVar

import numpy as np

from scope.errors import DataError

Candidate = TypeVar("Candidate")


def draw(candidates: Iterable[Candidate], n: int | None, seed: int) -> list[Candidate]:
    """The ``n`` candidates with the smallest random numbers, in their own order; all if None.

    A smaller sample of the same seed is part of a larger one.

    Examples
    --------
    >>> draw("abcdef", 3, seed=0), draw("abcdef", 2, seed=0)
    (['b', 'c', 'd'], ['c', 'd'])
    """
    if n is None:
        return list(candidates)
    generator = np.random.default_rng(seed)
    numbered = (
        (generator.random(), place, candidate) for place, candidate in enumerate(candidates)
    )
    # The place decides between equal numbers, for candidates themselves have no order.
    smallest = heapq.nsmallest(n, numbered, key=itemgetter(0, 1))
    return [candidate for _, _, candidate in sorted(smallest, key=itemgetter(1))]


def require_sample(n: int | None, seed: int) -> None:
    """Refuse a sample of nothing, and a seed that no generator takes.

    Raises
    ------
    DataError
        When ``n`` is below 1 or the seed below 0.
    """
    if n is not None and n < 1:
        raise DataError(f"n = {n}", expected="1 or more examples", mend="ask for at least one")
    if seed < 0:
        raise DataError(f"seed = {seed}", expected="0 or more", mend="choose another seed")
