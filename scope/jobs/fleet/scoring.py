"""Scores of forecasts on unseen questions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from scope.jobs.fleet.forecaster import Probabilities
from scope.jobs.fleet.questions import Answers
from scope.records import Estimate, ForecastScore, QuestionForecast, ReliabilityBin, Undefined
from scope.statistics import mean_estimate, paired_difference

Shares = NDArray[np.float64]
"""Shape (questions,): a share from 0 to 1, NaN if none of the required answers is known."""

NO_ANSWERS = "none of these questions has a known answer that counts here"


class Part(NamedTuple):
    """Some of the questions, by row: those of a category, or all if it is None."""

    category: str | None
    rows: NDArray[np.int64]


def question_parts(categories: Sequence[str | None]) -> tuple[Part, ...]:
    """All questions, then those of each category, in alphabetical order.

    Examples
    --------
    >>> [(name, rows.tolist()) for name, rows in question_parts(["gsm8k", None, "arc", "gsm8k"])]
    [(None, [0, 1, 2, 3]), ('arc', [2]), ('gsm8k', [0, 3])]
    """
    every = Part(None, np.arange(len(categories)))
    rows: dict[str, list[int]] = {}
    for row, category in enumerate(categories):
        if category is not None:
            rows.setdefault(category, []).append(row)
    return (every, *(Part(name, np.array(rows[name])) for name in sorted(rows)))


def means_of_known(values: NDArray[np.floating], known: NDArray[np.bool_]) -> Shares:
    """The mean of the known values of each row, NaN without any.

    Examples
    --------
    >>> known = np.array([[True, False, True], [False, False, False]])
    >>> means_of_known(np.array([[1.0, 9.0, 0.0], [9.0, 9.0, 9.0]]), known).tolist()
    [0.5, nan]
    """
    sums = np.where(known, values, 0.0).sum(axis=1, dtype=np.float64)
    counts = known.sum(axis=1)
    means: Shares = np.full(len(sums), np.nan)
    np.divide(sums, counts, out=means, where=counts > 0)
    return means


def known_mean(values: Shares, ids: Sequence[str]) -> Estimate | Undefined:
    """The mean over the questions with a value; ``n`` counts them.

    Examples
    --------
    >>> estimate = known_mean(np.array([1.0, np.nan, 0.0]), ["a", "b", "c"])
    >>> estimate.value, estimate.n
    (0.5, 2)
    """
    rows = np.flatnonzero(~np.isnan(values))
    return mean_estimate(values[rows], names_at(rows, ids), empty=NO_ANSWERS)


def known_gain(first: Shares, second: Shares, ids: Sequence[str]) -> Estimate | Undefined:
    """The mean of first minus second over the questions where both have a value.

    Examples
    --------
    >>> estimate = known_gain(np.array([1.0, 1.0]), np.array([0.0, np.nan]), ["a", "b"])
    >>> estimate.value, estimate.n
    (1.0, 1)
    """
    rows = np.flatnonzero(~np.isnan(first + second))
    return paired_difference(first[rows], second[rows], names_at(rows, ids), empty=NO_ANSWERS)


def from_greatest(estimate: Estimate | Undefined) -> float:
    """Sort key: the greatest value first, undefined ones last."""
    return -estimate.value if isinstance(estimate, Estimate) else float("inf")


def names_at(rows: NDArray[np.int64], names: Sequence[str]) -> list[str]:
    """The names in these rows.

    Examples
    --------
    >>> names_at(np.array([2, 0]), ("a", "b", "c"))
    ['c', 'a']
    """
    return [names[row] for row in rows.tolist()]


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

    All questions have the same weight, for any number of known answers. A question without known
    answers is left out; an estimate's ``n`` counts the others.

    Parameters
    ----------
    probabilities
        Shape (questions, models): the predicted probability of a right answer.
    answers
        Shape (questions, models): 1 right, 0 wrong, NaN unknown.
    ids
        Unique ids of the questions.
    forecaster
        The spelling of the forecaster.
    categories
        Category of each question; None for a question that counts only towards all.
    mean_probabilities
        Predictions by each model's mean, the baseline of the gain. None if ``probabilities`` are
        these predictions, which have no gain.
    chosen
        Whether this forecaster is the one in use.

    Examples
    --------
    Two of three known answers to the first question are predicted, and the only one to the second:

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
    for category, rows in question_parts(categories or [None] * len(ids)):
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
    """The share of each question's known answers that are predicted correctly, NaN without any.

    A right answer is predicted if its probability is above 0.5.

    Examples
    --------
    >>> hit_shares(np.float32([[0.9, 0.5], [0.9, 0.9]]), np.float32([[1, 1], [1, np.nan]])).tolist()
    [0.5, 1.0]
    """
    as_predicted = (probabilities > 0.5) == (answers > 0.5)
    return means_of_known(as_predicted.astype(np.float32), ~np.isnan(answers))


def reliability(
    probabilities: Probabilities, answers: Answers, ids: Sequence[str], *, bins: int = 10
) -> tuple[ReliabilityBin, ...]:
    """The share of right answers among those with about the same predicted probability.

    The bins are equally wide; a bin without known answers is left out. All answers of a bin have
    the same weight; the interval resamples questions.

    Parameters
    ----------
    probabilities, answers, ids
        As for `forecast_scores`.
    bins
        Number of bins.

    Examples
    --------
    >>> predicted = np.array([[0.9, 0.8, 0.1]], dtype=np.float32)
    >>> answers = np.array([[1, 0, 0]], dtype=np.float32)
    >>> low, high = reliability(predicted, answers, ["a"], bins=2)
    >>> round(low.predicted, 3), low.observed.value, round(high.predicted, 3), high.observed.value
    (0.1, 0.0, 0.85, 0.5)
    """
    edges, known = np.arange(bins + 1) / bins, ~np.isnan(answers)
    # The last bin includes 1.
    places = np.minimum(np.searchsorted(edges, probabilities[known], side="right") - 1, bins - 1)
    predicted, came_true = probabilities[known].astype(np.float64), answers[known]
    owners = np.nonzero(known)[0]
    filled_bins = []
    for place in np.unique(places):
        inside = places == place
        filled_bins.append(
            ReliabilityBin(
                low=float(edges[place]),
                high=float(edges[place + 1]),
                predicted=float(predicted[inside].mean()),
                observed=mean_estimate(came_true[inside], names_at(owners[inside], ids)),
            )
        )
    return tuple(filled_bins)


MOST_TEXT = 400
"""Most characters of a question that is kept as an example."""


def shortened(text: str) -> str:
    """A text for an example: a long one without its middle, since it often asks at its end.

    >>> shortened("short"), len(shortened("long " * 1000))
    ('short', 403)
    """
    half = MOST_TEXT // 2
    return text if len(text) <= MOST_TEXT else f"{text[:half]} … {text[-half:]}"


def surprising_questions(
    ids: Sequence[str], texts: Sequence[str], probabilities: Probabilities, answers: Answers
) -> tuple[QuestionForecast, ...]:
    """The questions that most more models, and most fewer, answer correctly than forecast.

    Without a known answer, the hardest and the easiest question by the forecasts.

    Examples
    --------
    >>> probabilities, answers = np.full((2, 2), 0.5), np.array([[1, np.nan], [0, 0]])
    >>> for row in surprising_questions("ab", ["", ""], probabilities, answers):
    ...     print(row.id, row.expected, row.observed)
    b 0.5 0.0
    a 0.5 1.0
    """
    known = ~np.isnan(answers)
    scored = bool(known.any())
    expected = means_of_known(probabilities, known if scored else np.ones_like(known))
    observed = means_of_known(answers, known)
    gaps = np.round(observed - expected if scored else expected, 6)
    if np.isnan(gaps).all():
        return ()
    return tuple(
        QuestionForecast(
            id=ids[row],
            text=shortened(texts[row]),
            expected=float(expected[row]),
            observed=float(observed[row]) if scored else None,
        )
        for row in dict.fromkeys((int(np.nanargmin(gaps)), int(np.nanargmax(gaps))))
    )
