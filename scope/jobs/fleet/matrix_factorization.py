"""Matrix factorization as EmbedLLM published it (Zhuang et al., ICLR 2025)."""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from scope.jobs.fleet.forecaster import (
    Probabilities,
    VectorForecaster,
    new_model_skills,
    shrunk_skills,
)
from scope.jobs.fleet.questions import Answers, QuestionLayout, Table
from scope.models.torch_setup import load_torch, torch_threads
from scope.statistics.intervals import one_numpy_thread

Numbers = NDArray[np.float32]


class Bilinear(NamedTuple):
    """A trained network, with the output layer's weights inside the projection.

    The logit of a right answer is ``(vectors @ projection + shift) @ model_vectors.T + constant``:
    ``model_vectors`` has shape (models, dimensions), ``projection`` (width, dimensions), ``shift``
    (dimensions,).
    """

    model_vectors: Numbers
    projection: Numbers
    shift: Numbers
    constant: float


def train_bilinear(vectors: Numbers, answers: Answers, settings: MatrixFactorization) -> Bilinear:
    """Train the network with Adam on all known answers, in one thread.

    The initial weights are torch's defaults, as in the published code.
    """
    with torch_threads(1) as torch, torch.random.fork_rng(devices=[]):
        torch.manual_seed(settings.seed)
        layers = torch.nn.ModuleDict(
            {
                "models": torch.nn.Embedding(answers.shape[1], settings.dimensions),
                "projection": torch.nn.Linear(vectors.shape[1], settings.dimensions),
                "output": torch.nn.Linear(settings.dimensions, 2),
            }
        )
        optimizer = torch.optim.Adam(
            layers.parameters(), lr=settings.learning_rate, weight_decay=settings.weight_decay
        )
        table, targets = torch.from_numpy(vectors), torch.from_numpy(answers)
        known = (~targets.isnan()).nonzero()
        for _ in range(settings.epochs):
            for batch in torch.randperm(len(known)).split(settings.batch):
                loss = _loss(layers, table, targets, known[batch], settings.noise)
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
        return _kept(layers)


def _loss(layers: Any, table: Any, targets: Any, cells: Any, noise: float) -> Any:
    torch = load_torch()
    functional = torch.nn.functional
    rows, models = cells.unbind(dim=1)
    distinct, questions = rows.unique(return_inverse=True)
    asked = table[distinct]
    # The published code draws noise for every pair. Here all pairs of a question in a step share
    # one draw, so that each distinct question is projected once. The noise of a pair has the same
    # distribution, but is not independent of the noise of the other pairs in that step.
    if noise:
        asked += noise * torch.randn_like(asked)
    projected = functional.embedding(questions, layers["projection"](asked))
    logits = layers["output"](projected * layers["models"](models))
    return functional.cross_entropy(logits, targets[rows, models].long())


def _kept(layers: Any) -> Bilinear:
    output = layers["output"].weight[1] - layers["output"].weight[0]
    constant = layers["output"].bias[1] - layers["output"].bias[0]
    projection = layers["projection"]
    parts = (
        layers["models"].weight,
        (projection.weight * output[:, None]).T,
        projection.bias * output,
    )
    model_vectors, turned, shift = (np.ascontiguousarray(x.detach().numpy()) for x in parts)
    return Bilinear(model_vectors, turned, shift, float(constant.detach()))


class MatrixFactorization(VectorForecaster):
    """Predicts from a learned vector per model, times a projection of the question's vector.

    The logit of a right answer is a weighted sum over the dimensions of the model's vector times
    the projected question; all weights are learned together, with Adam on the cross-entropy of
    random batches of answers, up to the last epoch. (The published script selects the best epoch on
    the test questions, which users do not have.) Only the question's vector is used, neither
    features nor category. More dimensions than models are allowed: the paper has 232 for 112
    models, regularised by the weight decay.

    Parameters
    ----------
    layout
        The columns of a table of questions.
    dimensions, epochs, batch, learning_rate, weight_decay
        As published.
    noise
        The standard deviation of noise on the questions' vectors in training, as published.
    seed
        Random seed of the initial weights, the order of the answers and the noise.
    """

    short_name: ClassVar[str] = "mf"
    state: ClassVar[tuple[str, ...]] = (
        "model_vectors_",
        "skills_",
        "question_vectors_",
        "spread_mean_",
        "spread_root_",
        "fitted_",
        "projection_",
        "shift_",
        "constant_",
    )
    question_vectors_: NDArray[np.float32]
    spread_mean_: NDArray[np.float32]
    spread_root_: NDArray[np.float32]
    fitted_: int

    least: ClassVar[Mapping[str, float]] = {
        "dimensions": 1,
        "epochs": 1,
        "batch": 1,
        "learning_rate": 1e-12,
        "noise": 0,
        "weight_decay": 0,
    }

    def __init__(
        self,
        *,
        layout: QuestionLayout,
        dimensions: int = 232,
        epochs: int = 50,
        batch: int = 2048,
        learning_rate: float = 1e-4,
        weight_decay: float = 1e-5,
        noise: float = 0.05,
        seed: int = 0,
    ) -> None:
        self.layout = layout
        self.dimensions = dimensions
        self.epochs = epochs
        self.batch = batch
        self.learning_rate = learning_rate
        self.weight_decay = weight_decay
        self.noise = noise
        self.seed = seed

    def added(self, rows: NDArray[np.int64], answers: Answers) -> Self:
        """A copy with new models, each with the most probable vector given its answers."""
        spread = Spread(self.spread_mean_, self.spread_root_)
        offsets = np.full(len(rows), self.constant_, dtype=np.float32)
        with one_numpy_thread():
            places = most_probable_vectors(spread, self.question_vectors_[rows], offsets, answers)
            further = self._expected_skills(places, rows, answers)
        larger = copy(self)
        larger.model_vectors_ = np.concatenate([self.model_vectors_, places])
        larger.skills_ = np.concatenate([self.skills_, further])
        return larger

    def _expected_skills(
        self, vectors: Numbers, rows: NDArray[np.int64], answers: Answers
    ) -> Numbers:
        """The expected accuracy of new models on all fitted questions.

        The prediction of their vectors, corrected by the difference between observed and predicted
        answers, so that right answers to easy questions make no model the best.
        """
        from scipy.special import expit

        everywhere, there = np.empty(len(vectors)), np.empty(len(vectors))
        # One model at a time: a table of all probabilities may be larger than all other arrays.
        for model, vector in enumerate(vectors):
            logits = self.question_vectors_ @ vector + np.float32(self.constant_)
            chances = expit(logits).astype(np.float64)
            everywhere[model] = chances.mean()
            there[model] = chances[rows[~np.isnan(answers[:, model])]].mean()
        skills, questions = self.skills_[: self.fitted_], len(self.question_vectors_)
        return new_model_skills(answers, skills, questions, (everywhere, there))

    @property
    def places_(self) -> NDArray[np.float32]:
        """The models as points; distances are differences of logits."""
        return logit_places(self.model_vectors_, self.question_vectors_)

    def _fit(self, table: Table, answers: Answers) -> None:
        vectors = np.ascontiguousarray(self.layout.vectors_of(table))
        network = train_bilinear(vectors, answers, self)
        self.model_vectors_ = network.model_vectors
        self.spread_mean_, self.spread_root_ = spread_of(network.model_vectors)
        self.skills_, self.fitted_ = shrunk_skills(answers), answers.shape[1]
        self.projection_, self.shift_ = network.projection, network.shift
        self.constant_ = network.constant
        self.question_vectors_ = self._projected(vectors)

    def _projected(self, vectors: Numbers) -> Numbers:
        """The weight of each dimension of a model's vector in each question."""
        return np.asarray(vectors @ self.projection_ + self.shift_)

    def _probabilities(self, table: Table) -> Probabilities:
        from scipy.special import expit

        logits = self._projected(self.layout.vectors_of(table)) @ self.model_vectors_.T
        logits += np.float32(self.constant_)
        return np.asarray(expit(logits, out=logits))


_Doubles = NDArray[np.float64]


class Spread(NamedTuple):
    """The distribution of a fleet's vectors: their ``mean``, and a root of their covariance."""

    mean: NDArray[np.float32]
    root: NDArray[np.float32]


def spread_of(vectors: NDArray[np.float32]) -> Spread:
    """The mean and covariance of vectors of shape (models, dimensions).

    With a single model the covariance is unknown, and the identity is used.

    Examples
    --------
    >>> mean, root = spread_of(np.array([[2.0], [6.0], [10.0]], dtype=np.float32))
    >>> mean.tolist(), root.round(3).tolist()
    ([6.0], [[4.0]])
    """
    mean, size = vectors.mean(axis=0, dtype=np.float64), vectors.shape[1]
    if len(vectors) < 2:
        return Spread(mean.astype(np.float32), np.eye(size, dtype=np.float32))
    away = vectors - mean
    covariance = away.T @ away / (len(vectors) - 1)
    # With fewer models than dimensions the covariance is singular: a thousandth of its mean
    # standard deviation is added in every direction, so that the root exists.
    level = max(float(np.trace(covariance)) / size, 1e-12)
    root = np.linalg.cholesky(covariance + 1e-6 * level * np.eye(size))
    return Spread(mean.astype(np.float32), root.astype(np.float32))


def logit_places(
    vectors: NDArray[np.float32], coordinates: NDArray[np.float32]
) -> NDArray[np.float32]:
    """Vectors transformed so that squared distances are mean squared differences of logits.

    A dimension without weight in any question does not count, one with weight in all counts a lot.

    Parameters
    ----------
    vectors
        Shape (models, dimensions).
    coordinates
        Coordinates of the questions, shape (questions, dimensions): times a vector, they give a
        logit.

    Examples
    --------
    >>> vectors = np.array([[0, 0], [1, 9]], dtype=np.float32)
    >>> logit_places(vectors, np.array([[2, 0], [2, 0]], dtype=np.float32)).tolist()
    [[0.0, 0.0], [2.0, 0.0]]
    """
    asked = coordinates.astype(np.float64)
    with one_numpy_thread():
        squares, directions = np.linalg.eigh(asked.T @ asked / len(asked))
        # The symmetric root does not depend on the signs of the directions.
        root = (directions * np.sqrt(np.maximum(squares, 0))) @ directions.T
        return np.asarray(vectors @ root, dtype=np.float32)


def most_probable_vectors(
    spread: Spread, coordinates: NDArray[np.float32], offsets: NDArray[np.float32], answers: Answers
) -> NDArray[np.float32]:
    """The most probable vectors of new models, with the distribution of the fleet's as the prior.

    The logit of a right answer is the question's coordinates times the model's vector, plus the
    question's offset. The prior of a vector is normal, with the mean and covariance of the fleet's
    vectors; the most probable vector given the answers is that of a logistic regression. Without
    answers it is the fleet's mean.

    Parameters
    ----------
    spread
        Mean and covariance of the fleet's vectors.
    coordinates, offsets
        Of the answered questions, shapes (questions, dimensions) and (questions,).
    answers
        Shape (questions, new models): 1 right, 0 wrong, NaN unknown.

    Returns
    -------
    NDArray
        Shape (new models, dimensions).

    Examples
    --------
    With a vector v of one dimension, four right answers give 4 / (1 + exp(v)) = v:

    >>> spread = spread_of(np.array([[-1], [0], [1]], dtype=np.float32))
    >>> questions, offsets = np.ones((4, 1), dtype=np.float32), np.zeros(4, dtype=np.float32)
    >>> answers = np.array([[1, 1], [1, 0], [1, 1], [1, 0]], dtype=np.float32)
    >>> print(most_probable_vectors(spread, questions, offsets, answers).round(2))
    [[1.04]
     [0.  ]]
    """
    # In units of the fleet's spread a vector is normal with covariance 1.
    design = (coordinates @ spread.root).astype(np.float64)
    base = (offsets + coordinates @ spread.mean).astype(np.float64)
    known = ~np.isnan(answers)
    places = [
        spread.mean + spread.root @ _most_probable(design[seen], base[seen], answers[seen, model])
        for model, seen in enumerate(known.T)
    ]
    return np.asarray(places, dtype=np.float32).reshape(-1, coordinates.shape[1])


def _most_probable(design: _Doubles, base: _Doubles, right: NDArray[np.float32]) -> _Doubles:
    """Posterior mode of a logistic regression with a standard normal prior."""
    from scipy.optimize import minimize
    from scipy.special import expit

    def penalty(place: _Doubles) -> tuple[float, _Doubles]:
        logits = base + design @ place
        value = float((np.logaddexp(0, logits) - right * logits).sum() + place @ place / 2)
        return value, np.asarray(design.T @ (expit(logits) - right) + place)

    start = np.zeros(design.shape[1])
    options = {"ftol": 1e-12, "gtol": 1e-7, "maxiter": 1000}
    return np.asarray(minimize(penalty, start, jac=True, method="L-BFGS-B", options=options).x)
