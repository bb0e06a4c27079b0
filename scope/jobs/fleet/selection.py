"""Selects a forecaster, and the weight of texts, by cross-validation over the questions.

Scores of forecasts on unseen questions.
"""

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
from scope.progress import Silent
from scope.protocols import Advance, Progress
from scope.records import Estimate, ForecastScore, QuestionForecast, ReliabilityBin, Undefined
from scope.statistics.intervals import mean_estimate
from scope.statistics.paired import paired_difference

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


def shortened(text: str, most: int = MOST_TEXT) -> str:
    """A text for an example: a long one without its middle, since it often asks at its end.

    >>> shortened("short"), shortened("one two three four", 11)
    ('short', 'one … four')
    """
    if len(text) <= most:
        return text
    start, end = text[: most // 2], text[-(most // 2) :]
    return f"{start.rpartition(' ')[0] or start} … {end.partition(' ')[2] or end}"


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
