"""The tables of the pages of the jobs on a fleet of models.

A table is None where nothing can be shown.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial

from reports import blocks
from reports.builders.estimates import strips_table, table_of
from reports.builders.run import code
from reports.prose import Text, Written, joined, prose, written
from reports.wording import Cell, number, short_points, whole
from scope import records
from scope.jobs.fleet.headlines import Score, of_pairs, overall
from scope.jobs.fleet.selection import from_greatest
from scope.records import Estimate, Undefined
from scope.records.fleet import BEST_PER_BENCHMARK, ORACLE, SAME_MIX

Number = Estimate | Undefined | None

MOST_BRIEF_ROWS = 8
"""The most rows of a table in a terminal."""

_ON_PAGES_ALONE = ("Brier score", "Difference", "Significant", "Community", "Next nearest")
"""Columns that a terminal leaves out."""

table = partial(table_of, spacious=_ON_PAGES_ALONE, most=MOST_BRIEF_ROWS)


def _share(estimate: Number, *, signed: bool = False) -> Cell | None:
    """A share or difference in per cent, without the unit: the column's head has it."""
    if estimate is None:
        return None
    cell = Cell.points(estimate) if signed else Cell.share(estimate)
    return replace(cell, value=cell.value.partition("\u00a0")[0])


def _changed(error: Estimate | Undefined, change: Callable[[float], float]) -> Estimate | Undefined:
    if not isinstance(error, Estimate):
        return error
    value, low, high = map(change, (error.value, error.low, error.high))
    return replace(error, value=value, low=low, high=high)


_NAMES = {
    SAME_MIX: "the same models drawn at random",
    BEST_PER_BENCHMARK: "the best model of each category, in hindsight",
    ORACLE: "a perfect choice",
}
"""The ways of routing in words, where they differ from those of results."""


def gains_table(routers: Sequence[records.RouterScore]) -> blocks.Table | None:
    """How many more points of questions the router gets right than each other way, paired."""
    gains = (
        (f"{row.model} alone" if row.model else _NAMES.get(row.router, row.router), row.gain)
        for row in overall(routers)
    )
    rows = ((name, gain) for name, gain in gains if gain is not None)
    return strips_table("points more right than", rows, least=0.0, write=short_points)


def pairs_table(predictions: Sequence[records.BenchmarkPrediction]) -> blocks.Table | None:
    """Of 100 pairs of models, those that are predicted in the right order; a coin: 50."""
    rows = ((x.benchmark, _changed(x.tau, of_pairs)) for x in predictions)
    return strips_table("in the right order (a coin: 50)", rows, least=50.0, write=whole)


def scores_tables(scores: Sequence[records.ForecastScore]) -> Iterator[blocks.Table | None]:
    """The forecasters, on all questions and by category."""
    heads = ("Forecaster", "Category", "Correct, %", "More than the average, points", "Brier score")
    names = (code(row.forecaster) + prose(" (in use)" * row.chosen) for row in scores)
    lasts = (Cell.of(row.brier) for row in scores)
    return _scores("Unseen answers predicted correctly", heads, scores, names, lasts)


def routers_tables(routers: Sequence[records.RouterScore]) -> Iterator[blocks.Table | None]:
    """The routing strategies, on all questions and by category."""
    heads = ("Strategy", "Category", "Correct, %", "Gain, points", "Cost")
    names = (row.model or _NAMES.get(row.router, row.router) for row in routers)
    costs = (None if row.cost is None else f"{row.cost:.4g}" for row in routers)
    caption = "Questions answered correctly, and what the router gains"
    return _scores(caption, heads, routers, names, costs)


def _scores(
    caption: str,
    heads: Sequence[str],
    scores: Sequence[Score],
    names: Iterable[Written],
    lasts: Iterable[Written | None],
) -> Iterator[blocks.Table | None]:
    rows = [
        (name, score.category, _share(score.accuracy), _share(score.gain, signed=True), last)
        for score, name, last in zip(scores, names, lasts, strict=True)
    ]
    yield table(caption, heads, [row for row in rows if row[1] is None])
    parts = sorted((row for row in rows if row[1] is not None), key=lambda row: row[1] or "")
    yield table(f"{caption}, by category", heads, parts)


def expected_table(expected: Sequence[records.ExpectedAccuracy]) -> blocks.Table | None:
    """The models by expected accuracy, with the observed accuracy."""
    heads = ("Model", "Expected, %", "Observed, %", "Difference")
    rows = (
        (row.model, _share(row.accuracy), _share(row.observed), _share(row.shift, signed=True))
        for row in expected
    )
    return table("Accuracy on the unseen questions", heads, rows, tall=True, ends=True)


def predictions_table(predictions: Sequence[records.BenchmarkPrediction]) -> blocks.Table | None:
    """Every benchmark, held out and predicted from the others."""
    heads = ("Benchmark", "Questions", "Error", "Of the mean", "Kendall’s τ", "Significant")
    rows = (
        (
            *(row.benchmark, row.questions),
            *(x and _share(_changed(x, math.sqrt)) for x in (row.mse, row.baseline)),
            *(Cell.of(row.tau), f"{row.significant} of {row.splits}"),
        )
        for row in predictions
    )
    caption = "Held-out benchmarks: typical errors in points, and rank correlations"
    return table(caption, heads, rows)


def contributions_table(rows: Sequence[records.Contribution]) -> blocks.Table | None:
    """The contributions, the largest first."""
    cells = (
        (row.source, row.target, _share(_changed(row.value, lambda x: 100 * x), signed=True))
        for row in sorted(rows, key=lambda row: from_greatest(row.value))
    )
    caption = "Error of forecasts without a benchmark’s questions minus with them"
    return table(caption, ("Questions of", "Forecasts on", "Contribution, squared points"), cells)


def models_table(models: Sequence[records.FleetModel]) -> blocks.Table | None:
    """All models, the most accurate first, with a search."""
    ordered = sorted(models, key=lambda model: from_greatest(model.skill))
    names = sorted({model.community for model in models if model.community is not None})
    every, *options = blocks.places(names)
    places_of: dict[str | None, str] = {name: place for place, name in options}
    select = blocks.Select(
        key="community", label="Community", options=(every, ("none", "none"), *options)
    )
    sorts = (("order", "most accurate first"), ("error", "least accurate first"))
    heads = ("Model", "Correct, %", "Community", "Nearest", "Next nearest")
    rows = (
        (
            *(written(model.name) + prose(" (added)" * model.added), _share(model.skill)),
            *(model.community, _near(model.nearest[:1]), _near(model.nearest[1:])),
        )
        for model in ordered
    )
    keys = (
        {"error": str(place), "community": places_of.get(model.community, "")}
        for place, model in enumerate(ordered)
    )
    caption = "Accuracy of the models, and their distances to the nearest"
    finder = blocks.Finder(
        unit="models", searched="names", selects=(select,) if names else (), orders=sorts
    )
    return table(caption, heads, rows, keys, tall=True, ends=True, finder=finder)


def _near(nearest: Sequence[records.Neighbour]) -> Text:
    """Models with their distances."""
    return joined(prose(f"{{name}}\u00a0{number(x.distance)}", name=x.model) for x in nearest)
