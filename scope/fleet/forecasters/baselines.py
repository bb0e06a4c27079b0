"""What any other forecaster must beat: each model's accuracy, and the nearest questions.

Forecasts by the nearest questions are as EmbedLLM published them beside its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from copy import copy
from typing import ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from scope.fleet.forecasters.factorization import new_model_skills, shrunk_skills
from scope.fleet.forecasters.forecaster import Forecaster, Probabilities, VectorForecaster
from scope.fleet.forecasters.new_models import checked_new_models
from scope.fleet.layout import Answers, QuestionLayout, Table


class MeanForecaster(VectorForecaster):
    """Predicts each question by the share of a model's known answers that are right.

    A model's vector has the one dimension of that share. What is to be expected of it over all
    questions, ``skills_``, is drawn to the fleet's mean where its answers are few.

    Parameters
    ----------
    layout
        The columns of a table of questions, of which none counts.

    Examples
    --------
    >>> questions = np.zeros((4, 1), dtype=np.float32)
    >>> answers = np.array([[1, 0], [1, 1], [1, np.nan], [0, 0]], dtype=np.float32)
    >>> mean = MeanForecaster(layout=QuestionLayout(vector=1)).fit(questions, answers)
    >>> print(mean.predict_proba(questions[:1]).round(3))
    [[0.75  0.333]]
    """

    short_name: ClassVar[str] = "mean"
    state: ClassVar[tuple[str, ...]] = (
        "model_vectors_",
        "skills_",
        "questions_",
        "fitted_",
    )

    def __init__(self, *, layout: QuestionLayout) -> None:
        self.layout = layout

    def added(self, rows: NDArray[np.int64], answers: Answers) -> Self:
        """A copy with new models, whose accuracy is that of these answers."""
        _, checked = checked_new_models(rows, answers, self.questions_)
        larger = copy(self)
        larger.model_vectors_ = np.concatenate([self.model_vectors_, accuracies(checked)[:, None]])
        # Against the models that were fitted: others that were added before do not count.
        skills = new_model_skills(checked, self.skills_[: self.fitted_], self.questions_)
        larger.skills_ = np.concatenate([self.skills_, skills])
        return larger

    def _fit(self, table: Table, answers: Answers) -> None:
        self.model_vectors_ = accuracies(answers)[:, None]
        self.skills_ = shrunk_skills(answers)
        self.questions_, self.fitted_ = answers.shape

    def _probabilities(self, table: Table) -> Probabilities:
        return np.repeat(self.model_vectors_.T, len(table), axis=0)


def accuracies(answers: Answers) -> NDArray[np.float32]:
    """The share of each model's known answers that are right, shape (models,)."""
    return np.asarray(np.nanmean(answers, axis=0, dtype=np.float64), dtype=np.float32)


_AT_ONCE = 256
"""Questions whose distances to all others are held in memory."""


class NeighbourForecaster(Forecaster):
    """Predicts a question by the mean answer of the training questions nearest to its vector.

    Nearest is by Euclidean distance, which for vectors of length 1 orders as cosine does; at
    equal distances the question that stands first counts. A model's unknown answers are left
    out, and where it has none among the neighbours its skill stands in (`shrunk_skills`).
    Features and categories count for nothing.

    Parameters
    ----------
    layout
        The columns of a table of questions.
    neighbours
        How many; the paper has 131. All questions where there are fewer, which is the mean.

    Examples
    --------
    >>> questions = np.array([[0.0], [1.0], [5.0]], dtype=np.float32)
    >>> answers = np.array([[1], [0], [1]], dtype=np.float32)
    >>> nearest = NeighbourForecaster(layout=QuestionLayout(vector=1), neighbours=2)
    >>> nearest.fit(questions, answers).predict_proba(np.array([[0.2], [4.0]])).tolist()
    [[0.5], [0.5]]
    """

    short_name: ClassVar[str] = "knn"
    state: ClassVar[tuple[str, ...]] = (
        "question_vectors_",
        "answers_",
        "skills_",
    )
    least: ClassVar[Mapping[str, float]] = {"neighbours": 1}

    def __init__(self, *, layout: QuestionLayout, neighbours: int = 131) -> None:
        self.layout = layout
        self.neighbours = neighbours

    def _fit(self, table: Table, answers: Answers) -> None:
        self.question_vectors_ = self.layout.vectors_of(table).copy()
        self.answers_ = answers.copy()
        self.skills_ = shrunk_skills(answers)

    def _probabilities(self, table: Table) -> Probabilities:
        known = ~np.isnan(self.answers_)
        right = np.where(known, self.answers_, np.float32(0))
        count = known.astype(np.float32)
        found = np.tile(self.skills_, (len(table), 1))
        for rows, near in self._neighbourhoods(self.layout.vectors_of(table)):
            # Sums of ones: exact in single precision, in whichever order.
            answered = near @ count
            np.divide(near @ right, answered, out=found[rows], where=answered > 0)
        return found

    def _neighbourhoods(
        self, vectors: NDArray[np.float32]
    ) -> Iterator[tuple[slice, NDArray[np.float32]]]:
        """Some rows at a time: 1 for each neighbour of a row's question, else 0."""
        # In double precision two equal vectors are at distances that are equal once rounded.
        others = self.question_vectors_.astype(np.float64)
        squares = (others * others).sum(axis=1)
        for start in range(0, len(vectors), _AT_ONCE):
            rows = slice(start, start + _AT_ONCE)
            # The question's own square is left out: it is the same for all others.
            distances = (squares - 2 * (vectors[rows] @ others.T)).astype(np.float32)
            yield rows, nearest(distances, self.neighbours)


def nearest(distances: NDArray[np.float32], count: int) -> NDArray[np.float32]:
    """1 for the so many least of each row, of equal ones those that stand first, else 0.

    Examples
    --------
    >>> nearest(np.array([[3, 1, 2, 2]], dtype=np.float32), 2).tolist()
    [[0.0, 1.0, 1.0, 0.0]]
    """
    if count >= distances.shape[1]:
        return np.ones_like(distances)
    furthest = np.partition(distances, count - 1, axis=1)[:, count - 1 : count]
    nearer, level = distances < furthest, distances == furthest
    room = count - nearer.sum(axis=1, keepdims=True)
    chosen: NDArray[np.bool_] = nearer | (level & (level.cumsum(axis=1) <= room))
    return chosen.astype(np.float32)
