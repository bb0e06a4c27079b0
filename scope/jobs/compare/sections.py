"""The page of a comparison: how similar the models' answers to tasks are."""

from __future__ import annotations

from collections.abc import Iterator

from reports.blocks import (
    Block,
    Column,
    Page,
    Row,
    Section,
    Table,
    folded,
    heading,
    paragraph,
)
from reports.builders.asked import asked
from reports.builders.estimates import differences_section, every_estimate, numbers_section
from reports.builders.outcomes import answered_section, data_lines, outcome_lines
from reports.builders.reproduce import reproduce, run_lines
from scope.jobs.compare.answers import MOST_ITEMS, answers_side_by_side
from scope.jobs.compare.choices import choice_section
from scope.jobs.compare.figures import OPEN_FIGURE_ROWS, figure_section
from scope.jobs.compare.headline import answer_section, answer_tables, remarks, title
from scope.jobs.compare.matrices import matrix_section
from scope.jobs.compare.overview import overview
from scope.jobs.compare.task_estimates import TaskEstimates, explained, probe_of, task_estimates
from scope.records import GOLD, CompareResult, Measurement


def page(result: CompareResult, *, max_items: int = MOST_ITEMS) -> Page:
    """The whole report of a comparison; sections without content are left out.

    ``max_items`` bounds how many questions are shown with their answers, not what is counted.
    """
    manifest = result.manifest
    answers = answer_tables(result)
    overviews = {
        one.task: tuple(overview(one, result.task_shares)) for one in task_estimates(result)
    }
    sections = (
        answer_section(result, answers),
        asked(manifest, capabilities="Tasks"),
        figure_section(result),
        choice_section(result),
        matrix_section(result),
        answers_side_by_side(result, most=max_items),
        differences_section(result.differences, (), of="model") if result.differences else None,
        _numbers(result, overviews),
        answered_section(result.outcomes, *_by_model(result)),
        reproduce(manifest, result.clock),
    )
    probe = probe_of(manifest)
    return Page(
        title=title(result),
        sections=tuple(one for one in sections if one is not None),
        brief=(
            *remarks(result),
            *answers,
            *(block for blocks in overviews.values() for block in blocks),
            *([] if probe is None else [paragraph("sem_score: by {probe}", probe=probe)]),
            outcome_lines(result.outcomes, of_tasks=True),
            data_lines(manifest),
            *run_lines(result.clock),
        ),
    )


def _numbers(result: CompareResult, overviews: dict[str, tuple[Block, ...]]) -> Section | None:
    """Every estimate, task by task, and above it the main ones."""
    tasks = [one for one in task_estimates(result) if one.rows]
    if not tasks:
        return None
    names = explained((row.metric for row in result.measurements), result.manifest)
    blocks = (block for task in tasks for block in _of_task(task, overviews[task.task]))
    return numbers_section(names, blocks)


def _of_task(task: TaskEstimates, overviewed: tuple[Block, ...]) -> Iterator[Block]:
    yield heading("{task}", task=task.task)
    for block in overviewed:
        if isinstance(block, Table):
            yield from folded(block.caption, (block,), when=len(block.rows) > OPEN_FIGURE_ROWS)
        else:
            yield block
    yield every_estimate(task.task, _sorted(task.rows))


def _sorted(rows: tuple[Measurement, ...]) -> list[Measurement]:
    """Metric by metric, those against gold first; parts of the questions follow."""
    places = {metric: place for place, metric in enumerate(dict.fromkeys(r.metric for r in rows))}
    return sorted(
        rows, key=lambda row: (row.subset is not None, places[row.metric], row.against != GOLD)
    )


def _by_model(result: CompareResult) -> Iterator[Table]:
    """How many of each task's questions a model answered."""
    rows = tuple(
        Row(
            cells=(
                card.name,
                task.task,
                sum(answer.asked for answer in row),
                sum(answer.given for answer in row),
                sum(answer.truncated for answer in row),
            )
        )
        for task in result.tasks
        for card, row in zip(result.manifest.models, task.answers, strict=True)
    )
    if rows:
        counts = (Column(name, "number") for name in ("Asked", "Answered", "Truncated"))
        yield Table(columns=(Column("Model", "name"), Column("Task"), *counts), rows=rows)
