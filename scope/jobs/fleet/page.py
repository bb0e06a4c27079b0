"""The pages of the jobs on a fleet of models: the answer first, all numbers folded.

Charts and tables are None where nothing can be shown.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from reports import blocks
from reports.builders.answer import in_two
from reports.builders.estimates import strips_table
from reports.builders.run import code, data_table, folded, reproduce, run_lines
from reports.charts import Chart, Dot, Series
from reports.prose import Text, joined, prose, written
from reports.wording import percent, short_share
from scope import records
from scope.jobs.fleet import headlines, page_tables as tables
from scope.jobs.fleet.headlines import overall
from scope.jobs.fleet.selection import from_greatest
from scope.records import Estimate
from scope.records.fleet import SINGLE_BEST

MEAN = "each model’s mean"

GLANCE = 140
"""Most characters of an example on the first screen."""

MOST_PAIRS = 4
"""Most pairs of models that are alike on the first screen."""

MOST_NAMED = 20
"""Most added models that are named."""

MOST_BRIEF_NOTES = 2
"""Most notes that a terminal shows."""


def embed_page(result: records.EmbedResult) -> blocks.Page:
    """The report on a fleet."""
    jobs = [f"{job} --fleet {{run}} --questions NEW.csv" for job in ("forecast", "route")]
    return _page(
        result,
        headlines.of_embed(result),
        {"Forecast and what came true": reliability_chart(result.reliability)},
        (*headlines.worst_bin(result.reliability), *headlines.worst_category(result.scores, MEAN)),
        examples(result.examples),
        (prose("Predict new questions, or choose a model for each:"), jobs),
        (
            *tables.scores_tables(result.scores),
            tables.reliability_table(result.reliability),
            map_chart(result.fleet),
            tables.models_table(result.fleet),
        ),
    )


def forecast_page(result: records.ForecastResult) -> blocks.Page:
    """The report on forecasts."""
    checked = any(row.observed is not None for row in result.expected)
    advice = "Check it: run a few models on 100 of these questions, add the column ``correct``, and"
    trust = "Run the models whose forecasts lie close together; embed again with their answers:"
    again = "embed --data ANSWERS.csv" if checked else "forecast --fleet FLEET --questions NEW.csv"
    return _page(
        result,
        headlines.of_forecast(result),
        {"Forecast and observed": accuracies_chart(result.expected)},
        (
            *headlines.worst_model(result.expected),
            *([] if checked else [headlines.SAMPLING]),
            *headlines.worst_bin(result.reliability),
            *headlines.worst_category(result.scores, MEAN),
        ),
        examples(result.examples),
        (prose(trust if checked else f"{advice} forecast again:"), [again]),
        (
            tables.expected_table(result.expected),
            *tables.scores_tables(result.scores),
            tables.reliability_table(result.reliability),
        ),
    )


def route_page(result: records.RouteResult) -> blocks.Page:
    """The report on routing."""
    accuracies = (
        (": ".join(filter(None, (score.router, score.model))), score.accuracy)
        for score in overall(result.routers)
    )
    mix = ((x.model, percent(x.share)) for x in sorted(result.mix, key=lambda x: -x.share))
    mixed = tables.table("Models that the router selects", ("Model", "Questions, %"), mix)
    known = strips_table("Questions answered correctly", accuracies)
    single = [score for score in result.routers if score.router == SINGLE_BEST]
    check = (
        "Each question’s model is in ``routes.csv``. To see whether it pays, add a column "
        "``correct`` to the questions, with the answers of a few models:"
    )
    go = "Each question’s model is in ``routes.csv``. To trade accuracy for cost, name the prices:"
    return _page(
        result,
        headlines.of_route(result),
        {"How many are right": known} if known else {"Where the questions go": mixed},
        (
            *headlines.worst_category(single, "the single best model"),
            *([] if known else [headlines.SAMPLING]),
        ),
        examples(result.examples),
        (
            prose(go if known else check),
            ("route --fleet FLEET --questions NEW.csv --costs PRICES.csv",),
        ),
        (
            *tables.routers_tables(result.routers),
            mixed if known else None,
            *tables.scores_tables(result.scores),
        ),
    )


def predict_page(result: records.PredictResult) -> blocks.Page:
    """The report on held-out benchmarks."""
    best_first = sorted(result.predictions, key=lambda prediction: from_greatest(prediction.tau))
    last = next((row for row in reversed(best_first) if row.points), None)
    fails, *far = (*headlines.worst_benchmark(result.predictions), ())
    return _page(
        result,
        headlines.of_predict(result),
        {
            "Same order (Kendall’s τ: 1 the same, 0 none)": strips_table(
                "Kendall’s τ", ((row.benchmark, row.tau) for row in best_first)
            ),
            "The worst of them": benchmark_chart(last) if last else None,
        },
        [fails] if fails else [],
        [blocks.Paragraph(text) for text in far if text],
        (
            prose(
                "Use the order, and run the benchmark for the models at the top. To place a new "
                "model, answer the other benchmarks with it and run"
            ),
            ("embed --data ANSWERS.csv",),
        ),
        (
            tables.predictions_table(result.predictions),
            tables.contributions_table(result.contributions),
            *map(benchmark_chart, result.predictions),
        ),
    )


def map_page(result: records.MapResult) -> blocks.Page:
    """The report on a map."""
    noted = [written(text[:1].upper() + text[1:]) for text in result.notes if "variance" in text]
    near = sorted((x for x in result.fleet if x.nearest), key=lambda x: x.nearest[0].distance)
    pairs = dict.fromkeys(
        (tuple(sorted((x.name, x.nearest[0].model))), x.nearest[0].distance) for x in near
    )
    closest = [
        prose(f"{{first}} and {{second}}: {distance:.2f} apart", first=first, second=second)
        for (first, second), distance in [*pairs][:MOST_PAIRS]
    ]
    return _page(
        result,
        headlines.of_map(result),
        {"The nearer, the more often right on the same questions": map_chart(result.fleet)},
        noted,
        (blocks.Bullets(tuple(closest)),) if closest else (),
        (
            prose("Choose a model for each question, of models that differ:"),
            ("route --fleet FLEET --questions NEW.csv",),
        ),
        (tables.models_table(result.fleet), tables.communities_table(result.communities)),
    )


def examples(rows: Sequence[records.QuestionForecast]) -> tuple[blocks.Block, ...]:
    """Questions with what was forecast and observed."""
    parts: list[blocks.Block] = []
    for row in rows:
        text = " ".join(row.text.split()) or row.id
        short = text if len(text) <= GLANCE else f"{text[:GLANCE]}…"
        expected = f"{100 * row.expected:.0f}\u00a0%"
        if row.model is None:
            seen = "" if row.observed is None else f", observed **{100 * row.observed:.0f}\u00a0%**"
            words = prose(f"Models that answer it correctly: forecast **{expected}**{seen}.")
        else:
            seen = _RIGHT[row.observed] and f": {_RIGHT[row.observed]}"
            alone = (
                _RIGHT[row.single_best] and f"; the single best model: {_RIGHT[row.single_best]}"
            )
            words = prose(f"Sent to **{{model}}**, {expected} sure{seen}{alone}.", model=row.model)
        parts += [blocks.Passage(written(short)), blocks.Paragraph(words)]
    return tuple(parts)


_RIGHT: Mapping[float | None, str] = {1.0: "right", 0.0: "wrong", None: ""}


def _page(
    result: records.FleetResult,
    answer: headlines.Answer,
    pictures: Mapping[str, blocks.Block | None],
    fails: Iterable[Text],
    shown: Sequence[blocks.Block],
    to_do: tuple[Text, Sequence[str]],
    numbers: Sequence[blocks.Block | None],
) -> blocks.Page:
    """The answer, a picture, where it fails, examples and what to do; then everything folded."""
    manifest, below = result.manifest, _there(*numbers)
    listed = [block for block in (*below, *pictures.values()) if isinstance(block, blocks.Table)]
    terms = blocks.Terms(tuple(_facts(result)), facts=True)
    run = result.folder.name if result.folder else "RUN"
    commands = (f"scope fleet {command.replace('{run}', run)}" for command in to_do[1])
    words = {
        "Where it fails": tuple(map(blocks.Paragraph, fails)),
        "For example": tuple(shown),
        "What to do": (
            blocks.Paragraph(to_do[0]),
            blocks.Preformatted("\n".join(commands)),
        ),
    }
    seen = in_two(words, {title: _there(picture) for title, picture in pictures.items()})
    asked = _there(terms, data_table(manifest.data) if manifest.data else None)
    return blocks.Page(
        title=f"SCoPE {manifest.job.replace('-', ' ', 1)}: {result.models:,} models",
        heading=answer.heading,
        about=answer.about,
        sections=(
            blocks.Section(anchor="answer", title="Answer", blocks=(seen,)),
            *folded(
                blocks.Section(anchor="numbers", title="All numbers", blocks=below)
                if below
                else None,
                blocks.Section(anchor="asked", title="What was asked", blocks=asked),
                reproduce(manifest, result.clock),
            ),
        ),
        brief=(
            *_there(blocks.Paragraph(answer.about) if answer.about else None),
            *listed[:1],
            _lines(result),
            *run_lines(result.clock),
        ),
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

MOST_BARS = 6
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
    return _diagonal("forecast", dots) or strips_table("Expected accuracy", alone)


def reliability_chart(bins: Sequence[records.ReliabilityBin]) -> blocks.Figure | None:
    """What came true of forecasts with about the same probability."""
    dots = [
        _dot("", x.predicted, x.observed.value, (x.observed.low, x.observed.high))
        for x in bins
        if isinstance(x.observed, Estimate)
    ]
    return _diagonal("forecast", dots, of="share of right answers")


def benchmark_chart(prediction: records.BenchmarkPrediction) -> blocks.Figure | None:
    """Observed against predicted accuracy on a benchmark."""
    points = sorted(prediction.points, key=lambda point: point.observed)
    drawn = points[:: math.ceil(len(points) / MOST_DOTS) or 1]
    note = f"{len(drawn):,} of {len(points):,} models" if len(drawn) < len(points) else ""
    dots = [_dot(point.model, point.predicted, point.observed) for point in drawn]
    return _diagonal("predicted", dots, prediction.benchmark, note)


def _dot(model: str, x: float, y: float, interval: tuple[float, float] | None = None) -> Dot:
    title = f"{model or 'answers'}: predicted {percent(x)} %, observed {percent(y)} %"
    return Dot(title=title, x=x, y=y, interval=interval, name=model)


def _diagonal(
    x: str, dots: Sequence[Dot], name: str = "", note: str = "", *, of: str = "accuracy"
) -> blocks.Figure | None:
    """Observed against predicted accuracy, on axes with the same ends."""
    chart = Chart(
        label=f"Observed by {x} {of}",
        series=(Series(dots=tuple(dots), name=name, note=note),),
        x_title=f"{x} {of}",
        y_title=f"observed {of}",
        diagonal=True,
        size=(270, 230),
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
    return blocks.Figure(Chart(label=label, series=groups, size=(340, 330))) if groups else None
