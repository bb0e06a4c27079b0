"""The pages of the jobs on a fleet of models: the answer first, all numbers folded."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from reports.blocks import Beside, Block, Bullets, Figure, Page, Section, Table, Terms, note
from reports.builders.run import code, data_table, reproduce, run_lines
from reports.charts import Chart
from reports.prose import Text, joined, prose, written
from scope import records
from scope.jobs.fleet import charts_and_tables as tables, headlines

MOST_LISTED = 3_000
"""At most so many models are drawn and listed, the first ones of the table."""

MOST_NAMED = 20
"""At most so many added models are named."""

MOST_FINDINGS = 3
MOST_BRIEF_NOTES = 2
"""At most so many notes are shown in a terminal."""


def embed_page(result: records.EmbedResult) -> Page:
    """The report on a fleet."""
    return _page(
        result,
        headlines.of_embed(result),
        _map(result),
        (
            *headlines.of_reliability(result.reliability),
            *headlines.of_neighbours(result.fleet),
        ),
        (
            *_scores(result),
            *_first(tables.models_table(result.fleet)),
        ),
        tables.scores_table(headlines.overall(result.scores)),
    )


def forecast_page(result: records.ForecastResult) -> Page:
    """The report on forecasts."""
    expected = tables.expected_table(result.expected)
    return _page(
        result,
        headlines.of_forecast(result),
        _figure(tables.accuracies_chart(result.expected[:MOST_LISTED])),
        (
            *headlines.of_forecasts(result.scores),
            *headlines.of_expected(result.expected),
            *headlines.of_reliability(result.reliability),
        ),
        (
            *_first(expected),
            *_scores(result),
        ),
        expected,
    )


def route_page(result: records.RouteResult) -> Page:
    """The report on routing."""
    mix = tables.mix_table(result.mix)
    return _page(
        result,
        headlines.of_route(result),
        _figure(tables.routers_chart(result.routers)),
        (*headlines.of_mix(result.mix), *headlines.of_forecasts(result.scores)),
        (
            tables.routers_table(result.routers),
            *_first(mix),
            tables.scores_table(result.scores),
        ),
        tables.routers_table(headlines.overall(result.routers)) or mix,
    )


def predict_page(result: records.PredictResult) -> Page:
    """The report on held-out benchmarks."""
    table = tables.predictions_table(result.predictions)
    charts = [
        chart for prediction in result.predictions if (chart := tables.benchmark_chart(prediction))
    ]
    pictures = [Beside(tuple((Figure(chart),) for chart in charts))] if charts else []
    ranks = [(prediction.benchmark, prediction.tau) for prediction in result.predictions]
    return _page(
        result,
        headlines.of_predict(result),
        (
            *_figure(tables.rows_chart("Kendall’s τ", ranks)),
            note(
                "Kendall’s τ is the rank correlation of predicted and observed accuracies: 1 is "
                "the same order, 0 none. The interval holds the middle 95\u00a0% of the splits."
            ),
        ),
        headlines.of_predictions(result.predictions),
        (table, tables.contribution_matrix(result.contributions), *pictures),
        table,
    )


def map_page(result: records.MapResult) -> Page:
    """The report on a map."""
    models = tables.models_table(result.fleet)
    return _page(
        result,
        headlines.of_map(result),
        _map(result),
        headlines.of_contributions(result.contributions),
        (
            tables.communities_table(result.communities),
            tables.contributions_table(result.contributions),
            *_first(models),
        ),
        models,
    )


def _page(
    result: records.FleetResult,
    answer: headlines.Answer,
    picture: Iterable[Block],
    findings: Iterable[Text],
    numbers: Iterable[Block | None],
    brief: Table | None,
) -> Page:
    """The answer, a picture and findings; then everything folded."""
    box, found = answer.box(), tuple(findings)[:MOST_FINDINGS]
    bullets = [Bullets(found, findings=True)] if found else []
    shown = tuple(number for number in numbers if number is not None)
    asked: tuple[Block, ...] = (
        Terms(tuple(_facts(result)), facts=True),
        *([data_table(result.manifest.data)] if result.manifest.data else []),
        *([Bullets(tuple(map(written, result.notes)))] if result.notes else []),
    )
    folded = (
        *([Section(anchor="numbers", title="All numbers", blocks=shown)] if shown else []),
        Section(anchor="asked", title="What was asked", blocks=asked),
        reproduce(result.manifest, result.clock),
    )
    return Page(
        title=f"SCoPE {result.manifest.job.replace('-', ' ', 1)}: {result.models:,} models",
        sections=(
            Section(anchor="answer", title="Answer", blocks=(box, *picture, *bullets)),
            *(replace(one, folded=True) for one in folded),
        ),
        brief=(box, *([brief] if brief else []), *_lines(result), *run_lines(result.clock)),
    )


def _figure(chart: Chart | Table | None) -> Iterator[Block]:
    if chart is not None:
        yield Figure(chart) if isinstance(chart, Chart) else chart


def _map(result: records.EmbedResult | records.MapResult) -> Iterator[Block]:
    chart = tables.map_chart(result.fleet[:MOST_LISTED])
    if chart is not None:
        yield Figure(chart)
        yield note(
            "Models that are close tend to answer the same questions correctly; the axes have no "
            "meaning. Drawn: {drawn} of {total} models{notes}.",
            drawn=len(chart.dots),
            total=len(result.fleet),
            notes=joined(["", *(x for x in result.notes if x.startswith("the map"))], between="; "),
        )


def _scores(result: records.EmbedResult | records.ForecastResult) -> Iterator[Block | None]:
    yield tables.scores_table(result.scores)
    yield from _figure(tables.calibration_curve(result.reliability))
    yield tables.reliability_table(result.reliability)


def _first(table: Table | None) -> Iterator[Block]:
    """The first rows of a table, and their number if there are more."""
    if table is not None:
        if (total := len(table.rows)) > MOST_LISTED:
            about = "The first {most} of {all} models; all are in ``result.json``."
            yield note(about, most=MOST_LISTED, all=total)
        yield replace(table, rows=table.rows[:MOST_LISTED])


def _facts(result: records.FleetResult) -> Iterator[tuple[Text, Text]]:
    """The response matrix, the forecaster in use and the encoder of its questions."""
    yield (
        prose("Matrix"),
        prose(
            "{questions} questions × {models} models, {unknown} answers unknown",
            questions=result.questions,
            models=result.models,
            unknown=max(0, result.questions * result.models - result.answers),
        ),
    )
    if result.conflicts:
        yield prose("Answers given more than once with different values"), written(result.conflicts)
    yield prose("Forecaster"), code(result.forecaster)
    yield prose("Question vectors"), code(result.encoder)
    if names := [model.name for model in result.added]:
        shown = joined([len(names), *names[:MOST_NAMED], *(["…"] if names[MOST_NAMED:] else [])])
        yield prose("Added without retraining"), shown
    if result.files:
        yield prose("Files"), joined(map(code, result.files))


def _lines(result: records.FleetResult) -> Iterator[Terms]:
    """The first notes, and the files with the run's folder if it is known."""
    notes = [one for one in result.notes if not one.startswith("the map")]
    lines = [(prose("note"), written(one)) for one in notes[:MOST_BRIEF_NOTES]]
    if result.files:
        folder = result.folder
        paths = (name if folder is None else str(folder / name) for name in result.files)
        lines.append((prose("files"), joined(paths)))
    if lines:
        yield Terms(tuple(lines), facts=True)
