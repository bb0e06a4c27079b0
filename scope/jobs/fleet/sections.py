"""The pages of the jobs on a fleet of models."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from reports.blocks import (
    Block,
    Bullets,
    Column,
    Page,
    Paragraph,
    Row,
    Section,
    Table,
    Terms,
    heading,
    paragraph,
)
from reports.builders.asked import code, data_name
from reports.builders.reproduce import reproduce, run_lines
from reports.prose import Text, joined, prose, written
from scope.jobs.fleet import headlines
from scope.jobs.fleet.forecast_sections import (
    expected_section,
    expected_table,
    forecasts_section,
    scores_table,
)
from scope.jobs.fleet.map_sections import (
    communities_section,
    communities_table,
    contributions_section,
    contributions_table,
)
from scope.jobs.fleet.models_section import MOST_LISTED, fleet_table, models_section
from scope.jobs.fleet.prediction_section import predictions_section, predictions_table
from scope.jobs.fleet.routing_section import mix_table, routers_table, routing_section
from scope.printing import counted
from scope.records import (
    DataCard,
    EmbedResult,
    FleetResult,
    ForecastResult,
    ForecastScore,
    MapResult,
    PredictResult,
    ReliabilityBin,
    RouteResult,
    RouterScore,
)

MOST_NAMED = 20
"""At most so many added models are named."""

MOST_BRIEF_NOTES = 5
"""At most so many notes are shown in a terminal."""


def embed_page(result: EmbedResult, *, max_models: int = MOST_LISTED) -> Page:
    """The report on a fleet; ``max_models`` bounds how many models are drawn and listed."""
    scores, models = scores_table(result.scores), fleet_table(result.fleet)
    return _page(
        result,
        headlines.of_forecasts(result.scores),
        _models(result, models, max_models),
        forecasts_section(result.scores, scores, result.reliability),
        brief=(scores, models, *_left_out(result.scores, result.reliability)),
    )


def forecast_page(result: ForecastResult, *, max_models: int = MOST_LISTED) -> Page:
    """The report on forecasts; ``max_models`` bounds how many models are listed."""
    scores, expected = scores_table(result.scores), expected_table(result.expected)
    shift = tuple(headlines.of_shift(result))
    return _page(
        result,
        (*headlines.of_forecasts(result.scores), *headlines.of_expected(result.expected), *shift),
        () if expected is None else (expected_section(expected, result.shift, most=max_models),),
        forecasts_section(result.scores, scores, result.reliability),
        brief=(
            scores,
            expected,
            *map(Paragraph, shift),
            *_left_out(result.scores, result.reliability),
        ),
    )


def route_page(result: RouteResult) -> Page:
    """The report on routing."""
    scores, mix = scores_table(result.scores), mix_table(result.mix)
    routers = routers_table(result.routers)
    return _page(
        result,
        (
            *headlines.of_forecasts(result.scores),
            *headlines.of_routing(result.routers),
            *headlines.of_mix(result.mix),
        ),
        forecasts_section(result.scores, scores),
        routing_section(result.routers, result.forecaster, routers, mix),
        brief=(scores, routers, mix, *_left_out((*result.scores, *result.routers))),
    )


def predict_page(result: PredictResult) -> Page:
    """The report on held-out benchmarks."""
    table = predictions_table(result.predictions)
    return _page(
        result,
        headlines.of_predictions(result.predictions),
        () if table is None else (predictions_section(result.predictions, table),),
        brief=(table,),
    )


def map_page(result: MapResult, *, max_models: int = MOST_LISTED) -> Page:
    """The report on a map; ``max_models`` bounds how many models are drawn and listed."""
    models = fleet_table(result.fleet)
    contributions = contributions_table(result.contributions)
    communities = communities_table(result.communities)
    return _page(
        result,
        (
            *headlines.of_communities(result.communities),
            *headlines.of_contributions(result.contributions),
        ),
        _models(result, models, max_models),
        ()
        if contributions is None
        else (contributions_section(result.contributions, contributions),),
        () if communities is None else (communities_section(communities),),
        brief=(contributions, communities, models),
    )


def _page(
    result: FleetResult,
    findings: Iterable[Text],
    *sections: Iterable[Section],
    brief: Iterable[Block | None],
) -> Page:
    """The page with what all jobs on a fleet have in common around these sections."""
    job = result.manifest.job.replace("-", " ", 1)
    matrix = _matrix(result)
    answer = Bullets((*findings, headlines.of_matrix(result)), findings=True)
    return Page(
        title=f"SCoPE {job}: {result.models:,} models",
        sections=(
            Section(anchor="answer", title="Answer", blocks=(answer,)),
            Section(anchor="asked", title="What was asked", blocks=(matrix, *_asked(result))),
            *(one for group in sections for one in group),
            reproduce(result.manifest, result.clock),
        ),
        brief=(
            heading("{job}: {models} models", job=job, models=result.models),
            matrix,
            *(block for block in brief if block is not None),
            *_notes(result),
            *_data(result.manifest.data),
            *run_lines(result.clock),
        ),
    )


def _models(result: EmbedResult | MapResult, table: Table | None, most: int) -> tuple[Section, ...]:
    if table is None:
        return ()
    return (models_section(result.fleet, result.notes, table, most=most),)


def _matrix(result: FleetResult) -> Terms:
    """The response matrix, the forecaster in use and the encoder of its questions."""
    return Terms(tuple(_facts(result)), facts=True)


def _facts(result: FleetResult) -> Iterator[tuple[Text, Text]]:
    yield (
        prose("Matrix"),
        prose(
            "{questions} questions × {models} models: {answers} known answers, {unknown} unknown "
            f"({headlines.known_percent(result)}\u00a0% known)",
            questions=result.questions,
            models=result.models,
            answers=result.answers,
            unknown=max(0, result.questions * result.models - result.answers),
        ),
    )
    if result.conflicts:
        answers = "answer is" if result.conflicts == 1 else "answers are"
        yield (
            prose("Conflicts"),
            prose(
                f"{{count}} {answers} given more than once with different values",
                count=result.conflicts,
            ),
        )
    yield prose("Forecaster"), code(result.forecaster)
    yield prose("Question vectors"), code(result.encoder)
    if result.added:
        names = [model.name for model in result.added]
        count, more = counted(len(names), "model"), ", …" * (len(names) > MOST_NAMED)
        named = prose(f"{count}: {{names}}{more}", names=joined(names[:MOST_NAMED]))
        yield prose("Added models"), named


def _asked(result: FleetResult) -> Iterator[Block]:
    if result.manifest.data:
        yield heading("Data")
        numbers = (Column(name, "number") for name in ("Questions", "Used", "With an answer"))
        yield Table(
            columns=(Column("Data", "name"), *numbers),
            rows=tuple(
                Row(cells=(data_name(card), card.rows, card.used, card.labelled))
                for card in result.manifest.data
            ),
        )
    if result.notes:
        yield heading("Rules applied")
        yield Bullets(tuple(map(written, result.notes)))
    if result.files:
        yield heading("Files in the run’s folder")
        yield Bullets(tuple(map(code, result.files)))


def _left_out(
    scores: Iterable[ForecastScore | RouterScore], bins: tuple[ReliabilityBin, ...] = ()
) -> Iterator[Paragraph]:
    """What of the numbers a terminal does not show."""
    if parts := {one.category for one in scores} - {None}:
        yield paragraph(
            "the numbers of {count} categories are in the report and in --json-full",
            count=len(parts),
        )
    if bins:
        yield paragraph("reliability of forecasts, {count} bins: in the report", count=len(bins))


def _notes(result: FleetResult) -> Iterator[Terms]:
    """The first notes, and the files with the run's folder if it is known."""
    lines = [(prose("note"), written(one)) for one in result.notes[:MOST_BRIEF_NOTES]]
    if (further := len(result.notes) - MOST_BRIEF_NOTES) > 0:
        lines.append((prose("note"), prose("{count} more in the report", count=further)))
    if result.files:
        folder = result.folder
        paths = (name if folder is None else str(folder / name) for name in result.files)
        lines.append((prose("files"), joined(paths)))
    if lines:
        yield Terms(tuple(lines), facts=True)


def _data(cards: tuple[DataCard, ...]) -> Iterator[Terms]:
    """The questions that were read, and of how many some answer is known."""
    if cards:
        yield Terms(tuple(map(_data_line, cards)), facts=True)


def _data_line(card: DataCard) -> tuple[Text, Text]:
    title = prose("data of {task}", task=card.capability) if card.capability else prose("data")
    return title, prose(
        "{spec}: {used} of {rows} questions, {labelled} with an answer",
        spec=card.spec,
        used=card.used,
        rows=card.rows,
        labelled=card.labelled,
    )
