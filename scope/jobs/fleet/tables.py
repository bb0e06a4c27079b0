"""The numbers of the jobs on a fleet in tables; None where there is nothing to list."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from reports.blocks import Finder, Select, Table, places
from reports.builders.estimates import table_of
from reports.builders.run import code
from reports.prose import Text, joined, prose
from reports.wording import Cell, number, p_value, percent
from scope import records
from scope.jobs.fleet.score_words import by_category, from_greatest
from scope.records import Estimate, Undefined
from scope.records.fleet import FEW_MODELS

MOST_BRIEF_ROWS = 8
"""The most rows of a table in a terminal."""

_ON_PAGES_ALONE = ("Brier score", "Difference", "Significant", "Community", "Next nearest")
"""Columns that a terminal leaves out."""

_table = partial(table_of, spacious=_ON_PAGES_ALONE, most=MOST_BRIEF_ROWS)


def _share(estimate: Estimate | Undefined | None, *, signed: bool = False) -> Cell | None:
    """A share or difference in per cent, whose sign stands in the column's head."""
    if estimate is None:
        return None
    cell = Cell.points(estimate) if signed else Cell.share(estimate)
    return replace(cell, value=cell.value.partition("\u00a0")[0])


def _root(error: Estimate | Undefined | None) -> Cell | None:
    """The root of a mean squared error, in points."""
    if isinstance(error, Estimate):
        value, low, high = (math.sqrt(max(0, one)) for one in (error.value, error.low, error.high))
        error = replace(error, value=value, low=low, high=high)
    return _share(error)


def scores_table(scores: Sequence[records.ForecastScore]) -> Table | None:
    """The forecasters, on all questions and then by category."""
    more = "More than the mean, points"
    return _table(
        "Unseen answers predicted correctly",
        ("Forecaster", "Category", "Correct, %", more, "Brier score"),
        (
            (
                prose("{name} (in use)" if one.chosen else "{name}", name=code(one.forecaster)),
                *(one.category, _share(one.accuracy), _share(one.gain, signed=True)),
                Cell.of(one.brier),
            )
            for one in by_category(scores)
        ),
    )


def routers_table(routers: Sequence[records.RouterScore]) -> Table | None:
    """The routing strategies, on all questions and then by category."""
    return _table(
        "Questions answered correctly, and what the router gains",
        ("Strategy", "Category", "Correct, %", "Gain, points", "Cost"),
        (
            (
                joined(filter(None, (one.router, one.model)), between=": "),
                *(one.category, _share(one.accuracy), _share(one.gain, signed=True)),
                None if one.cost is None else f"{one.cost:.4g}",
            )
            for one in by_category(routers)
        ),
    )


def mix_table(mix: Sequence[records.RouteShare]) -> Table | None:
    """The models that the router selects, the most frequent first."""
    ordered = sorted(mix, key=lambda one: -one.share)
    rows = ((one.model, percent(one.share)) for one in ordered)
    return _table("Models that the router selects", ("Model", "Questions, %"), rows)


def expected_table(expected: Sequence[records.ExpectedAccuracy]) -> Table | None:
    """The models by expected accuracy, the highest first, beside the observed one."""
    return _table(
        "Accuracy on the unseen questions",
        ("Model", "Expected, %", "Observed, %", "Difference"),
        (
            (one.model, *map(_share, (one.accuracy, one.observed)), _share(one.shift, signed=True))
            for one in sorted(expected, key=lambda one: from_greatest(one.accuracy))
        ),
        tall=True,
        ends=True,
    )


def reliability_table(bins: Sequence[records.ReliabilityBin]) -> Table | None:
    """The share of correct answers among forecasts with about the same probability."""
    return _table(
        "Calibration of the probabilities",
        ("Predicted, %", "On average", "Correct, %"),
        (
            (
                prose(f"{100 * one.low:.0f} to {100 * one.high:.0f}"),
                *(percent(one.predicted), _share(one.observed)),
            )
            for one in bins
        ),
    )


def predictions_table(predictions: Sequence[records.BenchmarkPrediction]) -> Table | None:
    """Every benchmark, held out and predicted from the others."""
    return _table(
        "Held-out benchmarks: typical errors in points, and rank correlations",
        ("Benchmark", "Questions", "Error", "Of the mean", "Kendall’s τ", "Significant"),
        (
            (
                *(one.benchmark, one.questions, _root(one.mse), _root(one.baseline)),
                Cell.of(one.tau),
                prose("{count} of {all}", count=one.significant, all=one.splits),
            )
            for one in predictions
        ),
    )


def contributions_table(contributions: Sequence[records.Contribution]) -> Table | None:
    """The contributions, the largest first."""
    ordered = sorted(contributions, key=lambda one: from_greatest(one.value))
    return _table(
        "Error of forecasts without a benchmark’s questions minus with them",
        ("Questions of", "Forecasts on", "Contribution, points"),
        ((one.source, one.target, _share(one.value, signed=True)) for one in ordered),
    )


def communities_table(communities: Sequence[records.CommunityDistance]) -> Table | None:
    """The distances within communities, then those between them."""
    few = f"fewer than {FEW_MODELS} models"
    return _table(
        "Distances within and between communities",
        ("Community", "To", "Pairs", "Distance", "p", "p, adjusted"),
        (
            (
                *(one.first, "itself" if one.first == one.second else one.second, one.pairs),
                *(Cell.of(one.distance), few if untested else p),
                None if one.p_adjusted is None else p_value(one.p_adjusted),
            )
            for one in sorted(communities, key=lambda one: one.first != one.second)
            for p in [None if one.p_value is None else p_value(one.p_value)]
            for untested in [p is None and one.first == one.second]
        ),
    )


def models_table(models: Sequence[records.FleetModel]) -> Table | None:
    """All models, the most accurate first, with a search."""
    models = sorted(models, key=lambda model: from_greatest(model.skill))
    names = sorted({one.community for one in models if one.community is not None})
    options = (*places(names)[:1], ("none", "none"), *places(names)[1:])
    select = Select(key="community", label="Community", options=options)
    numbers = {name: str(place) for place, name in enumerate(names)}
    return _table(
        "Accuracy of the models, and their distances to the nearest",
        ("Model", "Correct, %", "Community", "Nearest", "Next nearest"),
        (
            (
                prose("{name} (added)" if one.added else "{name}", name=one.name),
                *(_share(one.skill), one.community),
                *map(_neighbours, (one.nearest[:1], one.nearest[1:])),
            )
            for one in models
        ),
        (
            {
                "error": f"{1 + min(from_greatest(one.skill), 1):.6f}",
                **({"community": numbers.get(one.community or "", "")} if names else {}),
            }
            for one in models
        ),
        tall=True,
        ends=True,
        finder=Finder(
            unit="models",
            searched="names",
            selects=(select,) if names else (),
            orders=(("order", "most accurate first"), ("error", "least accurate first")),
        ),
    )


def _neighbours(nearest: Sequence[records.Neighbour]) -> Text:
    """Models with their distances."""
    return joined(prose(f"{{name}}\u00a0{number(one.distance)}", name=one.model) for one in nearest)
