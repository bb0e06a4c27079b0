"""Each model's accuracy as its forecast of every question: what any other must beat."""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from typing import ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from scope.fleet.forecasters.cold_start import checked_new_models
from scope.fleet.forecasters.forecaster import Probabilities, VectorForecaster
from scope.fleet.forecasters.skills import new_model_skills, shrunk_skills
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
    state: ClassVar[Mapping[str, str]] = {
        "model_vectors_": "f4 models 1",
        "skills_": "f4 models",
        "questions_": "=questions",
        "fitted_": "=fitted",
    }

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
