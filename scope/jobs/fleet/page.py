"""The pages of the jobs on a fleet of models: the answer first, all numbers folded.

Charts and tables are None where nothing can be shown.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from reports import blocks
from reports.builders.estimates import strips_table, table_of
from reports.builders.run import code, data_table, folded, reproduce, run_lines
from reports.charts import Chart, Dot, Series
from reports.prose import Text, Written, joined, prose, written
from reports.wording import Cell, number, p_value, percent, short_share
from scope import records
from scope.jobs.fleet import headlines
from scope.jobs.fleet.headlines import Score, overall
from scope.jobs.fleet.scoring import from_greatest
from scope.records import Estimate, Undefined

MOST_NAMED = 20
"""Most added models that are named."""

MOST_BRIEF_NOTES = 2
"""Most notes that a terminal shows."""


def embed_page(result: records.EmbedResult) -> blocks.Page:
    """The report on a fleet."""
    return _page(
        result,
        headlines.of_embed(result),
        map_chart(result.fleet),
        headlines.of_neighbours(result.fleet),
        (
            *scores_tables(result.scores),
            reliability_table(result.reliability),
            models_table(result.fleet),
        ),
    )


def forecast_page(result: records.ForecastResult) -> blocks.Page:
    """The report on forecasts."""
    return _page(
        result,
        headlines.of_forecast(result),
        accuracies_chart(result.expected),
        (*headlines.of_forecasts(result.scores), *headlines.of_expected(result.expected)),
        (
            expected_table(result.expected),
            *scores_tables(result.scores),
            reliability_table(result.reliability),
        ),
    )


def route_page(result: records.RouteResult) -> blocks.Page:
    """The report on routing."""
    accuracies = ((score.router, score.accuracy) for score in overall(result.routers))
    mix = ((x.model, percent(x.share)) for x in sorted(result.mix, key=lambda x: -x.share))
    return _page(
        result,
        headlines.of_route(result),
        strips_table("Share of questions answered correctly", accuracies),
        (*headlines.of_mix(result.mix), *headlines.of_forecasts(result.scores)),
        (
            *routers_tables(result.routers),
            _table("Models that the router selects", ("Model", "Questions, %"), mix),
            *scores_tables(result.scores),
        ),
    )


def predict_page(result: records.PredictResult) -> blocks.Page:
    """The report on held-out benchmarks."""
    best_first = sorted(result.predictions, key=lambda prediction: from_greatest(prediction.tau))
    return _page(
        result,
        headlines.of_predict(result),
        strips_table("Kendall’s τ", ((row.benchmark, row.tau) for row in best_first)),
        (),
        (
            predictions_table(result.predictions),
            contributions_table(result.contributions),
            *map(benchmark_chart, result.predictions),
        ),
    )


def map_page(result: records.MapResult) -> blocks.Page:
    """The report on a map."""
    return _page(
        result,
        headlines.of_map(result),
        map_chart(result.fleet),
        (),
        (models_table(result.fleet), communities_table(result.communities)),
    )


def _page(
    result: records.FleetResult,
    answer: blocks.Callout,
    picture: blocks.Block | None,
    findings: Iterable[Text],
    numbers: Sequence[blocks.Block | None],
) -> blocks.Page:
    """The answer, a picture and findings; then everything folded, and the first table in short."""
    manifest, below, sentences = result.manifest, _there(*numbers), tuple(findings)
    listed = [block for block in below if isinstance(block, blocks.Table)]
    terms = blocks.Terms(tuple(_facts(result)), facts=True)
    seen = _there(answer, picture, blocks.Bullets(sentences, findings=True) if sentences else None)
    asked = _there(terms, data_table(manifest.data) if manifest.data else None)
    return blocks.Page(
        title=f"SCoPE {manifest.job.replace('-', ' ', 1)}: {result.models:,} models",
        sections=(
            blocks.Section(anchor="answer", title="Answer", blocks=seen),
            *folded(
                blocks.Section(anchor="numbers", title="All numbers", blocks=below)
                if below
                else None,
                blocks.Section(anchor="asked", title="What was asked", blocks=asked),
                reproduce(manifest, result.clock),
            ),
        ),
        brief=(answer, *listed[:1], _lines(result), *run_lines(result.clock)),
    )


def _there(*parts: blocks.Block | None) -> tuple[blocks.Block, ...]:
    return tuple(part for part in parts if part is not None)


def _facts(result: records.FleetResult) -> Iterator[tuple[Text, Text]]:
    """The response matrix, the forecaster in use, the encoder of its questions, files and notes."""
    matrix = f"{result.questions:,} questions × {result.models:,} models"
    yield prose("Matrix"), prose(f"{matrix}, {result.answers:,} answers known")
    yield prose("Forecaster"), code(result.forecaster)
    yield prose("Question vectors"), code(result.encoder)
    if names := [model.name for model in getattr(result, "fleet", ()) if model.added]:
        yield prose("Added without retraining"), joined([len(names), *names[:MOST_NAMED]])
    if result.files:
        yield prose("Files"), joined(map(code, result.files))
    yield from ((prose("Note"), written(text)) for text in result.notes)


def _lines(result: records.FleetResult) -> blocks.Terms:
    """The matrix, the first notes, and the files with the run's folder if it is known."""
    lines = [(prose("matrix"), next(_facts(result))[1])]
    lines += [(prose("note"), written(text)) for text in result.notes[:MOST_BRIEF_NOTES]]
    if result.files:
        folder = result.folder or Path()
        lines.append((prose("files"), joined(str(folder / name) for name in result.files)))
    return blocks.Terms(tuple(lines), facts=True)


MOST_DOTS = 1_000
"""Most models of a benchmark that are drawn, evenly spaced by observed accuracy."""

MOST_BARS = 40
"""Most models without an observed accuracy that are drawn."""

FIFTHS = ("least accurate fifth", "second", "third", "fourth", "most accurate fifth")
"""The groups on a map without communities."""

MOST_COMMUNITIES = 5
"""Most communities with their own shape; all other models share the last one."""


def accuracies_chart(
    expected: Sequence[records.ExpectedAccuracy],
) -> blocks.Figure | blocks.Table | None:
    """Observed against expected accuracy; the expected accuracies if none was observed."""
    dots = [
        _dot(row.model, row.accuracy.value, seen.value, (seen.low, seen.high))
        for row in expected
        if isinstance(row.accuracy, Estimate) and isinstance(seen := row.observed, Estimate)
    ]
    alone = [(row.model, row.accuracy) for row in expected[:MOST_BARS]]
    return _diagonal("expected", dots) or strips_table("Expected accuracy", alone)


def benchmark_chart(prediction: records.BenchmarkPrediction) -> blocks.Figure | None:
    """Observed against predicted accuracy on a benchmark."""
    points = sorted(prediction.points, key=lambda point: point.observed)
    drawn = points[:: math.ceil(len(points) / MOST_DOTS) or 1]
    note = f"{len(drawn):,} of {len(points):,} models" if len(drawn) < len(points) else ""
    dots = [_dot(point.model, point.predicted, point.observed) for point in drawn]
    return _diagonal("predicted", dots, prediction.benchmark, note)


def _dot(model: str, x: float, y: float, interval: tuple[float, float] | None = None) -> Dot:
    title = f"{model}: predicted {percent(x)} %, observed {percent(y)} %"
    return Dot(title=title, x=x, y=y, interval=interval, name=model)


def _diagonal(x: str, dots: Sequence[Dot], name: str = "", note: str = "") -> blocks.Figure | None:
    """Observed against predicted accuracy, on axes with the same ends."""
    chart = Chart(
        label=f"Observed by {x} accuracy",
        series=(Series(dots=tuple(dots), name=name, note=note),),
        x_title=f"{x} accuracy",
        y_title="observed accuracy",
        diagonal=True,
    )
    return blocks.Figure(chart) if dots else None


def map_chart(models: Sequence[records.FleetModel]) -> blocks.Figure | None:
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
    return blocks.Figure(Chart(label=label, series=groups, size=(692, 452))) if groups else None


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
    yield _table(caption, heads, [row for row in cells if row[1] is None])
    yield _table(f"{caption}, by category", heads, [row for row in cells if row[1] is not None])


def expected_table(expected: Sequence[records.ExpectedAccuracy]) -> blocks.Table | None:
    """The models by expected accuracy, with the observed accuracy."""
    heads = ("Model", "Expected, %", "Observed, %", "Difference")
    rows = (
        (row.model, _share(row.accuracy), _share(row.observed), _share(row.shift, signed=True))
        for row in expected
    )
    return _table("Accuracy on the unseen questions", heads, rows, tall=True, ends=True)


def reliability_table(bins: Sequence[records.ReliabilityBin]) -> blocks.Table | None:
    """The share of correct answers among forecasts with about the same probability."""
    rows = (
        (f"{100 * x.low:.0f} to {100 * x.high:.0f}", percent(x.predicted), _share(x.observed))
        for x in bins
    )
    heads = ("Predicted, %", "On average", "Correct, %")
    return _table("Calibration of the probabilities", heads, rows)


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
    return _table(caption, heads, rows)


def contributions_table(rows: Sequence[records.Contribution]) -> blocks.Table | None:
    """The contributions, the largest first."""
    cells = (
        (row.source, row.target, _share(_changed(row.value, lambda x: 100 * x), signed=True))
        for row in sorted(rows, key=lambda row: from_greatest(row.value))
    )
    caption = "Error of forecasts without a benchmark’s questions minus with them"
    return _table(caption, ("Questions of", "Forecasts on", "Contribution, squared points"), cells)


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
    return _table("Distances within and between communities", heads, rows)


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
    return _table(caption, heads, rows, keys, tall=True, ends=True, finder=finder)


def _near(nearest: Sequence[records.Neighbour]) -> Text:
    """Models with their distances."""
    return joined(prose(f"{{name}}\u00a0{number(x.distance)}", name=x.model) for x in nearest)
