"""The page of a comparison: how similar the models' answers to tasks are."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from reports.blocks import Column, Page, Paragraph, Row, Section, Table, Terms, paragraph
from reports.builders.asked import asked
from reports.builders.estimates import differences_section, every_estimate, numbers_section
from reports.builders.outcomes import answered_section, model_lines, outcome_lines
from reports.builders.reproduce import reproduce, run_lines
from reports.grids import grid
from reports.prose import prose, together
from scope.jobs.compare.answer_section import answer_section, remarks, sentences
from scope.jobs.compare.answers import MOST_ITEMS, answered_questions, answers_side_by_side
from scope.jobs.compare.picture import picture
from scope.jobs.compare.task_estimates import TaskEstimates, explained, task_estimates
from scope.records import GOLD, CompareResult, marked

FEW_MODELS = 6
"""Up to this many models are in the title by their names."""

MOST_ROWS = 10
"""Models in the tables of a terminal."""


def page(result: CompareResult, *, max_items: int = MOST_ITEMS) -> Page:
    """The whole report of a comparison; sections without content are left out.

    ``max_items`` bounds how many questions are shown with their answers, not what is counted.
    """
    manifest, tasks = result.manifest, task_estimates(result)
    questions = [list(answered_questions(*both)) for both in zip(tasks, result.tasks, strict=True)]
    opened = (
        answer_section(result, questions),
        _categories(tasks),
        answers_side_by_side(questions, most=max_items),
    )
    folded = (
        _numbers(result, tasks),
        differences_section(result.differences, (), of="model") if result.differences else None,
        asked(manifest, capabilities="Tasks"),
        answered_section(result.outcomes, _by_model(result)),
        Section(anchor="limits", title="Limits", blocks=(paragraph(_LIMITS),)),
        reproduce(manifest, result.clock),
    )
    names = [card.name for card in manifest.models]
    named = ", ".join(names) if len(names) <= FEW_MODELS else f"{len(names)} models"
    unmeasured = [one for one in result.outcomes if one.status != "measured" or one.failures]
    probe = manifest.settings.get("semscore")
    measure = ((prose("sem_score"), prose("by {probe}", probe=str(probe))),) if probe else ()
    facts = (*outcome_lines(unmeasured, of_tasks=True).pairs, *measure, *model_lines(manifest))
    return Page(
        title=f"SCoPE compare: {named}",
        sections=(
            *(one for one in opened if one is not None),
            *(replace(one, folded=True) for one in folded if one is not None),
        ),
        brief=(
            *(Paragraph(together(*sentences(task))) for task in tasks),
            *(Paragraph(one) for task in tasks for one in remarks(result, task.task)),
            *_tables(tasks),
            *([Terms(facts, facts=True)] if facts else []),
            *run_lines(result.clock),
        ),
    )


def _tables(tasks: tuple[TaskEstimates, ...]) -> Iterator[Table]:
    """The pictures' tables, short where there are several."""
    for task in tasks:
        tables = (one for one in picture(task) if isinstance(one, Table))
        yield from (replace(one, most=max(4, MOST_ROWS // len(tasks))) for one in tables)


_LIMITS = (
    "Accurate models have similar answers for that reason alone. Intervals are over questions, not "
    "over retraining: the same recipe with another seed may lie outside. The order of options and "
    "the words of the prompt change what a model answers. A missing answer is wrong, and between "
    "two models it leaves its question out. Where answers are texts, right is an exact match with "
    "a right answer. A degenerate model is out of pairs, rankings and examples, and stays in the "
    "tables with a mark."
)


def _categories(tasks: tuple[TaskEstimates, ...]) -> Section | None:
    """Each model's accuracy in each category of the questions; a column each for two models."""
    grids = []
    for task in tasks:
        two, cells = len(task.names) == 2, {}
        for row in task.rows:
            if row.subset is not None and row.metric == "accuracy" and row.against == GOLD:
                name, part = task.marked(row.target), row.subset.removeprefix("category = ")
                cells[(part, name) if two else (name, part)] = row.estimate
        rows, columns = (list(dict.fromkeys(pair[place] for pair in cells)) for place in (0, 1))
        title, heading = f"{task.task}: accuracy", "Category" if two else "Model"
        if made := grid(title, cells, rows=rows, columns=columns, heading=heading):
            grids.append(made)
    return Section(anchor="differ", title="By category", blocks=tuple(grids)) if grids else None


def _numbers(result: CompareResult, tasks: tuple[TaskEstimates, ...]) -> Section | None:
    """Every estimate, task by task, with a mark on degenerate models."""
    if not result.measurements:
        return None
    blocks = []
    for task in tasks:
        rows = sorted(task.rows, key=lambda row: (row.subset is not None, row.against != GOLD))
        names = [(task.marked(row.target), task.marked(row.against or GOLD)) for row in rows]
        both = zip(rows, names, strict=True)
        marked = [replace(row, target=one, against=other) for row, (one, other) in both]
        blocks.append(every_estimate(task.task, marked))
    return numbers_section(explained(result), blocks)


def _by_model(result: CompareResult) -> Table:
    """Which answers each model gives to a task, and to how many questions it gives none."""
    columns = (Column("Model", "name"), Column("Task"), Column("Asked", "number"))
    return Table(
        columns=(*columns, Column("Answered", "number"), Column("Answers")),
        rows=tuple(
            Row(cells=(marked(one.model, [one]), one.task, one.asked, one.given, one.in_words()))
            for one in result.task_shares
        ),
    )
