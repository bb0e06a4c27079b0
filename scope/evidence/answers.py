"""The answers of many models to the same questions, as arrays."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

NOT_GIVEN = -1
"""Marks a missing answer, or a question that was not asked."""

UNKNOWN = -1
"""Marks an unknown right answer."""


@dataclass(frozen=True, kw_only=True, eq=False)
class AnswerMatrix:
    """The answers of models to questions with options; a row a model, a column a question.

    Parameters
    ----------
    answers
        The option that each model chose, from 0, or ``NOT_GIVEN``; shape (models, items).
    options
        How many options each question has, at least 2; shape (items,).
    gold
        The right option, or ``UNKNOWN``; shape (items,).
    probabilities
        Of every option, shape (models, items, most options), 0 for options that a question lacks
        and NaN throughout where a model gives none; None where no model gives any.
    units
        The example that each question belongs to, from 0: an original and its perturbations are
        one unit, for they do not vary independently; shape (items,).
    open_vocabulary
        Whether answers are words that are numbered anew for each question, so that one number
        stands for different answers to different questions.

    Raises
    ------
    ValueError
        When the shapes do not fit together, or an answer is none of the options.
    """

    answers: NDArray[np.int64]
    options: NDArray[np.int64]
    gold: NDArray[np.int64]
    probabilities: NDArray[np.float64] | None = None
    units: NDArray[np.int64]
    open_vocabulary: bool = False

    def __post_init__(self) -> None:
        items = self.answers.shape[1]
        if not len(self.options) == len(self.gold) == len(self.units) == items:
            raise ValueError(f"{items} answers a model to {len(self.options)} questions")
        if (self.answers >= self.options).any() or (self.answers < NOT_GIVEN).any():
            raise ValueError("an answer is none of its question's options")
        if (self.gold >= self.options).any() or (self.options < 2).any():
            raise ValueError("a right answer is none of its question's options, or there is one")
        if self.probabilities is not None:
            shape = (*self.answers.shape, self.options.max(initial=0))
            if self.probabilities.shape != shape:
                raise ValueError(f"probabilities have the shape {self.probabilities.shape}")

    @property
    def given(self) -> NDArray[np.bool_]:
        """Whether a model answered a question; shape (models, items)."""
        return np.asarray(self.answers != NOT_GIVEN)

    def expected_right(self) -> NDArray[np.int64]:
        """The right option, or if it is unknown the one that most models give.

        Of equals the first counts. An answer that few models give then counts as a mistake.
        """
        if (self.gold != UNKNOWN).all():
            return self.gold
        counts = np.stack([(self.answers == one).sum(axis=0) for one in range(self.options.max())])
        return np.where(self.gold == UNKNOWN, counts.argmax(axis=0), self.gold)


@dataclass(frozen=True, kw_only=True, eq=False)
class Scores:
    """The similarity of every model's answers to the reference's, by one kind of evidence.

    Row 0 is the reference itself and has no meaning; the others are the models of the pool, the
    suspect and the controls, all treated alike.

    Parameters
    ----------
    values
        One number per model, greater if it is more similar to the reference; NaN if undefined.
    parts
        The contribution of each unit; a model's value is their sum; shape (models, units).
    """

    values: NDArray[np.float64]
    parts: NDArray[np.float64]
