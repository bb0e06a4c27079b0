"""Matches labels of different names by the answers.

A model's label is matched with the label that most controls give to the same texts. The
reference's answers are not used, so the match cannot make a model look like the reference.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from scope.records import Prediction

Matching = tuple[int, ...]
"""For each of a model's labels, the index of the matched label."""


def match_labels(
    own: Mapping[str, Prediction], others: Sequence[Mapping[str, Prediction]], labels: int
) -> Matching:
    """Match each label of a model with one of the ``labels`` labels of the other models.

    With as many labels on both sides the match is one to one and maximises agreement; otherwise a
    label is matched with the one that it co-occurs with most often, the first of equals. A label
    that the model never gives is matched with the first that is left, or the first.

    Examples
    --------
    >>> def predictions(*rows):
    ...     return {str(n): Prediction(probabilities=row) for n, row in enumerate(rows)}
    >>> ours = predictions((1, 0), (0, 1), (0, 1))
    >>> theirs = predictions((0, 1), (1, 0), (1, 0))
    >>> match_labels(theirs, [ours], 2)
    (1, 0)
    """
    from scipy.optimize import linear_sum_assignment

    first = next(iter(own.values()))
    together = np.zeros((len(first.probabilities), labels))
    for text, prediction in own.items():
        votes = np.zeros(labels)
        for other in others:
            votes[other[text].label] += 1
        together[prediction.label, int(votes.argmax())] += 1
    if together.shape[0] == labels:
        return tuple(int(place) for place in linear_sum_assignment(-together)[1])
    return tuple(int(place) for place in together.argmax(axis=1))


def relabelled(prediction: Prediction, matching: Matching, labels: int) -> Prediction:
    """The prediction over the matched labels.

    Examples
    --------
    >>> relabelled(Prediction(probabilities=(0.5, 0.3, 0.2)), (1, 0, 0), 2).probabilities
    (0.5, 0.5)
    """
    sums = np.bincount(matching, weights=prediction.probabilities, minlength=labels)
    return replace(prediction, probabilities=tuple(float(one) for one in sums))


def matched_in_words(matching: Matching, own: Sequence[str], labels: Sequence[str]) -> str:
    """The matching as text, for messages.

    Examples
    --------
    >>> matched_in_words((1, 0), ["LABEL_0", "LABEL_1"], ["negative", "positive"])
    'LABEL_0 as positive, LABEL_1 as negative'
    """
    return ", ".join(
        f"{' '.join(name.split())} as {labels[place]}"
        for name, place in zip(own, matching, strict=True)
    )
