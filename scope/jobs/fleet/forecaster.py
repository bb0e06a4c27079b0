"""The interface of a forecaster, a scikit-learn estimator, and two baselines."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from copy import copy
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from scope.errors import DataError, SpecError
from scope.jobs.fleet.factorization import new_model_skills, shrunk_skills
from scope.jobs.fleet.matrix import require_right_and_wrong
from scope.jobs.fleet.questions import Answers, QuestionLayout, Table
from scope.statistics.threads import one_numpy_thread

Probabilities = NDArray[np.float32]
"""The probability of a right answer; shape (questions, models)."""


class Forecaster(BaseEstimator, ABC):
    """Predicts which model answers which question correctly.

    A question is a row of a table with the columns of ``layout``, a model is a column of the
    answers. So scikit-learn's splits and searches, which sample rows, split by question. Results
    for one seed are byte-identical on any number of cores: matrices are multiplied by one thread.

    Subclasses define ``_fit``, ``_probabilities``, ``short_name``, and ``state``, the names of the
    fitted arrays and numbers; only these are saved.

    After fitting, ``skills_`` has shape (models,): the expected accuracy of each model on the
    fitted questions, shrunk towards the fleet's mean if few answers are known. The single best
    model has the highest.
    """

    short_name: ClassVar[str]
    state: ClassVar[tuple[str, ...]]
    least: ClassVar[Mapping[str, float]] = {}
    """The lowest value of each parameter that has one."""
    layout: QuestionLayout
    skills_: NDArray[np.float32]

    def fit(self, X: Table, y: Answers) -> Self:  # noqa: N803 - scikit-learn's name
        """Fit to the questions and the correctness of the answers.

        Parameters
        ----------
        X
            Shape (questions, ``layout.width``).
        y
            Shape (questions, models): 1 right, 0 wrong, NaN unknown.

        Raises
        ------
        DataError
            When the shapes do not match, an answer is none of 0, 1 and NaN, a model has no answer,
            or all answers are right, or all wrong.
        SpecError
            When a parameter is too low.
        """
        self.check_parameters()
        table, answers = checked_table(X, self.layout), checked_correctness(y, len(X))
        with one_numpy_thread():
            self._fit(table, answers)
        # As after loading: the memory layout of an array can change the last bit of a product.
        return self.restore(self.state_arrays())

    def predict_proba(self, X: Table) -> Probabilities:  # noqa: N803
        """The probability that each model answers each question correctly, (questions, models)."""
        with one_numpy_thread():
            return self._probabilities(checked_table(X, self.layout))

    def predict(self, X: Table) -> NDArray[np.float32]:  # noqa: N803
        """Whether each model is predicted to answer each question correctly: 1 or 0."""
        return (self.predict_proba(X) > 0.5).astype(np.float32)

    def score(self, X: Table, y: Answers) -> float:  # noqa: N803
        """The accuracy of `predict` on the known answers, from 0 to 1."""
        known = ~np.isnan(y)
        return float((self.predict(X) == y)[known].mean())

    def routing_scores(self, X: Table) -> Probabilities:  # noqa: N803
        """The score of each model for each question; the model with the highest score is asked."""
        return self.predict_proba(X)

    @property
    def spelling(self) -> str:
        """The name, and the parameters that differ from the default: ``knn(neighbours=9)``."""
        default: dict[str, Any] = type(self)(layout=self.layout).get_params(deep=False)
        current = self.get_params(deep=False)
        settings = [f"{name}={value}" for name, value in current.items() if value != default[name]]
        return f"{self.short_name}({', '.join(settings)})" if settings else self.short_name

    def check_parameters(self) -> None:
        """Raise a SpecError if a parameter is below its lowest value."""
        for name, least in self.least.items():
            value = getattr(self, name)
            if value is not None and not value >= least:
                raise SpecError(
                    f"{name}={value}", expected=f"{least:g} or more", fix=f"set {name}={least:g}"
                )

    def state_arrays(self) -> dict[str, NDArray[Any]]:
        """The arrays and numbers of a fitted forecaster, by name."""
        return {name: np.asarray(getattr(self, name), order="C") for name in self.state}

    def restore(self, arrays: dict[str, NDArray[Any]]) -> Self:
        """Restore the fitted state from the result of `state_arrays`."""
        for name in self.state:
            # A number is stored as an array without axes.
            value = arrays[name]
            setattr(self, name, value if value.ndim else value.item())
        return self

    @abstractmethod
    def _fit(self, table: Table, answers: Answers) -> None:
        """Fit to checked input."""

    @abstractmethod
    def _probabilities(self, table: Table) -> Probabilities:
        """Predict for checked input."""


class VectorForecaster(Forecaster):
    """A forecaster with one compact vector per model, to which models can be added.

    After fitting, ``model_vectors_`` has shape (models, dimensions).
    """

    model_vectors_: NDArray[np.float32]

    @property
    def places_(self) -> NDArray[np.floating]:
        """The models as points, shape (models, any): models at a small distance answer alike.

        The squared distance is the mean squared difference of two models' forecasts of the fitted
        questions, in logits if the forecaster computes logits.
        """
        return self.model_vectors_

    @abstractmethod
    def added(self, rows: NDArray[np.int64], answers: Answers) -> Self:
        """A copy with new models: their vectors are fitted, all other parameters are frozen.

        Parameters
        ----------
        rows
            The answered questions, by their rows in the fit.
        answers
            Shape (len(rows), new models): 1 right, 0 wrong, NaN unknown.
        """


def checked_table(table: Table, layout: QuestionLayout) -> Table:
    """The table in single precision, checked against the layout.

    Raises
    ------
    DataError
        When the number of columns is different, or a number is not finite.
    """
    single = np.asarray(table, dtype=np.float32)
    if single.ndim != 2 or single.shape[1] != layout.width:
        raise DataError(
            f"a table of questions of shape {single.shape}",
            expected=f"{layout.width} columns: a vector of {layout.vector}, "
            f"{len(layout.features)} features and {int(bool(layout.categories))} category",
            fix="make the table with the same encoder and columns that the forecaster has",
        )
    if not np.isfinite(single).all():
        row = int(np.flatnonzero(~np.isfinite(single).all(axis=1))[0])
        raise DataError(
            f"a number that is not finite in row {row} of the table of questions",
            expected="finite numbers",
            fix="encode the question again, or leave it out",
        )
    return single


def checked_correctness(answers: Answers, questions: int) -> Answers:
    """The answers in single precision, checked for a fit.

    Raises
    ------
    DataError
        As in `Forecaster.fit`.
    """
    single = np.asarray(answers, dtype=np.float32)
    if single.ndim != 2 or len(single) != questions:
        raise DataError(
            f"answers of shape {single.shape} to {questions} questions",
            expected="one row a question and one column a model",
            fix="turn the matrix round, or give the questions that were answered",
        )
    mute = np.flatnonzero(np.isnan(single).all(axis=0))
    if len(mute):
        raise DataError(
            f"no answer of the model in column {mute[0]}",
            expected="an answer or more of every model",
            fix="leave the model out, or add answers of it",
        )
    require_right_and_wrong(single)
    return single


class MeanForecaster(VectorForecaster):
    """Predicts each model's accuracy on its known answers for every question.

    A model's vector is this accuracy. ``skills_``, the expected accuracy on all questions, is
    shrunk towards the fleet's mean if the model has few answers.

    Parameters
    ----------
    layout
        The columns of a table of questions; none is used.

    Examples
    --------
    >>> questions = np.zeros((4, 1), dtype=np.float32)
    >>> answers = np.array([[1, 0], [1, 1], [1, np.nan], [0, 0]], dtype=np.float32)
    >>> mean = MeanForecaster(layout=QuestionLayout(vector=1)).fit(questions, answers)
    >>> print(mean.predict_proba(questions[:1]).round(3))
    [[0.75  0.333]]
    """

    short_name: ClassVar[str] = "mean"
    state: ClassVar[tuple[str, ...]] = ("model_vectors_", "skills_", "questions_", "fitted_")

    def __init__(self, *, layout: QuestionLayout) -> None:
        self.layout = layout

    def added(self, rows: NDArray[np.int64], answers: Answers) -> Self:
        """A copy with new models, with their accuracy on these answers."""
        larger = copy(self)
        larger.model_vectors_ = np.concatenate([self.model_vectors_, accuracies(answers)[:, None]])
        # Compared with the fitted models: models added before do not count.
        skills = new_model_skills(answers, self.skills_[: self.fitted_], self.questions_)
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

    The distance is Euclidean, which for vectors of length 1 has the order of the cosine distance;
    of equal distances the first question counts. A model's unknown answers are left out; a model
    without known answers among the neighbours is predicted by its skill (`shrunk_skills`). Features
    and categories are not used.

    Parameters
    ----------
    layout
        The columns of a table of questions.
    neighbours
        Number of neighbours; the paper has 131. With fewer questions all count, which is the mean.

    Examples
    --------
    >>> questions = np.array([[0.0], [1.0], [5.0]], dtype=np.float32)
    >>> answers = np.array([[1], [0], [1]], dtype=np.float32)
    >>> nearest = NeighbourForecaster(layout=QuestionLayout(vector=1), neighbours=2)
    >>> nearest.fit(questions, answers).predict_proba(np.array([[0.2], [4.0]])).tolist()
    [[0.5], [0.5]]
    """

    short_name: ClassVar[str] = "knn"
    state: ClassVar[tuple[str, ...]] = ("question_vectors_", "answers_", "skills_")

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
        # In double precision, equal vectors have equal distances after rounding.
        others = self.question_vectors_.astype(np.float64)
        squares = (others * others).sum(axis=1)
        chances = np.tile(self.skills_, (len(table), 1))
        for start in range(0, len(table), _AT_ONCE):
            rows = slice(start, start + _AT_ONCE)
            vectors = self.layout.vectors_of(table[rows])
            # The square of the question itself is omitted: it is the same for all neighbours.
            distances = (squares - 2 * (vectors @ others.T)).astype(np.float32)
            near = nearest(distances, self.neighbours)
            # Sums of ones: exact in single precision, in any order.
            answered = near @ count
            np.divide(near @ right, answered, out=chances[rows], where=answered > 0)
        return chances


def nearest(distances: NDArray[np.float32], count: int) -> NDArray[np.float32]:
    """1 for the ``count`` smallest values of each row, the first of equals; 0 for the others.

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
