"""Agreement on clean examples: the same answers, as many right ones, near probabilities.

Agreement is the mean of `agreement_values`. The gap in IID accuracy is the distance
from 0 of the mean of `accuracy_difference_values`, whose sign says which model is better.
Rawal & Toneva (2024), Findings of ACL, arXiv 2311.04166, compare the SCoPE measures with both.

The Jensen-Shannon divergence in bits is JS(p, q) = (KL(p ‖ m) + KL(q ‖ m)) / 2, m = (p + q) / 2
(Lin 1991): 0 for equal probabilities, 1 where no option has a chance with both. Like agreement it
is not corrected for chance: two accurate models are near each other whatever their errors (Goel
et al. 2025, arXiv 2502.04313).
"""

import numpy as np
from numpy.typing import ArrayLike

from scope.metrics.arrays import (
    NO_ANSWER,
    ProbabilityRows,
    Values,
    checked_labels,
    checked_option_rows,
    require_same_shape,
)


def agreement_values(first: ArrayLike, second: ArrayLike) -> Values:
    """Return 1 where two models, or a model and the right answers, choose the same, else 0.

    Parameters
    ----------
    first, second
        Shape (n,): indices into the same list of labels or options, or -1 for an answer that was
        not given, which is the same as no other. Symmetric.

    Raises
    ------
    ValueError
        If the shapes differ or a value is not an index.

    Examples
    --------
    >>> agreement_values([0, 1, 2, -1], [0, 2, 2, -1]).tolist()
    [1.0, 0.0, 1.0, 0.0]
    """
    of_first, of_second = (
        checked_labels(name, labels, NO_ANSWER)
        for name, labels in (("first", first), ("second", second))
    )
    require_same_shape(first=of_first, second=of_second)
    return np.asarray((of_first == of_second) & (of_first != NO_ANSWER), dtype=np.float64)


def accuracy_difference_values(
    reference_labels: ArrayLike, target_labels: ArrayLike, gold: ArrayLike
) -> Values:
    """Return 1 where only the target is right, -1 where only the reference is, else 0.

    Parameters
    ----------
    reference_labels, target_labels, gold
        Shape (n,). Exchanging the models changes the sign.

    Raises
    ------
    ValueError
        If the shapes differ or a value is not a label index.

    Examples
    --------
    >>> accuracy_difference_values([0, 1, 1], [1, 1, 0], gold=[0, 1, 0]).tolist()
    [-1.0, 0.0, 1.0]
    """
    return agreement_values(target_labels, gold) - agreement_values(reference_labels, gold)


def js_divergence_values(
    first: ArrayLike, second: ArrayLike, options: ArrayLike | None = None
) -> Values:
    """Return the Jensen-Shannon divergence of each two rows, in bits, 0..1. Symmetric.

    Parameters
    ----------
    first, second
        Shape (n, most options): probabilities, 0 behind the last option of an item. A row of zeros
        is an answer that was not given, as far from any other as possible: 1.
    options
        Shape (n,): the number of options of each item; all of them if left out.

    Raises
    ------
    ValueError
        If the shapes differ or a row holds no probabilities of its options.

    Examples
    --------
    >>> js_divergence_values([[1, 0], [0.3, 0.7], [0, 0]], [[0, 1], [0.3, 0.7], [0, 0]]).tolist()
    [1.0, 0.0, 1.0]
    """
    of_first, _ = checked_option_rows("first", first, options)
    of_second, _ = checked_option_rows("second", second, options)
    require_same_shape(first=of_first, second=of_second)
    middle = (of_first + of_second) / 2
    values = (_divergence(of_first, middle) + _divergence(of_second, middle)) / 2
    answered = of_first.any(axis=1) & of_second.any(axis=1)
    return np.where(answered, np.clip(values, 0.0, 1.0), 1.0)


def _divergence(rows: ProbabilityRows, middle: ProbabilityRows) -> Values:
    """Return KL(rows ‖ middle) in bits; an option without a chance adds nothing."""
    ratio = np.divide(rows, middle, out=np.ones_like(rows), where=rows > 0)
    return np.asarray((rows * np.log2(ratio)).sum(axis=1), dtype=np.float64)
