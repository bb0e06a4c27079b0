"""What every forecaster of a fleet offers, in the manner of scikit-learn."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from threadpoolctl import threadpool_limits

from scope.errors import DataError, SpecError
from scope.fleet.layout import Answers, QuestionLayout, Table

Probabilities = NDArray[np.float32]
"""One row a question, one column a model: the probability of a right answer."""


class Forecaster(BaseEstimator, ABC):
    """Predicts which model answers which question correctly.

    A question is a row of a table laid out as ``layout`` says, a model a column of the answers,
    so that scikit-learn's splits and searches, which draw rows, split by question. Results are the
    same to the byte for one seed, on any number of cores: matrices are multiplied by one thread.

    Subclasses give ``_fit``, ``_probabilities``, their ``short_name``, and in ``state`` the names
    of the arrays and numbers that a fitted one consists of, which is all that is saved of it.
    ``least`` has the least value of each parameter that has one.

    Fitted, it has ``skills_``, shape (models,): the share of right answers to be expected of each
    model over the questions that it was fitted on, drawn to the fleet's mean where few answers
    are known. Who is the single best model is to be decided by it.
    """

    short_name: ClassVar[str]
    state: ClassVar[tuple[str, ...]]
    least: ClassVar[Mapping[str, float]] = {}
    layout: QuestionLayout
    skills_: NDArray[np.float32]

    def fit(self, X: Table, y: Answers) -> Self:  # noqa: N803 - scikit-learn's name
        """Learn from who answered what.

        Parameters
        ----------
        X
            Shape (questions, ``layout.width``).
        y
            Shape (questions, models): 1 right, 0 wrong, NaN unknown.

        Raises
        ------
        DataError
            When the shapes do not go together, a number is neither, a model has no answer, or
            all answers are right, or all wrong.
        SpecError
            When a parameter cannot be, such as more dimensions than models.
        """
        table, answers = checked_table(X, self.layout), checked_correctness(y, len(X))
        self.check_parameters()
        with threadpool_limits(1):
            self._fit(table, answers)
        # As after loading: how an array lies in memory can change the last bit of a product.
        return self.restore(self.state_arrays())

    def predict_proba(self, X: Table) -> Probabilities:  # noqa: N803
        """The probability that each model answers each question correctly, (questions, models)."""
        with threadpool_limits(1):
            return self._probabilities(checked_table(X, self.layout))

    def predict(self, X: Table) -> NDArray[np.float32]:  # noqa: N803
        """Whether each model is predicted to answer each question correctly: 1 or 0."""
        return (self.predict_proba(X) > 0.5).astype(np.float32)

    def score(self, X: Table, y: Answers) -> float:  # noqa: N803
        """The accuracy of `predict` over the answers that are known, from 0 to 1."""
        known = ~np.isnan(y)
        return float((self.predict(X) == y)[known].mean())

    def routing_scores(self, X: Table) -> Probabilities:  # noqa: N803
        """How much each question is for each model; the greatest of a row is to be asked."""
        return self.predict_proba(X)

    @property
    def spelling(self) -> str:
        """Its name, and its parameters where they are not as by default: ``knn(neighbours=9)``."""
        default: dict[str, Any] = type(self)(layout=self.layout).get_params(deep=False)
        given = self.get_params(deep=False)
        settings = [f"{name}={value}" for name, value in given.items() if value != default[name]]
        return f"{self.short_name}({', '.join(settings)})" if settings else self.short_name

    def check_parameters(self) -> None:
        """Raise a SpecError for a parameter that cannot be, whatever the questions are."""
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
        """Take over what `state_arrays` gave."""
        for name in self.state:
            # A number was kept as an array without axes.
            value = arrays[name]
            setattr(self, name, value if value.ndim else value.item())
        return self

    @abstractmethod
    def _fit(self, table: Table, answers: Answers) -> None:
        """Learn from what has been checked."""

    @abstractmethod
    def _probabilities(self, table: Table) -> Probabilities:
        """Forecast what has been checked."""


class VectorForecaster(Forecaster):
    """A forecaster with one compact vector a model, which others may be added to.

    Fitted, it has ``model_vectors_``, shape (models, dimensions).
    """

    model_vectors_: NDArray[np.float32]

    @property
    def places_(self) -> NDArray[np.floating]:
        """The models as places, shape (models, any): those near to each other answer alike.

        The squared distance is the mean squared difference of two models' forecasts of the
        questions that it was fitted on, as logits where forecasts are made of logits.
        """
        return self.model_vectors_

    @abstractmethod
    def added(self, rows: NDArray[np.int64], answers: Answers) -> Self:
        """A copy with new models: their vectors from some answers, all else frozen.

        Parameters
        ----------
        rows
            Which of the questions that it was fitted on were answered, by their rows then.
        answers
            Shape (len(rows), new models): 1 right, 0 wrong, NaN unknown.
        """


def checked_table(table: Table, layout: QuestionLayout) -> Table:
    """The table in single precision, if it is as the layout says and holds numbers alone.

    Raises
    ------
    DataError
        When it is not, or does not.
    """
    found = np.asarray(table, dtype=np.float32)
    if found.ndim != 2 or found.shape[1] != layout.width:
        raise DataError(
            f"a table of questions of shape {found.shape}",
            expected=f"{layout.width} columns: a vector of {layout.vector}, "
            f"{len(layout.features)} features and {int(bool(layout.categories))} category",
            fix="make the table with the same encoder and columns that the forecaster has",
        )
    if not np.isfinite(found).all():
        row = int(np.flatnonzero(~np.isfinite(found).all(axis=1))[0])
        raise DataError(
            f"a number that is not finite in row {row} of the table of questions",
            expected="finite numbers",
            fix="encode the question again, or leave it out",
        )
    return found


def checked_correctness(answers: Answers, questions: int) -> Answers:
    """The answers in single precision, if there is something to learn from them.

    Raises
    ------
    DataError
        When there is not, or a value is none of 0, 1 and NaN.
    """
    found = np.asarray(answers, dtype=np.float32)
    if found.ndim != 2 or len(found) != questions:
        raise DataError(
            f"answers of shape {found.shape} to {questions} questions",
            expected="one row a question and one column a model",
            fix="turn the matrix round, or give the questions that were answered",
        )
    require_right_or_wrong(found)
    require_right_and_wrong(found)
    require_answers_of_each(found)
    return found


def require_right_or_wrong(answers: Answers) -> None:
    """Check that every answer is 1, 0 or NaN.

    Raises
    ------
    DataError
        When one is not.
    """
    wrong = answers[~np.isnan(answers) & (answers != 0) & (answers != 1)]
    if len(wrong):
        raise DataError(
            f"the value {float(wrong[0]):g} among the answers",
            expected="1 for right, 0 for wrong, NaN for unknown",
            fix="make each answer right or wrong",
        )


def require_right_and_wrong(answers: Answers) -> None:
    """Check that right and wrong answers are known.

    Raises
    ------
    DataError
        When one or both are missing.
    """
    known = answers[~np.isnan(answers)]
    values = np.unique(known)
    if len(values) < 2:
        kind = "right" if values.any() else "wrong"
        raise DataError(
            f"all {len(known)} answers are {kind}" if len(known) else "no known answer",
            expected="right and wrong answers: there is nothing to learn otherwise",
            fix="add models or questions, or name the column: --column correct=NAME",
        )


def require_answers_of_each(answers: Answers) -> None:
    """Check that an answer of every model is known.

    Raises
    ------
    DataError
        When a model has none.
    """
    mute = np.flatnonzero(np.isnan(answers).all(axis=0))
    if len(mute):
        raise DataError(
            f"no answer of the model in column {mute[0]}",
            expected="an answer or more of every model",
            fix="leave the model out, or add answers of it",
        )
