"""Matrix factorization as EmbedLLM published it (Zhuang et al., ICLR 2025)."""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from typing import ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from scope.errors import SpecError
from scope.fleet.forecasters.bilinear import Bilinear, Numbers
from scope.fleet.forecasters.descent import Held, Settings, descend
from scope.fleet.forecasters.folds import question_numbers
from scope.fleet.forecasters.forecaster import Probabilities, VectorForecaster
from scope.fleet.forecasters.newcomers import checked_newcomers
from scope.fleet.forecasters.placing import (
    Fitted,
    Spread,
    logit_places,
    place,
    placed_skills,
    spread_of,
)
from scope.fleet.forecasters.skills import shrunk_skills
from scope.fleet.layout import Answers, QuestionLayout, Table

_STREAM = 0x3F


class MatrixFactorization(VectorForecaster):
    """Foretells by a learned vector a model, times a projection of the question's vector.

    The logit of a right answer is a weighted sum over the dimensions of the model's vector times
    the projected question; all of it is learned together, by Adam on the cross-entropy of random
    batches of answers. As by default it is what was published, written anew without PyTorch. Only
    the question's vector is used, neither features nor category. More dimensions than models are
    allowed: the paper has 232 for 112 models, and what keeps them apart is the weight decay.

    Parameters
    ----------
    layout
        The columns of a table of questions.
    dimensions, epochs, batch, learning_rate, weight_decay
        As published. Of several weight decays, a tuple, the one with the lowest log loss on
        questions held out is kept; this is ours.
    noise
        The standard deviation of noise on the questions' vectors in training, as published.
    biases
        Whether the logit also has a number of the model's, which starts at its log-odds of a
        right answer, and a linear function of the question's vector. Ours, not published.
    patience
        After how many epochs in a row without a lower log loss on questions held out training
        ends; what is kept is the best epoch. None, as published, goes on to the last. (The
        published script keeps the epoch that is best on the test questions, which no user has.)
    validation
        The share of the questions held out where ``patience`` or several weight decays ask for
        it; none are held out otherwise.
    seed
        Of the first numbers, the order of the answers and the noise.
    """

    short_name: ClassVar[str] = "mf"
    state: ClassVar[Mapping[str, str]] = {
        "model_vectors_": "f4 models dimensions",
        "model_biases_": "f4 models",
        "skills_": "f4 models",
        "projection_": "f4 vector dimensions",
        "shift_": "f4 dimensions",
        "question_weights_": "f4 vector",
        "constant_": "f8",
        "question_vectors_": "f4 questions dimensions",
        "question_offsets_": "f4 questions",
        "spread_mean_": "f4 dimensions+biases",
        "spread_root_": "f4 dimensions+biases dimensions+biases",
        "weight_decay_": "f8",
        "fitted_": "=fitted",
    }

    def __init__(
        self,
        *,
        layout: QuestionLayout,
        dimensions: int = 232,
        epochs: int = 50,
        batch: int = 2048,
        learning_rate: float = 1e-4,
        weight_decay: float | tuple[float, ...] = 1e-5,
        noise: float = 0.05,
        biases: bool = False,
        patience: int | None = None,
        validation: float = 0.1,
        seed: int = 0,
    ) -> None:
        self.layout = layout
        self.dimensions = dimensions
        self.epochs = epochs
        self.batch = batch
        self.learning_rate = learning_rate
        self.weight_decay = weight_decay
        self.noise = noise
        self.biases = biases
        self.patience = patience
        self.validation = validation
        self.seed = seed

    def added(self, rows: NDArray[np.int64], answers: Answers) -> Self:
        """A copy with further models, each at the likeliest place among the fleet's vectors."""
        rows, answers = checked_newcomers(rows, answers, len(self.question_vectors_))
        skills = self.skills_[: self.fitted_]
        fitted = Fitted(self._coordinates(), self.question_offsets_, skills)
        spread = Spread(self.spread_mean_, self.spread_root_)
        with threadpool_limits(1):
            places = place(spread, fitted.coordinates[rows], fitted.offsets[rows], answers)
            further = placed_skills(fitted, places, rows, answers)
        larger = copy(self)
        dimensions = self.model_vectors_.shape[1]
        larger.model_vectors_ = np.concatenate([self.model_vectors_, places[:, :dimensions]])
        larger.skills_ = np.concatenate([self.skills_, further])
        biases = places[:, -1] if self.biases else np.zeros(len(places), dtype=np.float32)
        larger.model_biases_ = np.concatenate([self.model_biases_, biases])
        return larger

    @property
    def places_(self) -> NDArray[np.float32]:
        """The models' vectors, and biases, as places a difference of logits apart."""
        vectors = self.model_vectors_
        if self.biases:
            vectors = np.column_stack([vectors, self.model_biases_])
        return logit_places(vectors, self._coordinates())

    def sizes(self) -> dict[str, int]:
        """A bias is one dimension more of the fleet's spread."""
        return {**super().sizes(), "biases": int(self.biases)}

    def _coordinates(self) -> Numbers:
        """What the fitted questions ask of a vector, and of its bias where there is one."""
        questions = self.question_vectors_
        if not self.biases:
            return questions
        return np.column_stack([questions, np.ones(len(questions), dtype=np.float32)])

    def _fit(self, table: Table, answers: Answers) -> None:
        vectors = np.ascontiguousarray(self.layout.vectors_of(table))
        decays = self._weight_decays()
        training, held = np.arange(len(vectors)), None
        if self.patience is not None or len(decays) > 1:
            training, away = self._split(vectors, answers)
            held = Held(vectors[away], answers[away])
        losses, networks = [], []
        for decay in decays:
            network, loss = self._trained(vectors[training], answers[training], held, decay)
            losses.append(loss)
            networks.append(network)
        best = int(np.argmin(losses)) if held is not None else 0
        self._keep(networks[best], vectors)
        self.skills_, self.fitted_ = shrunk_skills(answers), answers.shape[1]
        self.weight_decay_ = float(decays[best])

    def _trained(
        self, vectors: Numbers, answers: Answers, held: Held | None, decay: float
    ) -> tuple[Bilinear, float]:
        generator = np.random.default_rng([self.seed, _STREAM])
        network = Bilinear(answers.shape[1], vectors.shape[1], self.dimensions, biases=self.biases)
        network.start(generator)
        if self.biases:
            right, known = np.nansum(answers, axis=0), (~np.isnan(answers)).sum(axis=0)
            # One right and one wrong answer more, so that no model starts at infinity.
            network.model_biases[...] = np.log((right + 1) / (known - right + 1))
        settings = Settings(
            self.epochs, self.batch, self.learning_rate, decay, self.noise, self.patience
        )
        return network, descend(network, vectors, answers, settings, generator, held)

    def _keep(self, network: Bilinear, vectors: Numbers) -> None:
        """Keep what forecasts take, with the output layer's weights inside the projection."""
        models, width, _, biases = network.sizes
        self.model_vectors_ = network.model_vectors.copy()
        self.projection_ = network.projection * network.weights
        self.shift_ = network.shift * network.weights
        self.constant_ = float(network.constant[1] - network.constant[0])
        self.model_biases_ = np.zeros(models, dtype=np.float32)
        self.question_weights_ = np.zeros(width, dtype=np.float32)
        spread = spread_of(self.model_vectors_)
        if biases:
            self.model_biases_ += network.model_biases
            self.question_weights_ += network.question_weights
            # A bias is one dimension more, in which every question has the coordinate 1.
            spread = spread_of(np.column_stack([self.model_vectors_, self.model_biases_]))
        self.spread_mean_, self.spread_root_ = spread
        self.question_vectors_, self.question_offsets_ = self._questions(vectors)

    def _questions(self, vectors: Numbers) -> tuple[Numbers, Numbers]:
        """What each dimension of a model's vector weighs in a question, and its offset."""
        offsets = vectors @ self.question_weights_ + np.float32(self.constant_)
        return vectors @ self.projection_ + self.shift_, offsets

    def _probabilities(self, table: Table) -> Probabilities:
        from scipy.special import expit

        weights, offsets = self._questions(self.layout.vectors_of(table))
        logits = weights @ self.model_vectors_.T
        logits += offsets[:, None]
        logits += self.model_biases_
        return np.asarray(expit(logits, out=logits))

    def _split(
        self, vectors: Numbers, answers: Answers
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Rows to learn from, and rows to judge by; all rows of a question on the same side."""
        answered = (~np.isnan(answers)).any(axis=1)
        numbers = question_numbers(vectors, QuestionLayout(vector=vectors.shape[1]))
        asked = np.unique(numbers[answered])
        held = round(self.validation * len(asked))
        if not 1 <= held < len(asked):
            raise SpecError(
                f"validation={self.validation} of {len(asked)} questions: {held} held out",
                expected="a question or more to learn from, and one or more held out",
                mend="give another share, or leave out patience and give one weight decay",
            )
        order = np.random.default_rng([self.seed, _STREAM, 1]).permutation(asked)
        learned, judged = np.isin(numbers, order[held:]), np.isin(numbers, order[:held])
        return np.flatnonzero(learned & answered), np.flatnonzero(judged & answered)

    def _weight_decays(self) -> tuple[float, ...]:
        return self.weight_decay if isinstance(self.weight_decay, tuple) else (self.weight_decay,)

    def check_parameters(self) -> None:
        """See that all numbers are such as can be."""
        decays = self._weight_decays()
        patience = 1 if self.patience is None else self.patience
        wrong = {
            "dimensions": self.dimensions < 1,
            "epochs": self.epochs < 1,
            "batch": self.batch < 1,
            "patience": patience < 1,
            "learning_rate": not self.learning_rate > 0,
            "noise": not self.noise >= 0,
            "weight_decay": not decays or not min(decays) >= 0,
            "validation": not 0 < self.validation < 1,
        }
        for name in (name for name, is_wrong in wrong.items() if is_wrong):
            raise SpecError(
                f"{name}={getattr(self, name)}",
                expected="1 or more of dimensions, epochs, batch and patience; a learning rate "
                "above 0, noise and weight decays of 0 or more, validation between 0 and 1",
                mend=f"give another {name}",
            )
