"""Made-up scores in groups: pairs of a group share most of what they are."""

import numpy as np

SHARED = 0.7
"""The correlation of two pairs of a group."""


def grouped(seed, *, columns, count, size):
    """Normal columns of ``count * size`` pairs that do not correlate, and the pairs' groups."""
    generator = np.random.default_rng(seed)
    common = np.repeat(generator.normal(size=(columns, count)), size, axis=1)
    own = generator.normal(size=(columns, count * size))
    return np.sqrt(SHARED) * common + np.sqrt(1 - SHARED) * own, np.repeat(np.arange(count), size)
