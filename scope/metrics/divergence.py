"""Distance of probabilities: what do two models' answers tell apart?

The Jensen-Shannon divergence in bits: JS(p, q) = (KL(p ‖ m) + KL(q ‖ m)) / 2 with m = (p + q) / 2
(Lin 1991). It is 0 where both give the same probabilities, 1 where no option has a chance with
both. Like agreement it knows nothing of chance: two accurate models are near each other
whatever their errors (Goel et al. 2025, arXiv 2502.04313).
"""

import numpy as np
from numpy.typing import ArrayLike

from scope.metrics.arrays import ProbabilityRows, Values, require_same_shape
from scope.metrics.option_rows import checked_option_rows


def js_divergence_values(
    first: ArrayLike, second: ArrayLike, options: ArrayLike | None = None
) -> Values:
    """Return the Jensen-Shannon divergence of each two rows, in bits, 0..1. Symmetric.

    Parameters
    ----------
    first, second
        Shape (n, most options): probabilities, 0 behind the last option of an item.
    options
        Shape (n,): the number of options of each item; all of them if left out.

    Raises
    ------
    ValueError
        If the shapes differ or a row holds no probabilities of its options.

    Examples
    --------
    >>> js_divergence_values([[1, 0], [0.3, 0.7]], [[0, 1], [0.3, 0.7]]).tolist()
    [1.0, 0.0]
    """
    one, _ = checked_option_rows("first", first, options)
    other, _ = checked_option_rows("second", second, options)
    require_same_shape(first=one, second=other)
    middle = (one + other) / 2
    return np.clip((_divergence(one, middle) + _divergence(other, middle)) / 2, 0.0, 1.0)


def _divergence(rows: ProbabilityRows, middle: ProbabilityRows) -> Values:
    """Return KL(rows ‖ middle) in bits; an option without a chance adds nothing."""
    ratio = np.divide(rows, middle, out=np.ones_like(rows), where=rows > 0)
    return np.asarray((rows * np.log2(ratio)).sum(axis=1), dtype=np.float64)
