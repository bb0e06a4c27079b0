"""The interface of a forecaster, a scikit-learn estimator, and two baselines.

Models and questions as vectors: skills, factors of the answers, and new models.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from copy import copy
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from scope.errors import DataError, SpecError
from scope.jobs.fleet.matrix import require_right_and_wrong
from scope.jobs.fleet.questions import Answers, QuestionLayout, Table
from scope.statistics.intervals import one_numpy_thread

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


_UNIFORM_VARIANCE = 1 / 12


def shrunk_skills(answers: Answers) -> NDArray[np.float32]:
    """Each model's accuracy, shrunk towards the fleet's mean if it has few answers.

    A model's accuracy on its answered questions estimates its accuracy on all questions. The
    variance of this estimate is the variance of an answer, divided by the number of answers, times
    the share of questions *not* answered: a model that answered every question has no error, and
    its skill is its plain accuracy. Other skills are shrunk towards the fleet's mean, by the ratio
    of this variance to its sum with the variance between models (empirical Bayes). A model without
    answers has the fleet's mean.

    Parameters
    ----------
    answers
        Shape (questions, models): 1 right, 0 wrong, NaN unknown.

    Returns
    -------
    NDArray
        Shape (models,), from 0 to 1.

    Examples
    --------
    The third model has no answers, the others answered every question:

    >>> answers = np.array([[1, 0, np.nan], [1, 0, np.nan], [1, 0, np.nan], [0, 1, np.nan]])
    >>> shrunk_skills(answers.astype(np.float32)).tolist()
    [0.75, 0.25, 0.5]
    """
    known = ~np.isnan(answers)
    if not known.any():
        return np.full(answers.shape[1], 0.5, dtype=np.float32)
    count = known.sum(axis=0).astype(np.float64)
    right = np.where(known, answers, 0).sum(axis=0, dtype=np.float64)
    share = right / np.maximum(count, 1)
    # The variance of a model's share per unit of an answer's variance.
    error = (1 - count / len(answers)) / np.maximum(count, 1)
    between, within = _variances(share, count, error)
    total = between + within * error
    # Without error and without differences between models, nothing is shrunk.
    weight = np.divide(between, total, out=np.ones_like(total), where=total > 0) * (count > 0)
    precision = (count > 0) / np.maximum(total, 1e-12)
    mean = (precision * share).sum() / precision.sum()
    drawn: NDArray[np.float32] = (mean + weight * (share - mean)).astype(np.float32)
    return drawn


def new_model_skills(
    answers: Answers,
    fleet: NDArray[np.float32],
    questions: int,
    expected: tuple[NDArray[np.float64], NDArray[np.float64]] | None = None,
) -> NDArray[np.float32]:
    """Each new model's accuracy, shrunk towards the expected one if it has few answers.

    As `shrunk_skills`, but the variance between models is that of the fleet's skills, plus the
    variance of a uniform skill from 0 to 1, divided by the number of models.

    Parameters
    ----------
    answers
        Shape (questions answered, new models): 1 right, 0 wrong, NaN unknown.
    fleet
        The skills of the models already in the fleet.
    questions
        Number of all questions.
    expected
        The predicted accuracy of each new model on all questions, and on those that it answered, so
        that right answers to easy questions count for little. By default the fleet's mean for both.

    Examples
    --------
    One right answer of ten moves a new model up from 0.5, ten of ten move it all the way:

    >>> fleet = np.array([0.4, 0.6], dtype=np.float32)
    >>> one, ten = np.ones((1, 1), dtype=np.float32), np.ones((10, 1), dtype=np.float32)
    >>> print(new_model_skills(one, fleet, 10).round(2), new_model_skills(ten, fleet, 10))
    [0.61] [1.]
    """
    known = ~np.isnan(answers)
    count = np.maximum(known.sum(axis=0).astype(np.float64), 1)
    share = np.where(known, answers, 0).sum(axis=0, dtype=np.float64) / count
    skills = fleet.astype(np.float64)
    everywhere, there = expected or (np.full(len(share), skills.mean()),) * 2
    between = skills.var() * len(skills) / max(len(skills) - 1, 1)
    between += _UNIFORM_VARIANCE / len(skills)
    within = float((skills * (1 - skills)).mean())
    # A question may occur twice, so the unanswered share could be negative.
    error = np.maximum(1 - count / questions, 0) / count
    weight = between / (between + within * error)
    drawn = np.clip(everywhere + weight * (share - there), 0, 1)
    return np.asarray(drawn, dtype=np.float32)


def _variances(
    share: NDArray[np.float64], count: NDArray[np.float64], error: NDArray[np.float64]
) -> tuple[float, float]:
    """The variance of true skills between models, and of answers within a model, by moments.

    The variance within a model is m (1 - m) minus the variance between models, where m is the share
    of right answers. This makes the moment equation linear in one unknown.
    """
    answered = count.sum()
    mean = float((count * share).sum() / answered)
    spread = float((count * (share - mean) ** 2).sum())
    room = count * (1 - count / answered)
    identified = float((room * (1 - error)).sum())
    if identified < 1e-9:
        # With one model, or one answer each, skill and luck cannot be separated.
        return 0.0, mean * (1 - mean)
    between = (spread - mean * (1 - mean) * float((room * error).sum())) / identified
    between = min(max(between, 0.0), mean * (1 - mean))
    return between, mean * (1 - mean) - between


_NEGLIGIBLE = 1e-9
"""A squared singular value below this share of the greatest counts as zero."""


class Factors(NamedTuple):
    """``answers`` is about ``skills + question_vectors @ model_vectors.T``.

    ``skills`` has shape (models,), ``model_vectors`` (models, dimensions), ``question_vectors``
    (questions, dimensions). Dimensions are sorted by weight. The question coordinates of each
    dimension have mean square 1, so that the squared distance between two models' vectors is the
    mean squared difference of their fitted answers, apart from skill. Dimensions beyond the rank of
    the answers are zero.
    """

    skills: NDArray[np.float32]
    model_vectors: NDArray[np.float32]
    question_vectors: NDArray[np.float32]


def factorize(answers: Answers, dimensions: int, *, rounds: int = 10) -> Factors:
    """Split answers into skills and the few dimensions in which models and questions differ.

    The singular value decomposition of the answers minus each model's skill, which minimises the
    squared error. Unknown answers start at the skill and are then replaced by the approximation, in
    ``rounds`` rounds (expectation-maximisation); if all are known, one round is exact.

    Parameters
    ----------
    answers
        Shape (questions, models): 1 right, 0 wrong, NaN unknown.
    dimensions
        Number of coordinates of a model, besides its skill.
    rounds
        Number of times that the unknown answers are filled.

    Examples
    --------
    Two kinds of questions, two kinds of models, one dimension:

    >>> answers = np.array([[1, 1, 0], [1, 1, 0], [0, 0, 1], [0, 0, 1]], dtype=np.float32)
    >>> factors = factorize(answers, 1)
    >>> factors.skills.tolist(), factors.model_vectors.round(3).tolist()
    ([0.5, 0.5, 0.5], [[0.5], [0.5], [-0.5]])
    >>> factors.question_vectors.round(3).ravel().tolist()
    [1.0, 1.0, -1.0, -1.0]
    """
    known = ~np.isnan(answers)
    skills = shrunk_skills(answers)
    residual = np.where(known, answers - skills, np.float32(0)).astype(np.float32)
    if known.all():
        return Factors(skills, *_decomposed(residual, dimensions))
    filled = residual
    for _ in range(rounds):
        model_vectors, question_vectors = _decomposed(filled, dimensions)
        filled = np.where(known, residual, question_vectors @ model_vectors.T)
    return Factors(skills, model_vectors, question_vectors)


def _decomposed(
    residual: NDArray[np.float32], dimensions: int
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Model and question vectors by the eigenvectors of the smaller of the two Gram matrices."""
    questions, models = residual.shape
    fewer_models = models <= questions
    narrow = residual if fewer_models else residual.T
    squares, vectors = np.linalg.eigh((narrow.T @ narrow).astype(np.float64))
    squares, vectors = squares[::-1][:dimensions], vectors[:, ::-1][:, :dimensions]
    kept = squares > max(_NEGLIGIBLE * squares[0], 1e-12)
    squares, vectors = squares[kept], vectors[:, kept]
    long = narrow @ (vectors / np.sqrt(squares))
    of_models, of_questions = (vectors, long) if fewer_models else (long, vectors)
    # An eigenvector's sign is arbitrary: the greatest model coordinate of each dimension is made
    # positive. Rounding makes the first of two equal coordinates the greatest.
    greatest = np.abs(of_models).round(6).argmax(axis=0)
    signs = np.sign(of_models[greatest, np.arange(len(squares))])
    size = np.sqrt(squares / questions)
    missing = [(0, 0), (0, dimensions - len(squares))]
    return (
        np.pad(of_models * signs * size, missing).astype(np.float32),
        np.pad(of_questions * signs * np.sqrt(questions), missing).astype(np.float32),
    )


_LEAST_NOISE = 1e-3


class Prior(NamedTuple):
    """The prior of a new model's vector from a fleet: ``mean`` and ``covariance``.

    A vector is the skill and then the coordinates. ``noise`` is the variance of an answer around
    the prediction of the true vector.
    """

    mean: NDArray[np.float64]
    covariance: NDArray[np.float64]
    noise: float


def vector_prior(vectors: NDArray[np.float32], noise: float) -> Prior:
    """The mean and covariance of a fleet's vectors; a small fleet has a wider prior of the skill.

    The variance of a uniform skill from 0 to 1, divided by the number of models, is added.

    Examples
    --------
    >>> prior = vector_prior(np.array([[0.4, 0.1], [0.6, -0.1]], dtype=np.float32), 0.2)
    >>> prior.mean.round(6).tolist(), prior.covariance.round(3).tolist()
    ([0.5, 0.0], [[0.062, -0.02], [-0.02, 0.02]])
    """
    models, size = vectors.shape
    points = vectors.astype(np.float64)
    mean = points.mean(axis=0)
    away = points - mean
    covariance = away.T @ away / max(models - 1, 1) + 1e-8 * np.eye(size)
    covariance[0, 0] += _UNIFORM_VARIANCE / models
    return Prior(mean, covariance, noise)


def answer_noise(answers: Answers, factors: Factors) -> float:
    """The variance of a new model's answers around the prediction of the factors.

    The fleet's own residuals are smaller, because the factors were fitted to them: their squares
    are divided by the degrees of freedom, the known answers minus the fitted numbers. The upper
    limit is the variance around the skills alone, which is also used without degrees of freedom.

    Examples
    --------
    One dimension fits the only model's answers exactly, and predicts no other model's:

    >>> from scope.jobs.fleet.forecaster import factorize
    >>> answers = np.array([[1], [0]], dtype=np.float32)
    >>> answer_noise(answers, factorize(answers, 1))
    0.25
    """
    skills, model_vectors, question_vectors = factors
    known = ~np.isnan(answers)
    about_skill = (answers - skills)[known].astype(np.float64)
    most = max(float((about_skill**2).mean()), _LEAST_NOISE)
    questions, models = answers.shape
    dimensions = int(model_vectors.any(axis=0).sum())
    free = float(known.sum()) - models - dimensions * (models + questions - dimensions)
    if free <= 0:
        return most
    misses = about_skill - (question_vectors @ model_vectors.T)[known]
    unfitted: float = float((misses**2).sum()) / free
    return min(max(unfitted, _LEAST_NOISE), most)


def new_model_vectors(
    coordinates: NDArray[np.float32], answers: Answers, prior: Prior
) -> NDArray[np.float32]:
    """The most probable vector of each new model, by Bayesian linear regression.

    Parameters
    ----------
    coordinates
        Coordinates of the answered questions, learned from the fleet; shape (questions,
        dimensions).
    answers
        Shape (questions, models): 1 right, 0 wrong, NaN unknown.

    Returns
    -------
    NDArray
        Shape (models, 1 + dimensions): the skill, then the coordinates.

    Examples
    --------
    Skills of variance 0.1 about 0.5, answers of variance 0.2 about a skill: two right answers have
    the weight of the prior, and the skill moves halfway to 1.

    >>> prior = Prior(np.array([0.5]), np.array([[0.1]]), 0.2)
    >>> right = np.ones((2, 1), dtype=np.float32)
    >>> new_model_vectors(np.zeros((2, 0), dtype=np.float32), right, prior).tolist()
    [[0.75]]
    """
    design = np.column_stack([np.ones(len(coordinates)), coordinates.astype(np.float64)])
    vectors = np.empty((answers.shape[1], design.shape[1]), dtype=np.float32)
    for model, correct in enumerate(answers.T):
        known = ~np.isnan(correct)
        rows = design[known]
        surprise = correct[known] - rows @ prior.mean
        # (noise + C D'D)⁻¹ C D' equals C D' (D C D' + noise)⁻¹, needs no inverse of C, and has the
        # size of a vector for any number of answers.
        system = prior.noise * np.eye(design.shape[1]) + prior.covariance @ (rows.T @ rows)
        moved = np.linalg.solve(system, prior.covariance @ (rows.T @ surprise))
        vectors[model] = prior.mean + moved
    return vectors
