"""How good forecasts are: who answers what correctly, predicted for questions never seen."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from scope.fleet.findings.by_question import (
    Shares,
    known_gain,
    known_mean,
    means_of_known,
    names_at,
    question_parts,
)
from scope.fleet.forecasters.forecaster import Probabilities
from scope.fleet.layout import Answers
from scope.records import ForecastScore, ReliabilityBin
from scope.statistics import mean_estimate


def forecast_scores(
    probabilities: Probabilities,
    answers: Answers,
    ids: Sequence[str],
    *,
    forecaster: str,
    categories: Sequence[str | None] | None = None,
    mean_probabilities: Probabilities | None = None,
    chosen: bool = False,
) -> tuple[ForecastScore, ...]:
    """Accuracy, Brier score and gain over each model's mean, of all questions and by category.

    Every question weighs alike, however many of its answers are known; one without any is left
    out, so that an estimate's ``n`` counts the questions behind it.

    Parameters
    ----------
    probabilities
        Shape (questions, models): the chance of a right answer, predicted.
    answers
        Shape (questions, models): 1 right, 0 wrong, NaN unknown.
    ids
        The questions', each once.
    forecaster
        The spelling of what predicted them.
    categories
        The questions'; None for a question that counts towards all alone.
    mean_probabilities
        What the per-model mean predicts, as the line to be ahead of. Left out where
        ``probabilities`` are themselves of the mean, which has no gain.
    chosen
        Whether this forecaster is the one in use.

    Raises
    ------
    ValueError
        If shapes differ or a probability is none.

    Examples
    --------
    Two of the three known answers of the first question come as predicted, the second's one too:

    >>> predicted = np.array([[0.9, 0.2, 0.6], [0.1, 0.5, 0.5]], dtype=np.float32)
    >>> answers = np.array([[1, 0, 0], [0, np.nan, np.nan]], dtype=np.float32)
    >>> (score,) = forecast_scores(predicted, answers, ["a", "b"], forecaster="knn")
    >>> round(score.accuracy.value, 3), round(score.brier.value, 3), score.gain
    (0.833, 0.073, None)
    """
    hits = hit_shares(probabilities, answers)
    errors = means_of_known((probabilities - answers) ** 2, ~np.isnan(answers))
    baseline = None if mean_probabilities is None else hit_shares(mean_probabilities, answers)
    scores = []
    for category, rows in question_parts(_checked_categories(categories, ids, answers)):
        names = names_at(rows, ids)
        scores.append(
            ForecastScore(
                forecaster=forecaster,
                accuracy=known_mean(hits[rows], names),
                brier=known_mean(errors[rows], names),
                gain=None if baseline is None else known_gain(hits[rows], baseline[rows], names),
                category=category,
                chosen=chosen,
            )
        )
    return tuple(scores)


def hit_shares(probabilities: Probabilities, answers: Answers) -> Shares:
    """The share of each question's known answers that come as predicted, NaN where none is known.

    A right answer is predicted where its probability is above 0.5.

    Raises
    ------
    ValueError
        If shapes differ or a probability is none.

    Examples
    --------
    >>> hit_shares(np.float32([[0.9, 0.5], [0.9, 0.9]]), np.float32([[1, 1], [1, np.nan]])).tolist()
    [0.5, 1.0]
    """
    _require_probabilities(probabilities, answers)
    as_predicted = (probabilities > 0.5) == (answers > 0.5)
    return means_of_known(as_predicted.astype(np.float32), ~np.isnan(answers))


def reliability(
    probabilities: Probabilities, answers: Answers, ids: Sequence[str], *, bins: int = 10
) -> tuple[ReliabilityBin, ...]:
    """Of the answers predicted with about the same probability, which share was right?

    The bins are equally wide; one without a known answer is left out. Within a bin every answer
    weighs alike, and those of one question stay together in the interval.

    Parameters
    ----------
    probabilities, answers, ids
        As for `forecast_scores`.
    bins
        How many.

    Raises
    ------
    ValueError
        If shapes differ, a probability is none, or there is no bin.

    Examples
    --------
    >>> predicted = np.array([[0.9, 0.8, 0.1]], dtype=np.float32)
    >>> answers = np.array([[1, 0, 0]], dtype=np.float32)
    >>> low, high = reliability(predicted, answers, ["a"], bins=2)
    >>> round(low.predicted, 3), low.observed.value, round(high.predicted, 3), high.observed.value
    (0.1, 0.0, 0.85, 0.5)
    """
    edges, places = _binned(probabilities, answers, bins)
    known = ~np.isnan(answers)
    predicted, came_true = probabilities[known].astype(np.float64), answers[known]
    owners = np.nonzero(known)[0]
    found = []
    for place in np.unique(places):
        inside = places == place
        found.append(
            ReliabilityBin(
                low=float(edges[place]),
                high=float(edges[place + 1]),
                predicted=float(predicted[inside].mean()),
                observed=mean_estimate(came_true[inside], names_at(owners[inside], ids)),
            )
        )
    return tuple(found)


def _binned(
    probabilities: Probabilities, answers: Answers, bins: int
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """The edges of the bins, and the bin of each known answer; the last bin holds 1 too."""
    if bins < 1:
        raise ValueError(f"forecasts are gathered in one bin or more, not {bins}")
    _require_probabilities(probabilities, answers)
    edges = np.arange(bins + 1) / bins
    places = np.searchsorted(edges, probabilities[~np.isnan(answers)], side="right") - 1
    return edges, np.minimum(places, bins - 1)


def _require_probabilities(probabilities: Probabilities, answers: Answers) -> None:
    if probabilities.shape != answers.shape:
        raise ValueError(f"forecasts of shape {probabilities.shape} for answers {answers.shape}")
    if not ((probabilities >= 0) & (probabilities <= 1)).all():
        raise ValueError("a forecast is a probability, from 0 to 1")


def _checked_categories(
    categories: Sequence[str | None] | None, ids: Sequence[str], answers: Answers
) -> Sequence[str | None]:
    found = [None] * len(ids) if categories is None else categories
    if not len(found) == len(ids) == len(answers):
        raise ValueError(f"{len(found)} categories, {len(ids)} ids, {len(answers)} questions")
    return found
