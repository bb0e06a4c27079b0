"""Forecasts and routes on questions that were held out, at growing numbers of training questions.

Every split is one of questions, those with one text on one side: a fifth is for testing, and a
share of all is for training, the smaller within the larger. No fit sees a test question: the
published factorization runs its 50 epochs, and what ours decides it decides on training questions.
But ours was made with an eye on the visible halves of these sets (which features, 20 dimensions,
its guard), so that only questions never looked at, with --data, say what it is worth without that.

KNN and the published factorization know a question by its vector; ours sees its category and
features of its text, too. `ours_vectors` is ours with the vector alone.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from statistics import mean, stdev
from typing import Any, NamedTuple

import numpy as np
from fleet_sets import StoredSet
from numpy.typing import NDArray
from scipy.stats import t as student

from scope.jobs.fleet.forecaster import Forecaster, MeanForecaster, NeighbourForecaster
from scope.jobs.fleet.matrix_factorization import MatrixFactorization
from scope.jobs.fleet.questions import QuestionLayout
from scope.jobs.fleet.text_factors import TextFactors

SHARES = (0.1, 0.2, 0.4, 0.8)
METHODS = ("mean", "knn", "published", "ours_vectors", "ours")
TESTED = 0.2


class Split(NamedTuple):
    """Rows of the questions that are trained on and tested on."""

    train: NDArray[np.int64]
    test: NDArray[np.int64]


class Scores(NamedTuple):
    """Accuracies of forecasts on one split; and of routes by category, ``all`` among them."""

    accuracy: dict[str, float]
    routed: dict[str, tuple[float, float]]


def split(texts: NDArray[np.int64], share: float, seed: int) -> Split:
    """A split with ``share`` of all questions to train on, by the number of each one's text."""
    order = np.random.default_rng(seed).permutation(texts.max() + 1)
    tested = round(TESTED * len(order))
    last = tested + round(share * len(order))
    place = np.argsort(order)[texts]
    rows = np.argsort(place, kind="stable")
    return Split(
        train=rows[(place[rows] >= tested) & (place[rows] < last)], test=rows[place[rows] < tested]
    )


def forecaster(method: str, stored: StoredSet, seed: int) -> Forecaster:
    """The forecaster behind a method's name."""
    match method:
        case "mean":
            return MeanForecaster(layout=stored.layout)
        case "knn":
            return NeighbourForecaster(layout=stored.layout)
        case "published":
            return MatrixFactorization(layout=stored.layout, seed=seed)
        case "ours_vectors":
            return TextFactors(layout=vectors_only(stored.layout), seed=seed)
    return TextFactors(layout=stored.layout, seed=seed)


def vectors_only(layout: QuestionLayout) -> QuestionLayout:
    """The layout of a table that is cut off behind the questions' vectors."""
    return QuestionLayout(vector=layout.vector, encoder=layout.encoder)


def scores(stored: StoredSet, share: float, seed: int) -> Scores:
    """Fit every method on the training questions of one split, and score it on the others."""
    rows = split(stored.texts, share, seed)
    accuracy, routed = {}, {}
    for method in METHODS:
        unfitted = forecaster(method, stored, seed)
        table = stored.table[:, : unfitted.layout.width]
        fitted = unfitted.fit(table[rows.train], stored.answers[rows.train])
        accuracy[method] = fitted.score(table[rows.test], stored.answers[rows.test])
        if method == "ours":
            routed = _routed(fitted, stored, rows)
    return Scores(accuracy, routed)


def _routed(fitted: Forecaster, stored: StoredSet, rows: Split) -> dict[str, tuple[float, float]]:
    """How often the router's model is right, and the one that is best in training."""
    answers = stored.answers[rows.test]
    chosen = fitted.routing_scores(stored.table[rows.test]).argmax(axis=1)
    best = int(np.nanmean(stored.answers[rows.train], axis=0).argmax())
    router = np.take_along_axis(answers, chosen[:, None], axis=1)[:, 0]
    single = answers[:, best]
    categories = stored.categories[rows.test]
    # Both are judged by the questions on which both answers are known.
    known = ~np.isnan(router + single)
    parts = {"all": known}
    parts |= {name: known & (categories == name) for name in np.unique(stored.categories)}
    return {
        name: (float(router[part].mean()), float(single[part].mean()))
        for name, part in parts.items()
        if part.any()
    }


def figures(results: Mapping[tuple[str, float, int], Scores]) -> dict[str, Any]:
    """The flat figures of all splits: means with 95 % intervals of Student's t over the splits."""
    found: dict[str, Any] = {}
    for name, share in dict.fromkeys(key[:2] for key in results):
        of_splits = [one for key, one in sorted(results.items()) if key[:2] == (name, share)]
        for key, values in _series(of_splits):
            # The largest share is what the unadorned key stands for.
            suffix = "" if share == SHARES[-1] else f"_{round(100 * share)}"
            found |= summary(f"{name}_{key}{suffix}", values)
    return found


def _series(of_splits: Sequence[Scores]) -> Iterator[tuple[str, list[float]]]:
    for method in of_splits[0].accuracy:
        yield method, [one.accuracy[method] for one in of_splits]
    for ours in ("ours", "ours_vectors"):
        for other in ("mean", "knn", "published"):
            margins = [one.accuracy[ours] - one.accuracy[other] for one in of_splits]
            yield f"{ours}_over_{other}", margins
    routed = [one.routed["all"] for one in of_splits]
    yield "route", [router for router, _ in routed]
    yield "single_best", [single for _, single in routed]
    yield "route_over_single_best", [router - single for router, single in routed]


def by_category(results: Mapping[tuple[str, float, int], Scores], name: str) -> dict[str, Any]:
    """Router and single best within each category, at the largest share."""
    of_splits = [
        one.routed for key, one in sorted(results.items()) if key[:2] == (name, SHARES[-1])
    ]
    found: dict[str, Any] = {}
    for category in sorted({part for one in of_splits for part in one} - {"all"}):
        pairs = [one[category] for one in of_splits if category in one]
        key = f"{name}_{category}"
        found |= summary(f"{key}_route", [router for router, _ in pairs])
        found |= summary(f"{key}_single_best", [single for _, single in pairs])
    return found


def summary(key: str, values: Sequence[float]) -> dict[str, Any]:
    """The mean, with its interval by Student's t over the splits; the bounds only of several."""
    if len(values) < 2:
        return {key: values[0]}
    half = student.ppf(0.975, len(values) - 1) * stdev(values) / math.sqrt(len(values))
    centre = mean(values)
    return {key: centre, f"{key}_low": centre - half, f"{key}_high": centre + half}
