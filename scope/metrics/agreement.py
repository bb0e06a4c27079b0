"""Agreement on clean examples: do two models give the same answers, and as many right ones?

IID agreement is the mean of `iid_agreement_values`. The gap in IID accuracy is the distance
from 0 of the mean of `accuracy_difference_values`, whose sign says who is better.

Rawal & Toneva (2024), Findings of ACL, arXiv 2311.04166, compare the SCoPE measures with both.
"""

import numpy as np
from numpy.typing import ArrayLike

from scope.metrics.arrays import Values, checked_labels, require_same_shape


def iid_agreement_values(reference_labels: ArrayLike, target_labels: ArrayLike) -> Values:
    """Return 1 where both models choose the same label for the clean text, else 0.

    Parameters
    ----------
    reference_labels, target_labels
        Shape (n,): indices into the same list of labels. Symmetric.

    Raises
    ------
    ValueError
        If the shapes differ or something is no label index.

    Examples
    --------
    >>> iid_agreement_values([0, 1, 2], [0, 2, 2]).tolist()
    [1.0, 0.0, 1.0]
    """
    reference = checked_labels("reference_labels", reference_labels)
    target = checked_labels("target_labels", target_labels)
    require_same_shape(reference_labels=reference, target_labels=target)
    return np.asarray(reference == target, dtype=np.float64)


def correctness(labels: ArrayLike, gold: ArrayLike) -> Values:
    """Return 1 where the label is the gold one, else 0; the mean is the accuracy.

    Parameters
    ----------
    labels, gold
        Shape (n,). Every example has a gold label: leave out those without.

    Raises
    ------
    ValueError
        If the shapes differ or something is no label index.

    Examples
    --------
    >>> correctness([0, 1, 1], gold=[0, 1, 0]).tolist()
    [1.0, 1.0, 0.0]
    """
    found = checked_labels("labels", labels)
    expected = checked_labels("gold", gold)
    require_same_shape(labels=found, gold=expected)
    return np.asarray(found == expected, dtype=np.float64)


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
        If the shapes differ or something is no label index.

    Examples
    --------
    >>> accuracy_difference_values([0, 1, 1], [1, 1, 0], gold=[0, 1, 0]).tolist()
    [-1.0, 0.0, 1.0]
    """
    return correctness(target_labels, gold) - correctness(reference_labels, gold)
