"""The results of the jobs on a fleet in charts and tables; None where nothing can be shown."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial

from reports.blocks import Figure, Finder, Select, Table, places
from reports.builders.estimates import table_of
from reports.builders.run import code
from reports.builders.strips import strips_table
from reports.charts import Chart, Dot, Series
from reports.prose import Text, Written, joined, prose, written
from reports.wording import Cell, number, p_value, percent, short_share
from scope import records
from scope.jobs.fleet.headlines import Score, overall
from scope.jobs.fleet.scores import from_greatest
from scope.records import Estimate, Undefined

MOST_DOTS = 1_000
"""Most models of a benchmark that are drawn, evenly spaced by observed accuracy."""

MOST_BARS = 40
"""Most models without an observed accuracy that are drawn."""

FIFTHS = ("least accurate fifth", "second", "third", "fourth", "most accurate fifth")
"""The groups on a map without communities."""

MOST_COMMUNITIES = 5
"""Most communities with their own shape; all other models share the last one."""


def accuracies_chart(expected: Sequence[records.ExpectedAccuracy]) -> Figure | Table | None:
    """Observed against expected accuracy; the expected accuracies if none was observed."""
    dots = [
        _dot(row.model, row.accuracy.value, seen.value, (seen.low, seen.high))
        for row in expected
        if isinstance(row.accuracy, Estimate) and isinstance(seen := row.observed, Estimate)
    ]
    alone = [(row.model, row.accuracy) for row in expected[:MOST_BARS]]
    return _diagonal("expected", dots) or strips_table("Expected accuracy", alone)


def benchmark_chart(prediction: records.BenchmarkPrediction) -> Figure | None:
    """Observed against predicted accuracy on a benchmark."""
    points = sorted(prediction.points, key=lambda point: point.observed)
    drawn = points[:: math.ceil(len(points) / MOST_DOTS) or 1]
    note = f"{len(drawn):,} of {len(points):,} models" if len(drawn) < len(points) else ""
    dots = [_dot(point.model, point.predicted, point.observed) for point in drawn]
    return _diagonal("predicted", dots, prediction.benchmark, note)


def _dot(model: str, x: float, y: float, interval: tuple[float, float] | None = None) -> Dot:
    title = f"{model}: predicted {percent(x)} %, observed {percent(y)} %"
    return Dot(title=title, x=x, y=y, interval=interval, name=model)


def _diagonal(x: str, dots: Sequence[Dot], name: str = "", note: str = "") -> Figure | None:
    """Observed against predicted accuracy, on axes with the same ends."""
    chart = Chart(
        label=f"Observed by {x} accuracy",
        series=(Series(dots=tuple(dots), name=name, note=note),),
        x_title=f"{x} accuracy",
        y_title="observed accuracy",
        diagonal=True,
    )
    return Figure(chart) if dots else None


def correlations_chart(predictions: Iterable[records.BenchmarkPrediction]) -> Table | None:
    """The rank correlation of each benchmark, the best predicted first."""
    ordered = sorted(predictions, key=lambda prediction: from_greatest(prediction.tau))
    return strips_table("Kendall’s τ", ((row.benchmark, row.tau) for row in ordered))


def routers_chart(routers: Sequence[records.RouterScore]) -> Table | None:
    """The accuracy of each routing strategy."""
    rows = ((score.router, score.accuracy) for score in overall(routers))
    return strips_table("Share of questions answered correctly", rows)


def map_chart(models: Sequence[records.FleetModel]) -> Figure | None:
    """The map of the models that have a position, by community or else by accuracy."""
    ordered = sorted(models, key=lambda model: from_greatest(model.skill))
    sizes = Counter(model.community for model in models if model.community is not None)
    communities = [name for name, _ in sizes.most_common(MOST_COMMUNITIES)]
    names = [*communities, "other or no community"] if communities else FIFTHS
    dots: list[list[Dot]] = [[] for _ in names]
    for rank, model in enumerate(ordered):
        group = -1 - rank * len(FIFTHS) // len(ordered)
        if communities:
            group = communities.index(model.community) if model.community in communities else -1
        if model.x is not None and model.y is not None:
            title = f"{model.name}\naccuracy {short_share(model.skill)}"
            dots[group].append(Dot(title=title, x=model.x, y=model.y, name=model.name))
    groups = tuple(
        Series(
            name=name,
            note=f"({len(members):,})",
            style=f"{'s' if communities else 'q'}{place}",
            shape=place if communities else 0,
            dots=tuple(members),
        )
        for place, (name, members) in enumerate(zip(names, dots, strict=True))
        if members
    )
    label = f"Map of the models by {'community' if communities else 'accuracy'}"
    return Figure(Chart(label=label, series=groups, size=(692, 452))) if groups else None


Number = Estimate | Undefined | None

MOST_BRIEF_ROWS = 8
"""The most rows of a table in a terminal."""

_ON_PAGES_ALONE = ("Brier score", "Difference", "Significant", "Community", "Next nearest")
"""Columns that a terminal leaves out."""

_table = partial(table_of, spacious=_ON_PAGES_ALONE, most=MOST_BRIEF_ROWS)


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


def scores_tables(scores: Sequence[records.ForecastScore]) -> Iterator[Table | None]:
    """The forecasters, on all questions and by category."""
    heads = ("Forecaster", "Category", "Correct, %", "More than the mean, points", "Brier score")
    rows = (
        (score, code(score.forecaster) + prose(" (in use)" * score.chosen), Cell.of(score.brier))
        for score in scores
    )
    return _tables("Unseen answers predicted correctly", heads, rows)


def routers_tables(routers: Sequence[records.RouterScore]) -> Iterator[Table | None]:
    """The routing strategies, on all questions and by category."""
    heads = ("Strategy", "Category", "Correct, %", "Gain, points", "Cost")
    names = (joined(filter(None, (row.router, row.model)), between=": ") for row in routers)
    costs = (None if row.cost is None else f"{row.cost:.4g}" for row in routers)
    rows = zip(routers, names, costs, strict=True)
    return _tables("Questions answered correctly, and what the router gains", heads, rows)


def _tables(
    caption: str, heads: Sequence[str], rows: Iterable[tuple[Score, Text, Written | None]]
) -> Iterator[Table | None]:
    """The scores with a name and a last cell: on all questions, and by category."""
    cells = [
        (name, score.category, _share(score.accuracy), _share(score.gain, signed=True), last)
        for score, name, last in sorted(rows, key=lambda row: row[0].category or "")
    ]
    yield _table(caption, heads, [row for row in cells if row[1] is None])
    yield _table(f"{caption}, by category", heads, [row for row in cells if row[1] is not None])


def mix_table(mix: Sequence[records.RouteShare]) -> Table | None:
    """The models that the router selects, the most frequent first."""
    rows = ((x.model, percent(x.share)) for x in sorted(mix, key=lambda x: -x.share))
    return _table("Models that the router selects", ("Model", "Questions, %"), rows)


def expected_table(expected: Sequence[records.ExpectedAccuracy]) -> Table | None:
    """The models by expected accuracy, with the observed accuracy."""
    heads = ("Model", "Expected, %", "Observed, %", "Difference")
    rows = (
        (row.model, _share(row.accuracy), _share(row.observed), _share(row.shift, signed=True))
        for row in expected
    )
    return _table("Accuracy on the unseen questions", heads, rows, tall=True, ends=True)


def reliability_table(bins: Sequence[records.ReliabilityBin]) -> Table | None:
    """The share of correct answers among forecasts with about the same probability."""
    rows = (
        (f"{100 * x.low:.0f} to {100 * x.high:.0f}", percent(x.predicted), _share(x.observed))
        for x in bins
    )
    heads = ("Predicted, %", "On average", "Correct, %")
    return _table("Calibration of the probabilities", heads, rows)


def predictions_table(predictions: Sequence[records.BenchmarkPrediction]) -> Table | None:
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
    return _table(caption, heads, rows)


def contributions_table(rows: Sequence[records.Contribution]) -> Table | None:
    """The contributions, the largest first."""
    cells = (
        (row.source, row.target, _share(_changed(row.value, lambda x: 100 * x), signed=True))
        for row in sorted(rows, key=lambda row: from_greatest(row.value))
    )
    caption = "Error of forecasts without a benchmark’s questions minus with them"
    return _table(caption, ("Questions of", "Forecasts on", "Contribution, squared points"), cells)


def communities_table(communities: Sequence[records.CommunityDistance]) -> Table | None:
    """The distances within communities, then those between them."""
    rows = (
        (
            *(pair.first, "itself" if pair.first == pair.second else pair.second, pair.pairs),
            *(Cell.of(pair.distance), p_value(pair.p_value), p_value(pair.p_adjusted)),
        )
        for pair in sorted(communities, key=lambda pair: pair.first != pair.second)
    )
    heads = ("Community", "To", "Pairs", "Distance", "p", "p, adjusted")
    return _table("Distances within and between communities", heads, rows)


def models_table(models: Sequence[records.FleetModel]) -> Table | None:
    """All models, the most accurate first, with a search."""
    ordered = sorted(models, key=lambda model: from_greatest(model.skill))
    names = sorted({model.community for model in models if model.community is not None})
    every, *options = places(names)
    places_of: dict[str | None, str] = {name: place for place, name in options}
    select = Select(key="community", label="Community", options=(every, ("none", "none"), *options))
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
    finder = Finder(
        unit="models", searched="names", selects=(select,) if names else (), orders=sorts
    )
    return _table(caption, heads, rows, keys, tall=True, ends=True, finder=finder)


def _near(nearest: Sequence[records.Neighbour]) -> Text:
    """Models with their distances."""
    return joined(prose(f"{{name}}\u00a0{number(x.distance)}", name=x.model) for x in nearest)
