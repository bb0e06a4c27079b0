"""The tables of the pages of the jobs on a fleet of models.

A table is None where nothing can be shown.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial

from reports import blocks
from reports.builders.estimates import table_of
from reports.builders.run import code
from reports.prose import Text, Written, joined, prose, written
from reports.wording import Cell, number, p_value, percent
from scope import records
from scope.jobs.fleet.headlines import Score
from scope.jobs.fleet.selection import from_greatest
from scope.records import Estimate, Undefined

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


def _changed(error: Number, change: Callable[[float], float]) -> Number:
    if not isinstance(error, Estimate):
        return error
    value, low, high = map(change, (error.value, error.low, error.high))
    return replace(error, value=value, low=low, high=high)


def scores_tables(scores: Sequence[records.ForecastScore]) -> Iterator[blocks.Table | None]:
    """The forecasters, on all questions and by category."""
    heads = ("Forecaster", "Category", "Correct, %", "More than the mean, points", "Brier score")
    rows = (
        (score, code(score.forecaster) + prose(" (in use)" * score.chosen), Cell.of(score.brier))
        for score in scores
    )
    return _tables("Unseen answers predicted correctly", heads, rows)


def routers_tables(routers: Sequence[records.RouterScore]) -> Iterator[blocks.Table | None]:
    """The routing strategies, on all questions and by category."""
    heads = ("Strategy", "Category", "Correct, %", "Gain, points", "Cost")
    names = (joined(filter(None, (row.router, row.model)), between=": ") for row in routers)
    costs = (None if row.cost is None else f"{row.cost:.4g}" for row in routers)
    rows = zip(routers, names, costs, strict=True)
    return _tables("Questions answered correctly, and what the router gains", heads, rows)


def _tables(
    caption: str, heads: Sequence[str], rows: Iterable[tuple[Score, Text, Written | None]]
) -> Iterator[blocks.Table | None]:
    """The scores with a name and a last cell: on all questions, and by category."""
    cells = [
        (name, score.category, _share(score.accuracy), _share(score.gain, signed=True), last)
        for score, name, last in sorted(rows, key=lambda row: row[0].category or "")
    ]
    yield table(caption, heads, [row for row in cells if row[1] is None])
    yield table(f"{caption}, by category", heads, [row for row in cells if row[1] is not None])


def expected_table(expected: Sequence[records.ExpectedAccuracy]) -> blocks.Table | None:
    """The models by expected accuracy, with the observed accuracy."""
    heads = ("Model", "Expected, %", "Observed, %", "Difference")
    rows = (
        (row.model, _share(row.accuracy), _share(row.observed), _share(row.shift, signed=True))
        for row in expected
    )
    return table("Accuracy on the unseen questions", heads, rows, tall=True, ends=True)


def reliability_table(bins: Sequence[records.ReliabilityBin]) -> blocks.Table | None:
    """The share of correct answers among forecasts with about the same probability."""
    rows = (
        (f"{100 * x.low:.0f} to {100 * x.high:.0f}", percent(x.predicted), _share(x.observed))
        for x in bins
    )
    heads = ("Predicted, %", "On average", "Correct, %")
    return table("Calibration of the probabilities", heads, rows)


def predictions_table(predictions: Sequence[records.BenchmarkPrediction]) -> blocks.Table | None:
    """Every benchmark, held out and predicted from the others."""
    heads = ("Benchmark", "Questions", "Error", "Of the mean", "Kendall’s τ", "Significant")
    rows = (
        (
            *(row.benchmark, row.questions),
            *(_share(_changed(error, math.sqrt)) for error in (row.mse, row.baseline)),
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


def communities_table(communities: Sequence[records.CommunityDistance]) -> blocks.Table | None:
    """The distances within communities, then those between them."""
    rows = (
        (
            *(pair.first, "itself" if pair.first == pair.second else pair.second, pair.pairs),
            *(Cell.of(pair.distance), p_value(pair.p_value), p_value(pair.p_adjusted)),
        )
        for pair in sorted(communities, key=lambda pair: pair.first != pair.second)
    )
    heads = ("Community", "To", "Pairs", "Distance", "p", "p, adjusted")
    return table("Distances within and between communities", heads, rows)


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
