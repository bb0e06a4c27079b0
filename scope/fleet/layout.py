"""Questions as a table of numbers: which columns hold what."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Table = NDArray[np.float32]
"""Questions as rows: first their vectors, then their features, then the category's code."""

Answers = NDArray[np.float32]
"""One row a question, one column a model: 1 right, 0 wrong, NaN unknown."""

NO_CATEGORY = -1
"""The code of a category that was not there when the forecaster was fitted."""


@dataclass(frozen=True, kw_only=True, slots=True)
class QuestionLayout:
    """Which columns of a table of questions hold what: a parameter of every forecaster.

    ``vector`` is the number of columns of the question's vector, by the encoder with the
    fingerprint ``encoder``; ``features`` names the columns after them, in their order. Where there
    are ``categories``, the last column holds the place of the question's own among them, or -1.

    Examples
    --------
    >>> layout = QuestionLayout(vector=2, features=("words",), categories=("arc", "gsm8k"))
    >>> table = np.array([[0.6, 0.8, 12.0, 1.0]], dtype=np.float32)
    >>> layout.width, layout.codes(table).tolist(), layout.features_of(table).tolist()
    (4, [1], [[12.0]])
    """

    vector: int
    features: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    encoder: str = ""

    @property
    def width(self) -> int:
        """The number of columns of a table."""
        return self.vector + len(self.features) + bool(self.categories)

    def vectors_of(self, table: Table) -> NDArray[np.float32]:
        """The questions' vectors, shape (questions, vector)."""
        return table[:, : self.vector]

    def features_of(self, table: Table) -> NDArray[np.float32]:
        """The questions' features, shape (questions, features)."""
        return table[:, self.vector : self.vector + len(self.features)]

    def codes(self, table: Table) -> NDArray[np.int64]:
        """The place of each question's category, or -1; all -1 where there are none."""
        if not self.categories:
            return np.full(len(table), NO_CATEGORY)
        return table[:, -1].astype(np.int64)
