"""The pages of the jobs on a fleet of models: the answer first, all numbers folded."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from reports.blocks import Block, Bullets, Callout, Page, Section, Table, Terms
from reports.builders.run import code, data_table, folded, reproduce, run_lines
from reports.prose import Text, joined, prose, written
from scope import records
from scope.jobs.fleet import charts_and_tables as tables, headlines

MOST_NAMED = 20
"""Most added models that are named."""

MOST_BRIEF_NOTES = 2
"""Most notes that a terminal shows."""


def embed_page(result: records.EmbedResult) -> Page:
    """The report on a fleet."""
    return _page(
        result,
        headlines.of_embed(result),
        tables.map_chart(result.fleet),
        headlines.of_neighbours(result.fleet),
        (
            *tables.scores_tables(result.scores),
            tables.reliability_table(result.reliability),
            tables.models_table(result.fleet),
        ),
    )


def forecast_page(result: records.ForecastResult) -> Page:
    """The report on forecasts."""
    return _page(
        result,
        headlines.of_forecast(result),
        tables.accuracies_chart(result.expected),
        (*headlines.of_forecasts(result.scores), *headlines.of_expected(result.expected)),
        (
            tables.expected_table(result.expected),
            *tables.scores_tables(result.scores),
            tables.reliability_table(result.reliability),
        ),
    )


def route_page(result: records.RouteResult) -> Page:
    """The report on routing."""
    return _page(
        result,
        headlines.of_route(result),
        tables.routers_chart(result.routers),
        (*headlines.of_mix(result.mix), *headlines.of_forecasts(result.scores)),
        (
            *tables.routers_tables(result.routers),
            tables.mix_table(result.mix),
            *tables.scores_tables(result.scores),
        ),
    )


def predict_page(result: records.PredictResult) -> Page:
    """The report on held-out benchmarks."""
    return _page(
        result,
        headlines.of_predict(result),
        tables.correlations_chart(result.predictions),
        (),
        (
            tables.predictions_table(result.predictions),
            tables.contributions_table(result.contributions),
            *map(tables.benchmark_chart, result.predictions),
        ),
    )


def map_page(result: records.MapResult) -> Page:
    """The report on a map."""
    return _page(
        result,
        headlines.of_map(result),
        tables.map_chart(result.fleet),
        (),
        (tables.models_table(result.fleet), tables.communities_table(result.communities)),
    )


def _page(
    result: records.FleetResult,
    answer: Callout,
    picture: Block | None,
    findings: Iterable[Text],
    numbers: Sequence[Block | None],
) -> Page:
    """The answer, a picture and findings; then everything folded, and the first table in short."""
    manifest, below, sentences = result.manifest, _there(*numbers), tuple(findings)
    listed = [block for block in below if isinstance(block, Table)]
    terms = Terms(tuple(_facts(result)), facts=True)
    seen = _there(answer, picture, Bullets(sentences, findings=True) if sentences else None)
    asked = _there(terms, data_table(manifest.data) if manifest.data else None)
    return Page(
        title=f"SCoPE {manifest.job.replace('-', ' ', 1)}: {result.models:,} models",
        sections=(
            Section(anchor="answer", title="Answer", blocks=seen),
            *folded(
                Section(anchor="numbers", title="All numbers", blocks=below) if below else None,
                Section(anchor="asked", title="What was asked", blocks=asked),
                reproduce(manifest, result.clock),
            ),
        ),
        brief=(answer, *listed[:1], _lines(result), *run_lines(result.clock)),
    )


def _there(*blocks: Block | None) -> tuple[Block, ...]:
    return tuple(block for block in blocks if block is not None)


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


def _lines(result: records.FleetResult) -> Terms:
    """The matrix, the first notes, and the files with the run's folder if it is known."""
    lines = [(prose("matrix"), next(_facts(result))[1])]
    lines += [(prose("note"), written(text)) for text in result.notes[:MOST_BRIEF_NOTES]]
    if result.files:
        folder = result.folder or Path()
        lines.append((prose("files"), joined(str(folder / name) for name in result.files)))
    return Terms(tuple(lines), facts=True)
