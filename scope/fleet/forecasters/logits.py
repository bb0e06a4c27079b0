"""What forecasters have in common whose vectors of models make logits."""

from __future__ import annotations

from abc import abstractmethod
from copy import copy
from typing import ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from scope.fleet.forecasters.factorization import shrunk_skills
from scope.fleet.forecasters.forecaster import VectorForecaster
from scope.fleet.forecasters.new_models import (
    FittedQuestions,
    Spread,
    checked_new_models,
    expected_skills,
    logit_places,
    most_probable_vectors,
    spread_of,
)
from scope.fleet.layout import Answers


class LogitForecaster(VectorForecaster):
    """A forecaster whose logit is a question's coordinates times a model's vector, plus an offset.

    Fitted, it has the names in ``logit_state``.
    """

    logit_state: ClassVar[tuple[str, ...]] = (
        "model_vectors_",
        "skills_",
        "question_vectors_",
        "spread_mean_",
        "spread_root_",
        "fitted_",
    )
    question_vectors_: NDArray[np.float32]
    spread_mean_: NDArray[np.float32]
    spread_root_: NDArray[np.float32]
    fitted_: int

    def added(self, rows: NDArray[np.int64], answers: Answers) -> Self:
        """A copy with new models, each with the most probable vector after its answers."""
        rows, answers = checked_new_models(rows, answers, len(self.question_vectors_))
        spread = Spread(self.spread_mean_, self.spread_root_)
        skills = self.skills_[: self.fitted_]
        fitted = FittedQuestions(self.question_vectors_, self._offsets(), skills)
        with threadpool_limits(1):
            places = most_probable_vectors(
                spread, fitted.coordinates[rows], fitted.offsets[rows], answers
            )
            further = expected_skills(fitted, places, rows, answers)
        larger = copy(self)
        larger.model_vectors_ = np.concatenate([self.model_vectors_, places])
        larger.skills_ = np.concatenate([self.skills_, further])
        return larger

    @property
    def places_(self) -> NDArray[np.float32]:
        """The models' vectors as places a difference of logits apart."""
        return logit_places(self.model_vectors_, self.question_vectors_)

    def _keep_models(self, vectors: NDArray[np.float32], answers: Answers) -> None:
        self.model_vectors_ = vectors
        self.spread_mean_, self.spread_root_ = spread_of(vectors)
        self.skills_, self.fitted_ = shrunk_skills(answers), answers.shape[1]

    @abstractmethod
    def _offsets(self) -> NDArray[np.float32]:
        """The logit of a right answer to each fitted question, if a model's vector is zero."""
