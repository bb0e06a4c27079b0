"""The page of a comparison: how similar the models' answers to tasks are."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from reports.blocks import Block, Page, Paragraph, Section, Table, Terms, paragraph
from reports.builders.estimates import (
    differences_section,
    every_estimate,
    numbers_section,
    table_of,
)
from reports.builders.outcomes import answered_section, model_lines, outcome_lines
from reports.builders.run import asked, asked_differently, folded, reproduce, run_lines
from reports.charts import grid
from reports.prose import prose
from scope.jobs.compare.examples import (
    MOST_ITEMS,
    Filters,
    answered_questions,
    answers_side_by_side,
)
from scope.jobs.compare.page_answer import (
    Screen,
    about_of,
    blocks_of,
    heading_of,
    tables_of,
    what_to_do,
)
from scope.jobs.compare.task_estimates import (
    TaskEstimates,
    explained,
    task_estimates,
    with_short_names,
)
from scope.metrics.catalog import metric_name
from scope.records import CompareResult, Estimate, Undefined

FEW_MODELS, MOST_MODELS = 6, 60
"""Most models with their names in the title, and in a matrix."""

_LIMITS = (
    "Accurate models have similar answers for that reason alone. Intervals are over questions, not "
    "over retraining: the same recipe with another seed may lie outside. The order of options and "
    "the words of the prompt change what a model answers. A missing answer is wrong, and the "
    "same as no other. Where answers are texts, right is an exact match with a right answer, or "
    "the score 1 of an evaluation tool."
)


def page(result: CompareResult, *, max_items: int = MOST_ITEMS) -> Page:
    """The whole report of a comparison; sections without content are left out.

    ``max_items`` limits the questions shown with their answers, not the counts.
    """
    result = with_short_names(result)
    manifest, tasks = result.manifest, task_estimates(result)
    questions = [list(answered_questions(*both)) for both in zip(tasks, result.tasks, strict=True)]
    filters = Filters.of(questions, max_items)
    screens = [Screen(result, *both, filters) for both in zip(tasks, questions, strict=True)]
    opened = (_answer(screens), answers_side_by_side(questions, filters) if tasks else None)
    numbers = (
        _likeness(tasks),
        _numbers(result, tasks),
        differences_section(result.differences, (), of="model") if result.differences else None,
        asked(manifest, capabilities="Tasks"),
        answered_section(result.outcomes, *filter(None, [_by_model(result)])),
        Section(anchor="limits", title="Limits", blocks=(paragraph(_LIMITS),)),
        reproduce(manifest, result.clock),
    )
    names = [card.name for card in manifest.models]
    named = ", ".join(names) if len(names) <= FEW_MODELS else f"{len(names)} models"
    return Page(
        title=f"SCoPE compare: {named}",
        sections=(*filter(None, opened), *folded(*numbers)),
        heading=heading_of(screens[0]) if screens else (),
        about=about_of(screens[0]) if screens else (),
        brief=tuple(_brief(result, screens)),
    )


def _brief(result: CompareResult, screens: Sequence[Screen]) -> Iterator[Block]:
    """What a terminal shows below the heading."""
    manifest = result.manifest
    yield from asked_differently(manifest.models)
    for screen in screens:
        yield Paragraph(about_of(screen))
        shown = (*tables_of(screen), *what_to_do(screen))
        yield from (block for block in shown if isinstance(block, Table | Paragraph))
    for row in result.task_shares:
        if row.warning:
            yield paragraph("**Warning**: {model}: {why}.", model=row.model, why=row.warning)
    unmeasured = [row for row in result.outcomes if row.failures]
    probe = manifest.settings.get("semscore")
    measure = ((prose("SemScore"), prose("by {probe}", probe=str(probe))),) if probe else ()
    facts = (*outcome_lines(unmeasured, of_tasks=True).pairs, *measure, *model_lines(manifest))
    yield from [Terms(facts, facts=True)] if facts else ()
    yield from run_lines(result.clock)


def _answer(screens: Sequence[Screen]) -> Section:
    """Below the heading: each task by itself."""
    blocks: list[Block] = []
    for place, screen in enumerate(screens):
        blocks += [*([Paragraph(about_of(screen))] if place else []), *blocks_of(screen)]
    return Section(anchor="answer", title="Answer", blocks=tuple(blocks))


def _likeness(tasks: Sequence[TaskEstimates]) -> Section | None:
    """The main metric of all pairs, with its meaning."""
    blocks: list[Block] = []
    for task in tasks:
        names = list(map(task.marked, dict.fromkeys([*task.by_accuracy, *task.names])))
        metric = metric_name(task.main_metric)
        cells: dict[tuple[str, str], Estimate | Undefined] = {}
        for pair, row in task.between(task.main_metric).items():
            first, second = map(task.marked, pair)
            cells |= {(first, second): row.estimate, (second, first): row.estimate}
        made = grid(metric.label, cells, rows=names, columns=names)
        about = paragraph("{task}: {meaning}", task=task.task, meaning=metric.meaning or "")
        blocks += [about, made] if made and len(names) <= MOST_MODELS else []
    title = "Likeness of all pairs"
    return Section(anchor="likeness", title=title, blocks=tuple(blocks)) if blocks else None


def _numbers(result: CompareResult, tasks: Sequence[TaskEstimates]) -> Section | None:
    """Every estimate, task by task."""
    blocks = [every_estimate(task.task, task.rows) for task in tasks]
    return numbers_section(explained(result), blocks) if result.measurements else None


def _by_model(result: CompareResult) -> Table | None:
    """Each model's answers to a task, those without one, and what is wrong with them."""
    rows = (
        (
            *(share.model, share.task, share.asked, share.given, share.in_words()),
            f"left out of pairs: {share.degenerate}" if share.degenerate else share.warning,
        )
        for share in result.task_shares
    )
    heads = ("Model", "Task", "Asked", "Answered", "Answers", "Remark")
    return table_of("", heads, rows)
