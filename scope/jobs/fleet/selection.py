"""Selects a forecaster, and the weight of texts, by cross-validation over the questions."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from scope.errors import SpecError
from scope.jobs.fleet.forecaster import Forecaster, MeanForecaster, Probabilities
from scope.jobs.fleet.questions import Answers, QuestionLayout, Table
from scope.jobs.fleet.scoring import forecast_scores, hit_shares, means_of_known
from scope.progress import Silent
from scope.protocols import Advance, Progress
from scope.records import ForecastScore

_STREAM = 0xF01D


def question_numbers(table: Table, layout: QuestionLayout) -> NDArray[np.int64]:
    """The question of each row, numbered from 0 in order of first appearance.

    Rows with byte-identical vectors are one question: a text with several ids. Without vectors,
    every row is a separate question.

    Examples
    --------
    >>> table = np.array([[0.5], [0.25], [0.5]], dtype=np.float32)
    >>> question_numbers(table, QuestionLayout(vector=1)).tolist()
    [0, 1, 0]
    """
    if not layout.vector:
        return np.arange(len(table))
    import pandas

    rows = np.ascontiguousarray(layout.vectors_of(table), dtype=np.float32)
    return np.asarray(pandas.factorize(np.array([row.tobytes() for row in rows], dtype=object))[0])


def question_folds(numbers: NDArray[np.int64], folds: int, seed: int) -> NDArray[np.int64]:
    """The random fold of each row, from 0; all rows of a question are in the same fold.

    The numbers of distinct questions in the folds differ by at most one.

    Parameters
    ----------
    numbers
        The question of each row, from `question_numbers`.
    folds, seed
        The number of folds, and the random seed.

    Raises
    ------
    SpecError
        When there are fewer than two folds, or more folds than distinct questions.

    Examples
    --------
    >>> sorted(question_folds(np.arange(5), 2, seed=0).tolist())
    [0, 0, 0, 1, 1]
    """
    questions = int(numbers.max(initial=-1)) + 1
    if not 2 <= folds <= questions:
        raise SpecError(
            f"{folds} folds of {questions} different questions",
            expected="two folds or more, and a question or more in each",
            fix="add questions, or change the number of folds",
        )
    drawn: NDArray[np.int64] = np.random.default_rng([seed, _STREAM]).permutation(questions)
    return (drawn % folds)[numbers]


LEAST_GAIN = 0.001
"""Below this gain in accuracy the models' means are used, even if it is significant."""

WEIGHTS = (0.0, 0.25, 0.5, 0.75, 1.0)
"""The candidate weights of the text for a router."""

_ANSWERS_FOR_SLOPE = 200_000


class LeftOutForecasts(NamedTuple):
    """Forecasts of each question by a fit without it, all of shape (questions, models).

    ``means`` are the models' skills, ``forecasts`` also use the text. ``numbers`` has the question
    of each row: a question with several rows counts once.
    """

    answers: Answers
    means: NDArray[np.float32]
    forecasts: NDArray[np.float32]
    numbers: NDArray[np.int64]


def text_helps(trial: LeftOutForecasts, guard: float) -> bool:
    """Whether the texts predict left-out answers better than each model's mean does.

    The squared error must fall by more than ``guard`` standard errors, over questions, and the
    share of correct predictions must rise by more than `LEAST_GAIN`.

    Examples
    --------
    >>> answers = np.array([[1, 0], [0, 1], [1, 0]], dtype=np.float32)
    >>> means = np.full_like(answers, 0.5)
    >>> numbers = np.arange(3)
    >>> text_helps(LeftOutForecasts(answers, means, 0.8 * answers + 0.1, numbers), 0.5)
    True
    >>> text_helps(LeftOutForecasts(answers, means, means, numbers), 0.5)
    False
    """
    known = ~np.isnan(trial.answers)
    forecasts = (trial.means, trial.forecasts)
    errors = [means_of_known((np.clip(x, 0, 1) - trial.answers) ** 2, known) for x in forecasts]
    hits = [hit_shares(x, trial.answers) for x in forecasts]
    saved = _by_question(errors[0] - errors[1], trial.numbers)
    gain = _by_question(hits[1] - hits[0], trial.numbers)
    doubt = saved.std() / np.sqrt(len(saved)) + 1e-9
    return bool(saved.mean() > guard * doubt and gain.mean() > LEAST_GAIN)


def calibration_slope(trial: LeftOutForecasts, generator: np.random.Generator) -> float:
    """The slope with which ``1 / (1 + exp(-slope (forecast - 0.5)))`` is calibrated.

    A logistic regression on left-out answers with one parameter, which makes forecasts more or less
    extreme but changes no decision, because 0.5 stays 0.5. An intercept, or a separate slope for
    the skill, changed decisions for the worse.
    """
    from scipy.optimize import newton
    from scipy.special import expit

    known = ~np.isnan(trial.answers)
    drawn = generator.permutation(int(known.sum()))[:_ANSWERS_FOR_SLOPE]
    away = trial.forecasts[known][drawn].astype(np.float64) - 0.5
    right = trial.answers[known][drawn].astype(np.float64)

    # A weak penalty: if all forecasts were correct, the slope would be infinite.
    def gradient(slope: float) -> float:
        return float((away * (expit(slope * away) - right)).sum()) + slope

    def curvature(slope: float) -> float:
        chance = expit(slope * away)
        return float((away * away * chance * (1 - chance)).sum()) + 1

    return float(newton(gradient, 0.0, curvature, tol=1e-8, disp=False))


def route_weight(trial: LeftOutForecasts, guard: float) -> float:
    """The weight of the text in routing: from 0, one model for all questions, to 1.

    The weight with the highest accuracy on left-out questions, among models with a known answer; 0
    unless this accuracy exceeds that of the single best model by more than ``guard`` standard
    errors.
    """
    right = [_by_question(_right_of_asked(trial, weight), trial.numbers) for weight in WEIGHTS]
    best = max(range(len(WEIGHTS)), key=lambda place: (right[place].mean(), WEIGHTS[place]))
    gain = right[best] - right[0]
    sure = gain.mean() > guard * gain.std() / np.sqrt(len(gain))
    return WEIGHTS[best] if sure else 0.0


def route_weights(
    trial: LeftOutForecasts, codes: NDArray[np.int64], categories: int, guard: float
) -> NDArray[np.float64]:
    """The weight of the text in routing for each category: `route_weight`, or 0.

    If routing is less accurate than the single best model on a category's left-out questions, by
    more than ``guard`` standard errors, the weight is 0: the single best model gets all questions
    of the category.

    Parameters
    ----------
    codes
        The category of each row, or -1.

    Returns
    -------
    NDArray
        Shape (categories + 1,); the last is for questions without a known category.
    """
    weight = route_weight(trial, guard)
    weights = np.full(categories + 1, weight)
    gain = _right_of_asked(trial, weight) - _right_of_asked(trial, 0.0)
    for code in np.unique(codes[codes >= 0]):
        inside = codes == code
        lost = -_by_question(gain[inside], trial.numbers[inside])
        if lost.mean() > guard * lost.std() / np.sqrt(len(lost)):
            weights[code] = 0.0
    return weights


def _right_of_asked(trial: LeftOutForecasts, weight: float) -> NDArray[np.float32]:
    """Whether the model that a router asks is right, among models with a known answer."""
    known = ~np.isnan(trial.answers)
    scores = trial.means + np.float32(weight) * (trial.forecasts - trial.means)
    asked = np.where(known, scores, -np.inf).argmax(axis=1)
    return np.take_along_axis(trial.answers, asked[:, None], axis=1)[:, 0]


def _by_question(values: NDArray[np.floating], numbers: NDArray[np.int64]) -> NDArray[np.float64]:
    """The mean of each question's rows, which are not independent."""
    places = np.unique(numbers, return_inverse=True)[1]
    return np.asarray(np.bincount(places, weights=values) / np.bincount(places))


_GUARD = 0.5
"""Number of standard errors that a gain over the mean must exceed."""


class ChosenForecaster(NamedTuple):
    """The forecaster to use, fitted on all questions, and the scores of each candidate.

    ``probabilities``, shape (questions, models), are the forecasts of each question by a fit of the
    chosen forecaster without the question.
    """

    forecaster: Forecaster
    scores: tuple[ForecastScore, ...]
    probabilities: Probabilities


def choose(
    candidates: Sequence[Forecaster],
    table: Table,
    answers: Answers,
    *,
    folds: int = 5,
    seed: int = 0,
    listed_alone: bool = False,
    progress: Progress | None = None,
) -> ChosenForecaster:
    """Fit the candidate that predicts unseen questions best, or each model's mean.

    Each candidate is fitted ``folds`` times without a part of the questions and scored on that
    part. The most accurate one is chosen, the first of equals; but the mean is chosen unless the
    best gain over it exceeds half a standard error, over questions. A stricter rule would give up
    real gains of small fleets, and `TextFactors` has its own guard. The mean is always the first
    candidate.

    Rows with the same vector are one question, even with different ids: they are left out together,
    and are one cluster in every interval.

    A model without an answer outside of a fold gets the mean forecast of the other models there.

    Parameters
    ----------
    candidates
        Forecasters with the same layout; they are not changed.
    table, answers
        As for `Forecaster.fit`.
    folds, seed
        The number of folds, and the random seed.
    listed_alone
        Use the best candidate even if the mean is better; the mean is then only a baseline.
    progress
        Shows the number of fits.

    Raises
    ------
    DataError
        When there is nothing to learn from the answers, or from those outside of a fold.

    Examples
    --------
    >>> from scope.jobs.fleet.questions import QuestionLayout
    >>> from scope.jobs.fleet.forecaster import NeighbourForecaster
    >>> kinds = np.tile(np.eye(2, dtype=np.float32), (10, 1))
    >>> nearest = NeighbourForecaster(layout=QuestionLayout(vector=2), neighbours=5)
    >>> questions = kinds * np.linspace(0.9, 1.1, 20, dtype=np.float32)[:, np.newaxis]
    >>> choice = choose([nearest], questions, answers=kinds)
    >>> [(score.forecaster, score.chosen) for score in choice.scores]
    [('mean', False), ('knn(neighbours=5)', True)]
    >>> choice.scores[1].accuracy.value
    1.0
    """
    layout = candidates[0].layout
    others = [candidate for candidate in candidates if not isinstance(candidate, MeanForecaster)]
    listed = [MeanForecaster(layout=layout), *others]
    numbers = question_numbers(table, layout)
    parts = question_folds(numbers, folds, seed)
    with (progress or Silent()).task("trying forecasters", len(listed) * folds + 1) as advance:
        predicted = [_left_out(candidate, table, answers, parts, advance) for candidate in listed]
        shares = np.array([hit_shares(forecasts, answers) for forecasts in predicted])
        place = _best(shares, numbers)
        if listed_alone and others:
            place = 1 + int(np.nanmean(shares[1:], axis=1).argmax())
        forecaster = clone(listed[place]).fit(table, answers)
        advance()
    scores = (
        forecast_scores(
            probabilities,
            answers,
            list(map(str, numbers.tolist())),
            forecaster=listed[number].spelling,
            mean_probabilities=predicted[0] if number else None,
            chosen=number == place,
        )
        for number, probabilities in enumerate(predicted)
    )
    return ChosenForecaster(forecaster, tuple(chain(*scores)), predicted[place])


def _left_out(
    forecaster: Forecaster,
    table: Table,
    answers: Answers,
    parts: NDArray[np.int64],
    advance: Advance,
) -> Probabilities:
    """Forecasts of each question by a fit on the other parts."""
    forecasts = np.empty_like(answers)
    for part in np.unique(parts):
        out = parts == part
        learned = answers[~out]
        with_answers = ~np.isnan(learned).all(axis=0)
        fitted = clone(forecaster).fit(table[~out], learned[:, with_answers])
        predicted = fitted.predict_proba(table[out])
        rows = np.repeat(predicted.mean(axis=1, keepdims=True), len(with_answers), axis=1)
        rows[:, with_answers] = predicted
        forecasts[out] = rows
        advance()
    return forecasts


def _best(shares: NDArray[np.float64], numbers: NDArray[np.int64]) -> int:
    """The index of the best candidate or 0, the mean, by each row's share of hits."""
    answered = ~np.isnan(shares[0])
    values = shares[:, answered]
    best = int(values.mean(axis=1).argmax())
    gain = values[best] - values[0]
    # The rows of a question are not independent.
    away = np.bincount(numbers[answered], weights=gain - gain.mean())
    doubt = np.sqrt((away**2).sum()) / len(gain)
    return best if gain.mean() > _GUARD * doubt else 0
