"""The pages of the jobs on a fleet of models: the answer first, all numbers folded.

Charts and tables are None where nothing can be shown.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from reports import blocks
from reports.builders.answer import in_two
from reports.builders.estimates import strips_table
from reports.builders.run import code, data_table, folded, reproduce, run_lines
from reports.charts import Chart, Dot, Series
from reports.prose import Text, joined, prose, written
from reports.wording import as_sentence, percent, short_share
from scope import records
from scope.jobs.fleet import headlines, page_tables as tables
from scope.jobs.fleet.selection import from_greatest
from scope.records import Estimate

GLANCE = 80
"""Most characters of each end of a question on the first screen."""

MOST_PAIRS = 4
"""Most pairs of models that are alike on the first screen."""

MOST_NAMED = 20
"""Most added models that are named."""

MOST_BRIEF_NOTES = 2
"""Most notes that a terminal shows."""

MOST_DOTS = 1_000
"""Most models of a benchmark that are drawn, evenly spaced by observed accuracy."""

MOST_BARS = 6
"""Most models without an observed accuracy that are drawn."""

MOST_COMMUNITIES = 5
"""Most communities with their own shape; all other models share the last one."""

SIZE = (390, 250)
"""The width and height of a chart on the first screen."""


def embed_page(result: records.EmbedResult) -> blocks.Page:
    """The report on a fleet."""
    jobs = [f"{job} --fleet {{run}} --questions NEW.csv" for job in ("forecast", "route")]
    return _page(
        result,
        headlines.of_scores(result.scores),
        {"Forecast and what came true": reliability_chart(result.reliability)},
        headlines.wrong_answers(result.scores),
        examples(result.examples),
        ("Forecast the models’ results on new questions, or choose a model for each:", jobs),
        (*tables.scores_tables(result.scores), tables.models_table(result.fleet)),
    )


def forecast_page(result: records.ForecastResult) -> blocks.Page:
    """The report on forecasts."""
    checked = any(row.observed is not None for row in result.expected)
    advice = "Check it: run a few models on 100 of these questions, add the column ``correct``, and"
    trust = "Run the models that matter before you choose; learn again with their answers added:"
    again = "embed --data ANSWERS.csv" if checked else "forecast --fleet FLEET --questions NEW.csv"
    return _page(
        result,
        headlines.of_forecast(result),
        {"Each model’s forecast": accuracies_chart(result.expected)},
        (
            *headlines.worst_model(result.expected),
            *([] if checked else [headlines.SAMPLING]),
            *headlines.wrong_answers(result.scores),
        ),
        examples(result.examples),
        (trust if checked else f"{advice} forecast again:", [again]),
        (tables.expected_table(result.expected), *tables.scores_tables(result.scores)),
    )


def route_page(result: records.RouteResult) -> blocks.Page:
    """The report on routing."""
    mix = ((x.model, percent(x.share)) for x in sorted(result.mix, key=lambda x: -x.share))
    mixed = tables.table("Models that the router selects", ("Model", "Questions, %"), mix)
    gains = tables.gains_table(result.routers)
    check = "To see whether it pays, add a column ``correct``, with the answers of a few models:"
    go = "New questions are routed by the same command; confirm the gain on some of your own:"
    return _page(
        result,
        headlines.of_route(result),
        {"How many points more the router gets right than": gains}
        if gains
        else {"Where the questions go": mixed},
        [*headlines.route_fails(result.routers)] or [prose("Not known without answers.")],
        examples(result.examples),
        (
            f"Each question’s model is in ``routes.csv``. {go if gains else check}",
            ["route --fleet FLEET --questions NEW.csv"],
        ),
        (*tables.routers_tables(result.routers), mixed if gains else None),
    )


def predict_page(result: records.PredictResult) -> blocks.Page:
    """The report on held-out benchmarks."""
    best_first = sorted(result.predictions, key=lambda prediction: from_greatest(prediction.tau))
    last = next((row for row in reversed(best_first) if row.points), None)
    fails, example = headlines.worst_of(result.predictions)
    advice = (
        "Run the benchmark only for the models at the top of the order, and a few below. To place "
        "a new model, answer the other benchmarks with it, and learn again:"
    )
    return _page(
        result,
        headlines.of_predict(result),
        {
            "Pairs of 100 in the right order (a coin: 50)": tables.pairs_table(best_first),
            "The worst of them": benchmark_chart(last) if last else None,
        },
        [fails] if fails else [],
        [blocks.Paragraph(example)] if example else [],
        (advice, ["embed --data ANSWERS.csv"]),
        (
            tables.predictions_table(result.predictions),
            tables.contributions_table(result.contributions),
            *map(benchmark_chart, result.predictions),
        ),
    )


def map_page(result: records.MapResult) -> blocks.Page:
    """The report on a map."""
    noted = [written(f"{as_sentence(text)}.") for text in result.notes if "variance" in text]
    near = sorted((x for x in result.fleet if x.nearest), key=lambda x: x.nearest[0].distance)
    pairs = {tuple(sorted((x.name, x.nearest[0].model))): x.nearest[0].distance for x in near}
    closest = [
        prose(f"{{first}} and {{second}}: {distance:.2f} apart", first=first, second=second)
        for (first, second), distance in [*pairs.items()][:MOST_PAIRS]
    ]
    named = {name for pair in [*pairs][:MOST_PAIRS] for name in pair} | {x.name for x in near[-1:]}
    return _page(
        result,
        headlines.of_map(result),
        {"The nearer, the more alike": map_chart(result.fleet, named)},
        noted,
        (blocks.Bullets(tuple(closest)),) if closest else (),
        (
            "Of models that are alike, keep the cheaper one. Of models that differ, choose one for "
            "each question:",
            ["route --fleet FLEET --questions NEW.csv"],
        ),
        (tables.models_table(result.fleet),),
    )


def examples(rows: Sequence[records.QuestionForecast]) -> tuple[blocks.Block, ...]:
    """Questions with what was forecast and observed."""
    parts: list[blocks.Block] = []
    for row in rows:
        text = " ".join(row.text.split()) or row.id
        if len(text) > 2 * GLANCE:
            first, last = text[:GLANCE], text[-GLANCE:]
            start, end = first.rpartition(" ")[0] or first, last.partition(" ")[2] or last
            text = f"{start} … {end}"
        expected = f"{100 * row.expected:.0f}\u00a0%"
        if row.model is None:
            seen = "" if row.observed is None else f"; really **{100 * row.observed:.0f}\u00a0%**"
            key = " (is its key right?)" * (row.observed == 0)
            words = prose(f"Models that get it right: forecast **{expected}**{seen}{key}.")
        else:
            outcomes = (("", row.observed), ("; the single best model is ", row.single_best))
            known = [
                f"{who}**{'right' if x else 'wrong'}**" for who, x in outcomes if x is not None
            ]
            sent = f"The router asks {{model}}, {expected} sure to be right{': ' * bool(known)}"
            words = prose(f"{sent}{''.join(known)}.", model=row.model)
        parts += [blocks.Passage(written(f"“{text}”")), blocks.Paragraph(words)]
    return tuple(parts)


def _page(
    result: records.FleetResult,
    answer: headlines.Answer,
    pictures: Mapping[str, blocks.Block | None],
    fails: Iterable[Text],
    shown: Sequence[blocks.Block],
    to_do: tuple[str, Sequence[str]],
    numbers: Sequence[blocks.Block | None],
) -> blocks.Page:
    """The answer, a picture, where it fails, examples and what to do; then everything folded."""
    manifest, below = result.manifest, [block for block in numbers if block]
    listed = [block for block in (*below, *pictures.values()) if isinstance(block, blocks.Table)]
    run = result.folder.name if result.folder else "RUN"
    commands = "\n".join(f"scope fleet {command}" for command in to_do[1]).replace("{run}", run)
    advice = (blocks.Paragraph(prose(to_do[0])), blocks.Preformatted(commands))
    words = {
        "Where it fails": tuple(map(blocks.Paragraph, fails)),
        "For example": tuple(shown),
        "What to do": advice,
    }
    seen = in_two(words, {title: [picture] for title, picture in pictures.items() if picture})
    facts = blocks.Terms(tuple(_facts(result)), facts=True)
    asked: list[blocks.Block] = [facts]
    asked += [table] if (table := data_table(manifest.data)) else []
    numbered = blocks.Section(anchor="numbers", title="All numbers", blocks=tuple(below))
    return blocks.Page(
        title=f"SCoPE {manifest.job.replace('-', ' ', 1)}: {result.models:,} models",
        heading=answer.heading,
        about=answer.about,
        sections=(
            blocks.Section(anchor="answer", title="Answer", blocks=(seen,)),
            *folded(
                numbered if below else None,
                blocks.Section(anchor="asked", title="What was asked", blocks=tuple(asked)),
                reproduce(manifest, result.clock),
            ),
        ),
        brief=(
            *([blocks.Paragraph(answer.about)] if answer.about else []),
            *listed[:1],
            blocks.Terms(tuple(_facts(result, MOST_BRIEF_NOTES)), facts=True),
            *run_lines(result.clock),
        ),
    )


def _facts(result: records.FleetResult, notes: int | None = None) -> Iterator[tuple[Text, Text]]:
    """The response matrix, the forecaster, the encoder of its questions, files and notes."""
    matrix = f"{result.questions:,} questions × {result.models:,} models"
    yield prose("matrix"), prose(f"{matrix}, {result.answers:,} answers known")
    yield prose("forecaster"), code(result.forecaster)
    yield prose("question vectors"), code(result.encoder)
    if names := [model.name for model in getattr(result, "fleet", ()) if model.added]:
        yield prose("added without retraining"), joined([len(names), *names[:MOST_NAMED]])
    if result.files:
        paths = (str((result.folder or Path()) / name) for name in result.files)
        yield prose("files"), joined(paths)
    yield from ((prose("note"), written(text)) for text in result.notes[:notes])


def accuracies_chart(
    expected: Sequence[records.ExpectedAccuracy],
) -> blocks.Figure | blocks.Table | None:
    """Forecasts with their intervals by observed accuracy; alone if none was observed."""
    dots: tuple[list[Dot], list[Dot]] = ([], [])
    for row in expected:
        if isinstance(row.accuracy, Estimate) and isinstance(row.observed, Estimate):
            dot = _dot(row.model, row.observed.value, row.accuracy.value)
            ends = (row.accuracy.low, row.accuracy.high)
            dots[headlines.misses(row)].append(replace(dot, interval=ends))
    alone = ((row.model, row.accuracy) for row in expected[:MOST_BARS])
    named = zip(("observed within the forecast’s interval", "outside"), dots, strict=True)
    series = [
        Series(dots=tuple(of), name=name, note=f"({len(of)})", shape=place)
        for place, (name, of) in enumerate(named)
        if of
    ]
    drawn = _diagonal("accuracy", "observed", "forecast", series)
    return drawn or strips_table("Expected accuracy", alone)


def reliability_chart(bins: Sequence[records.ReliabilityBin]) -> blocks.Figure | None:
    """What came true of forecasts with about the same probability."""
    dots = [
        replace(_dot("", x.predicted, seen.value), interval=(seen.low, seen.high))
        for x in bins
        if isinstance(seen := x.observed, Estimate)
    ]
    return _diagonal("share of right answers", "forecast", "observed", [Series(dots=tuple(dots))])


def benchmark_chart(prediction: records.BenchmarkPrediction) -> blocks.Figure | None:
    """Observed against predicted accuracy on a benchmark; the largest error has its name."""
    points = sorted(prediction.points, key=lambda point: point.observed)
    drawn = points[:: math.ceil(len(points) / MOST_DOTS) or 1]
    far = headlines.farthest(prediction) if points else None
    dots = [
        replace(dot, name=dot.name if point == far else "")
        for point in drawn
        if (dot := _dot(point.model, point.predicted, point.observed))
    ]
    note = f"{len(drawn):,} of {len(points):,} models" if len(drawn) < len(points) else ""
    series = Series(dots=tuple(dots), name=prediction.benchmark, note=note)
    return _diagonal("accuracy", "predicted", "observed", [series])


def _dot(model: str, x: float, y: float) -> Dot:
    title = f"{model or 'answers'}: {percent(x)} %, {percent(y)} %"
    return Dot(title=title, x=x, y=y, name=model)


def _diagonal(of: str, x: str, y: str, series: Sequence[Series]) -> blocks.Figure | None:
    """Two accuracies, on axes with the same ends."""
    chart = Chart(
        label=f"{y} by {x} {of}",
        series=tuple(series),
        x_title=f"{x} {of}",
        y_title=f"{y} {of}",
        diagonal=True,
        size=SIZE,
    )
    return blocks.Figure(chart) if chart.dots else None


def map_chart(
    models: Sequence[records.FleetModel], named: Collection[str] = ()
) -> blocks.Figure | None:
    """The map of the models that have a position, by community; those ``named`` have a label."""
    sizes = Counter(model.community for model in models if model.community is not None)
    communities = [name for name, _ in sizes.most_common(MOST_COMMUNITIES)]
    dots: dict[str | None, list[Dot]] = {name: [] for name in (*communities, None)}
    for model in models:
        if model.x is not None and model.y is not None:
            title = f"{model.name}\naccuracy {short_share(model.skill)}"
            name = model.name if model.name in named else ""
            dot = Dot(title=title, x=model.x, y=model.y, name=name)
            dots[model.community if model.community in communities else None].append(dot)
    groups = tuple(
        Series(
            name=name or ("the rest" if communities else ""),
            note=f"({len(members):,})" if communities else "",
            shape=place,
            dots=tuple(members),
        )
        for place, (name, members) in enumerate(dots.items())
        if members
    )
    return (
        blocks.Figure(Chart(label="Map of the models", series=groups, size=(425, 250)))
        if groups
        else None
    )
