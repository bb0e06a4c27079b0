"""How much two answers of a model differ."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scope.protocols import Role
from scope.records import Answer, Prediction

DRIFT = 1e-3
"""Greatest difference of a probability that other hardware, batches or libraries cause."""


def difference(role: Role, first: Any, second: Any) -> float:
    """How much two answers in a role differ."""
    compare = difference_of_predictions if role == "classifier" else difference_of_answers
    return compare(first, second)


def difference_of_predictions(first: Prediction, second: Prediction) -> float:
    """The greatest difference of a probability.

    A token that only one prediction has counts, in the other, as at most the least probability
    there.

    Examples
    --------
    >>> one = Prediction(probabilities=(0.75, 0.25))
    >>> difference_of_predictions(one, Prediction(probabilities=(0.5, 0.5)))
    0.25
    """
    if not (first.tokens or second.tokens):
        return _greatest(first.probabilities, second.probabilities)
    ones = dict(zip(first.tokens, first.probabilities, strict=True))
    others = dict(zip(second.tokens, second.probabilities, strict=True))
    return max(_beyond(ones, others), _beyond(others, ones))


def difference_of_answers(first: Answer, second: Answer) -> float:
    """The same for answers to a question; infinite for other words.

    Words are compared without case and spaces; equal ones differ by 0. Without probabilities
    another option is infinitely different. Two missing answers are equal, and differ from any
    other.

    Examples
    --------
    >>> difference_of_answers(Answer(text="In 1066"), Answer(text="in  1066"))
    0.0
    >>> difference_of_answers(Answer(text="in 1066"), Answer())
    inf
    """
    if _words(first) != _words(second):
        return math.inf
    if first.probabilities and len(first.probabilities) == len(second.probabilities):
        return _greatest(first.probabilities, second.probabilities)
    return 0.0 if first.choice == second.choice else math.inf


def difference_of_numbers(first: NDArray[np.float32], second: NDArray[np.float32]) -> float:
    """The greatest difference of a number of two arrays, as a share of the first's greatest.

    Examples
    --------
    >>> difference_of_numbers(np.float32([4, 1]), np.float32([4, 2]))
    0.25
    """
    if first.shape != second.shape or not np.isfinite(second).all():
        return math.inf
    greatest = float(np.abs(first).max(initial=0.0)) or 1.0
    return float(np.abs(first - second).max(initial=0.0)) / greatest


def _words(answer: Answer) -> str | None:
    return None if answer.text is None else " ".join(answer.text.casefold().split())


def _greatest(first: tuple[float, ...], second: tuple[float, ...]) -> float:
    if len(first) != len(second):
        return math.inf
    return max((abs(a - b) for a, b in zip(first, second, strict=True)), default=0.0)


def _beyond(ones: dict[str, float], others: dict[str, float]) -> float:
    least = min(others.values(), default=0.0)
    gaps = [abs(share - others.get(token, min(share, least))) for token, share in ones.items()]
    return max(gaps, default=0.0)
