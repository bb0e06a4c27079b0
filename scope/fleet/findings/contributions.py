"""Contributions of a benchmark's questions to forecasts: the error without them minus with."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from scope.errors import DataError
from scope.fleet.findings.by_question import Part, Shares, known_gain, names_at, question_parts
from scope.fleet.findings.forecasting import hit_shares
from scope.fleet.forecasters.forecaster import Probabilities
from scope.fleet.layout import Answers
from scope.protocols import Advance
from scope.records import Contribution, Estimate, Undefined

FitPredict = Callable[[NDArray[np.bool_]], Probabilities]
"""Learns from the marked ones of the questions to learn from, and predicts all that are held out.

Its result has the shape (questions held out, models)."""


def contributions(
    fit_predict: FitPredict,
    train_categories: Sequence[str | None],
    answers: Answers,
    ids: Sequence[str],
    categories: Sequence[str | None],
    *,
    advance: Advance | None = None,
) -> tuple[Contribution, ...]:
    """The contribution of every benchmark that is learned from to every one that is held out.

    The error on a benchmark is the share of known answers that do not come as predicted, the mean
    over its held-out questions. The contribution of i to j is the error on j after learning
    without i's questions, minus the error after learning from all, paired by question: positive
    where i helps. That of a benchmark to itself says how much of its forecasts rests on its own.

    Parameters
    ----------
    fit_predict
        Called once with everything, and once without each benchmark.
    train_categories
        Those of the questions to learn from.
    answers, ids, categories
        Of the questions held out: shape (questions, models), 1 right, 0 wrong, NaN unknown.
    advance
        Told of each time that something was learned: one more than there are benchmarks.

    Returns
    -------
    tuple of Contribution
        By source, then by target, each in alphabetical order. Undefined where too little is left
        to learn from without the source, or the target has no known answer.

    Raises
    ------
    ValueError
        If lengths differ or a forecast is no probability.

    Examples
    --------
    A made-up forecaster that predicts right answers only after it has seen arc:

    >>> def fit_predict(learned):
    ...     return np.full((1, 1), 0.9 if learned[0] else 0.1)
    >>> answers = np.array([[1.0]])
    >>> for one in contributions(fit_predict, ["arc", "gsm8k"], answers, ["a"], ["gsm8k"]):
    ...     print(one.source, one.target, one.value.value)
    arc gsm8k 1.0
    gsm8k gsm8k 0.0
    """
    if not len(answers) == len(ids) == len(categories):
        raise ValueError(f"{len(answers)} questions, {len(ids)} ids, {len(categories)} categories")
    everything = hit_shares(fit_predict(np.ones(len(train_categories), dtype=np.bool_)), answers)
    if advance is not None:
        advance()
    targets = question_parts(categories)[1:]
    found: list[Contribution] = []
    for source in question_parts(train_categories)[1:]:
        without = _hits_without(source, len(train_categories), fit_predict, answers)
        if advance is not None:
            advance()
        found.extend(
            Contribution(
                source=str(source.category),
                target=str(target.category),
                value=_value(everything, without, target, ids),
            )
            for target in targets
        )
    return tuple(found)


def _hits_without(
    source: Part, questions: int, fit_predict: FitPredict, answers: Answers
) -> Shares | Undefined:
    """How often forecasts come true after learning without a benchmark, or why none were made."""
    learned = np.ones(questions, dtype=np.bool_)
    learned[source.rows] = False
    if not learned.any():
        return Undefined(reason=f"there is nothing to learn from without {source.category}")
    try:
        probabilities = fit_predict(learned)
    except DataError as error:
        # Such as a model that answered nothing else; the other benchmarks can still be told.
        return Undefined(reason=f"without {source.category}: {error.found}")
    return hit_shares(probabilities, answers)


def _value(
    everything: Shares, without: Shares | Undefined, target: Part, ids: Sequence[str]
) -> Estimate | Undefined:
    if isinstance(without, Undefined):
        return without
    rows = target.rows
    # An error is 1 minus a hit: error without minus error with is hits with minus hits without.
    return known_gain(everything[rows], without[rows], names_at(rows, ids))
