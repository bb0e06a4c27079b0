"""The results of the jobs on a fleet in charts and tables; None where nothing can be shown."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from itertools import pairwise
from typing import TypeVar

from reports.blocks import Finder, Select, Table, places
from reports.builders.estimates import table_of
from reports.builders.run import code
from reports.builders.strips import strips_table
from reports.charts import Chart, Dot, Series
from reports.prose import Text, joined, prose
from reports.wording import Cell, number, p_value, percent
from scope import records
from scope.jobs.fleet.headlines import Score, overall
from scope.jobs.fleet.scores import from_greatest
from scope.records import Estimate, Undefined
from scope.records.fleet import FEW_MODELS

QUANTILES = 5


def by_category(scores: Iterable[Score]) -> list[Score]:
    """The scores on all questions, then those of each category together."""
    scores = tuple(scores)
    place = {name: number for number, name in enumerate(dict.fromkeys(x.category for x in scores))}
    return sorted(scores, key=lambda x: -1 if x.category is None else place[x.category])


MOST_GROUPS = 6
"""The number of shapes; models of further communities, or of none, share the last one."""

MOST_DOTS = 1_000
"""At most so many models of a benchmark are drawn, evenly spaced by observed accuracy."""

MOST_BARS = 40
"""At most so many models without an observed accuracy are drawn."""


def accuracies_chart(
    expected: Sequence[records.ExpectedAccuracy],
) -> Chart | Table | None:
    """Observed beside expected accuracy, or the expected ones alone."""
    found = [
        (one.model, one.accuracy.value, one.observed)
        for one in expected
        if isinstance(one.accuracy, Estimate) and isinstance(one.observed, Estimate)
    ]
    chart = _diagonal("expected accuracy", "observed accuracy", found)
    shown = [(one.model, one.accuracy) for one in expected[:MOST_BARS]]
    return chart or rows_chart("expected accuracy", shown)


def calibration_curve(bins: Iterable[records.ReliabilityBin]) -> Chart | None:
    """The calibration curve; a perfectly calibrated forecaster follows the diagonal."""
    found = [("", bin_.predicted, x) for bin_ in bins if isinstance(x := bin_.observed, Estimate)]
    return _diagonal("predicted probability", "share of correct answers", found, joined=True)


def _diagonal(
    across: str,
    up: str,
    found: Sequence[tuple[str, float, float | Estimate]],
    *,
    joined: bool = False,
    name: str = "",
    note: str = "",
) -> Chart | None:
    """What was observed by what was predicted, on axes with the same ends."""
    if not found:
        return None
    dots = []
    for model, x, y in found:
        value = y.value if isinstance(y, Estimate) else y
        interval = (y.low, y.high) if isinstance(y, Estimate) else None
        written = f" {Cell.share(y).interval}, n = {y.n:,}" if isinstance(y, Estimate) else ""
        title = f"{model}: predicted {percent(x)} %, observed {percent(value)} %{written}"
        dot = Dot(title=title.removeprefix(": "), x=x, y=value, interval=interval, name=model)
        dots.append(dot)
    label = f"{up.capitalize()} by {across}; the numbers are in the table"
    series = (Series(dots=tuple(dots), name=name, note=note),)
    return Chart(
        label=label, series=series, x_title=across, y_title=up, diagonal=True, joined=joined
    )


def rows_chart(what: str, rows: Iterable[tuple[str, Estimate | Undefined]]) -> Table | None:
    """Estimates with their intervals, a row each."""
    return strips_table(what.capitalize(), rows)


def routers_chart(routers: Sequence[records.RouterScore]) -> Table | None:
    """How often each strategy's model is right."""
    rows = [(one.router, one.accuracy) for one in overall(routers)]
    return rows_chart("share of questions answered correctly", rows)


def benchmark_chart(one: records.BenchmarkPrediction) -> Chart | None:
    """Observed by predicted accuracies on a benchmark."""
    points = [x for x in one.points if math.isfinite(x.predicted) and math.isfinite(x.observed)]
    cut, total = "", len(points)
    if total > MOST_DOTS:
        points.sort(key=lambda point: point.observed)
        step = (total - 1) / (MOST_DOTS - 1)
        points = [points[round(place * step)] for place in range(MOST_DOTS)]
        cut = f"{MOST_DOTS:,} of {total:,} models, evenly from the lowest to the highest"
    found = [(point.model, point.predicted, point.observed) for point in points]
    return _diagonal("predicted accuracy", "observed accuracy", found, name=one.benchmark, note=cut)


def map_chart(models: Sequence[records.FleetModel]) -> Chart | None:
    """The map of the models that have a position, by community or else by accuracy."""
    dots = {
        model.name: Dot(title=_title(model), x=model.x, y=model.y, name=model.name)
        for model in sorted(models, key=lambda model: from_greatest(model.skill))
        if model.x is not None
        and model.y is not None
        and math.isfinite(model.x)
        and math.isfinite(model.y)
    }
    if not dots:
        return None
    drawn = [model for model in models if model.name in dots]
    by_community = any(model.community is not None for model in drawn)
    groups = _communities(drawn) if by_community else _quantiles(drawn)
    return Chart(
        label=f"Map of {len(dots):,} models, coloured by "
        f"{'community' if by_community else 'accuracy'}; the table of models lists their "
        "accuracies and nearest models",
        series=tuple(
            Series(
                name=name,
                note=f"({len(members):,})",
                style=f"{'s' if by_community else 'q'}{place}",
                shape=place if by_community else 0,
                dots=tuple(dots[dot] for dot in dots if dot in members),
            )
            for place, (name, members) in enumerate(groups)
        ),
        size=(692, 452),
    )


def _title(model: records.FleetModel) -> str:
    accuracy = Cell.share(model.skill)
    lines = [model.name + (" (added)" if model.added else "")]
    lines.append(f"accuracy {accuracy.value} {accuracy.reason or accuracy.interval}")
    if model.community is not None:
        lines.append(f"community {model.community}")
    lines += [f"nearest: {one.model}" for one in model.nearest[:1]]
    return "\n".join(lines)


def _communities(models: Sequence[records.FleetModel]) -> list[tuple[str, set[str]]]:
    """The names of each community's models, the largest first; the last ones share a group."""
    sizes = Counter(model.community for model in models if model.community is not None)
    shown = [name for name, _ in sizes.most_common(MOST_GROUPS - 1)]
    groups = [(name, {one.name for one in models if one.community == name}) for name in shown]
    rest = {one.name for one in models if one.community not in shown}
    return [*groups, *([("other or no community", rest)] if rest else [])]


def _quantiles(models: Sequence[records.FleetModel]) -> list[tuple[str, set[str]]]:
    """Fifths of the models, the least accurate ones first; an unknown accuracy counts least."""
    ordered = sorted(models, key=lambda model: from_greatest(model.skill), reverse=True)
    parts = min(QUANTILES, len(ordered))
    edges = [round(part * len(ordered) / parts) for part in range(parts + 1)]
    groups = (ordered[start:end] for start, end in pairwise(edges))
    return [
        (f"accuracy {_accuracy(group[0])} to {_accuracy(group[-1])} %", {one.name for one in group})
        for group in groups
    ]


def _accuracy(model: records.FleetModel) -> str:
    return percent(model.skill.value) if isinstance(model.skill, Estimate) else "unknown"


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


Errors = TypeVar("Errors", bound=Estimate | Undefined | None)


def _root(error: Estimate | Undefined | None) -> Cell | None:
    """The root of a mean squared error, in points."""
    return _share(_changed(error, lambda square: math.sqrt(max(0, square))))


def _changed(error: Errors, change: Callable[[float], float]) -> Errors:
    if not isinstance(error, Estimate):
        return error
    value, low, high = map(change, (error.value, error.low, error.high))
    return replace(error, value=value, low=low, high=high)


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
                prose(f"{100 * bin_.low:.0f} to {100 * bin_.high:.0f}"),
                *(percent(bin_.predicted), _share(bin_.observed)),
            )
            for bin_ in bins
        ),
    )


def predictions_table(predictions: Sequence[records.BenchmarkPrediction]) -> Table | None:
    """Every benchmark, held out and predicted from the others."""
    return _table(
        "Held-out benchmarks: typical errors in points, and rank correlations",
        ("Benchmark", "Questions", "Error", "Of the mean", "Kendall’s τ", "Significant"),
        (
            (
                *(
                    prediction.benchmark,
                    prediction.questions,
                    _root(prediction.mse),
                    _root(prediction.baseline),
                ),
                Cell.of(prediction.tau),
                prose("{count} of {all}", count=prediction.significant, all=prediction.splits),
            )
            for prediction in predictions
        ),
    )


def contributions_table(contributions: Sequence[records.Contribution]) -> Table | None:
    """The contributions, the largest first."""
    ordered = sorted(contributions, key=lambda contribution: from_greatest(contribution.value))
    return _table(
        "Error of forecasts without a benchmark’s questions minus with them",
        ("Questions of", "Forecasts on", "Contribution, points"),
        ((one.source, one.target, _share(one.value, signed=True)) for one in ordered),
    )


def contribution_matrix(contributions: Sequence[records.Contribution]) -> Table | None:
    """The contributions of all benchmarks to all others, and their sums."""
    squared = ((each, _changed(each.value, lambda error: 1e4 * error)) for each in contributions)
    cells = {(x.source, x.target): Cell.of(error, signed=True) for x, error in squared}
    sources, targets = (tuple(dict.fromkeys(place[side] for place in cells)) for side in (0, 1))
    return _table(
        "Error of predicted accuracies without a benchmark minus with it, in squared points",
        ("Without", *targets),
        ((source, *(cells.get((source, target)) for target in targets)) for source in sources),
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
            for one in sorted(
                communities, key=lambda community: community.first != community.second
            )
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
