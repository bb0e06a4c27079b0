"""Selects a forecaster by cross-validation over the training questions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from scope.fleet.findings.forecasting import forecast_scores, hit_shares
from scope.fleet.forecasters.baselines import MeanForecaster
from scope.fleet.forecasters.forecaster import (
    Forecaster,
    Probabilities,
    checked_correctness,
    checked_table,
)
from scope.fleet.forecasters.validation import question_folds, question_numbers
from scope.fleet.layout import Answers, Table
from scope.progress import Silent
from scope.protocols import Advance, Progress
from scope.records import ForecastScore

_GUARD = 0.5
"""How many standard errors a gain over the mean must exceed to be believed."""


class ChosenForecaster(NamedTuple):
    """The forecaster to use, fitted on all questions, and how each candidate did.

    ``probabilities``, shape (questions, models), are the chosen one's forecasts of each question
    by a fit without it.
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
    first_anyway: bool = False,
    progress: Progress | None = None,
) -> ChosenForecaster:
    """Fit the candidate that predicts unseen questions best, or each model's mean.

    Each is fitted ``folds`` times without a part of the questions and tried on that part. The
    one with the best accuracy there is chosen, of equal ones that listed first; but the mean,
    unless the best one's gain over it exceeds half a standard error of the gain, question by
    question. To ask for more would give up real gains of small fleets, and `TextFactors` has
    a guard of its own. The mean is always among the candidates; unless it
    is listed, it comes first.

    Rows with the same vector are one question, under whichever ids: they are left out together,
    and count as one cluster in every interval.

    A model without an answer outside of a fold has the mean forecast of the others there.

    Parameters
    ----------
    candidates
        Forecasters with the same layout; they are not changed.
    table, answers
        As for `Forecaster.fit`.
    folds, seed
        How many parts the questions are drawn into, and what decides on the draw.
    first_anyway
        Use the first candidate whatever the others do, which are then there to compare with.
    progress
        Shows how many fits are done.

    Returns
    -------
    Choice
        The scores stand in the order of the candidates, and are of questions not fitted on.

    Raises
    ------
    DataError
        When there is nothing to learn from the answers, or from those outside of a fold.

    Examples
    --------
    >>> from scope.fleet.layout import QuestionLayout
    >>> from scope.fleet.forecasters.baselines import NeighbourForecaster
    >>> kinds = np.tile(np.eye(2, dtype=np.float32), (10, 1))
    >>> nearest = NeighbourForecaster(layout=QuestionLayout(vector=2), neighbours=5)
    >>> questions = kinds * np.linspace(0.9, 1.1, 20, dtype=np.float32)[:, np.newaxis]
    >>> choice = choose([nearest], questions, answers=kinds)
    >>> [(one.forecaster, one.chosen) for one in choice.scores]
    [('mean', False), ('knn(neighbours=5)', True)]
    >>> choice.scores[1].accuracy.value
    1.0
    """
    listed = list(candidates)
    if not any(isinstance(one, MeanForecaster) for one in listed):
        listed.insert(0, MeanForecaster(layout=listed[0].layout))
    questions = checked_table(table, listed[0].layout)
    given = checked_correctness(answers, len(questions))
    numbers = question_numbers(questions, listed[0].layout)
    parts = question_folds(numbers, folds, seed)
    mean = next(n for n, one in enumerate(listed) if isinstance(one, MeanForecaster))
    with (progress or Silent()).task("trying forecasters", len(listed) * folds + 1) as advance:
        predicted = [_left_out(one, questions, given, parts, advance) for one in listed]
        place = _best([hit_shares(one, given) for one in predicted], mean, numbers)
        if first_anyway:
            place = listed.index(candidates[0])
        forecaster = clone(listed[place]).fit(questions, given)
        advance()
    ids = list(map(str, numbers.tolist()))
    scores = tuple(
        score
        for number, (one, probabilities) in enumerate(zip(listed, predicted, strict=True))
        for score in forecast_scores(
            probabilities,
            given,
            ids,
            forecaster=one.spelling,
            mean_probabilities=None if number == mean else predicted[mean],
            chosen=number == place,
        )
    )
    return ChosenForecaster(forecaster, scores, predicted[place])


def _left_out(
    forecaster: Forecaster,
    table: Table,
    answers: Answers,
    parts: NDArray[np.int64],
    advance: Advance,
) -> Probabilities:
    """Forecasts of each question by a fit on the other parts."""
    found = np.empty_like(answers)
    for part in np.unique(parts):
        out = parts == part
        learned = answers[~out]
        with_answers = ~np.isnan(learned).all(axis=0)
        fitted = clone(forecaster).fit(table[~out], learned[:, with_answers])
        predicted = fitted.predict_proba(table[out])
        rows = np.repeat(predicted.mean(axis=1, keepdims=True), len(with_answers), axis=1)
        rows[:, with_answers] = predicted
        found[out] = rows
        advance()
    return found


def _best(shares: Sequence[NDArray[np.float64]], mean: int, numbers: NDArray[np.int64]) -> int:
    """The place of the best, or the mean's: from the shares of each row predicted correctly."""
    answered = ~np.isnan(shares[0])
    values = np.array(shares)[:, answered]
    best = int(values.mean(axis=1).argmax())
    gain = values[best] - values[mean]
    # What chance makes of a question, it makes of all its rows.
    away = np.bincount(numbers[answered], weights=gain - gain.mean())
    doubt = np.sqrt((away**2).sum()) / len(gain)
    return best if gain.mean() > _GUARD * doubt else mean
