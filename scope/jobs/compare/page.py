"""The page of a comparison: how similar the models' answers to tasks are."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from reports.blocks import Block, Fold, Page, Paragraph, Section, Table, Terms, paragraph
from reports.builders.estimates import (
    differences_section,
    every_estimate,
    numbers_section,
    table_of,
)
from reports.builders.outcomes import answered_section, model_lines, outcome_lines
from reports.builders.run import asked, asked_differently, folded, reproduce, run_lines
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
    where,
)
from scope.jobs.compare.task_estimates import (
    explained,
    task_estimates,
    with_short_names,
)
from scope.records import CompareResult

FEW_MODELS = 6
"""Most models with their names in the title."""

_LIMITS = (
    "Accurate models have similar answers for that reason alone. Intervals are over questions, not "
    "over retraining: the same recipe with another seed may lie outside. Those of a model's "
    "categories are so wide that all are right in 95 of 100 runs. The order of options and the "
    "words of the prompt change what a model answers. A missing answer is wrong, and the same as "
    "no other. Where answers are texts, right is an exact match with a right answer, or the score "
    "1 of an evaluation tool."
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
        numbers_section(explained(result), [every_estimate(task.task, task.rows) for task in tasks])
        if result.measurements
        else None,
        differences_section(result.differences, (), of="model") if result.differences else None,
        asked(manifest, capabilities="Tasks"),
        answered_section(result.outcomes, *filter(None, [_by_model(result)])),
        Section(anchor="limits", title="Limits", blocks=(paragraph(_LIMITS),)),
        reproduce(manifest, result.clock),
    )
    names = ", ".join(card.name for card in manifest.models)
    named = names if len(manifest.models) <= FEW_MODELS else f"{len(manifest.models)} models"
    return Page(
        title=f"SCoPE compare: {named}",
        sections=(*filter(None, opened), *folded(*numbers)),
        heading=heading_of(screens[0]) if screens else (),
        about=about_of(screens[0]) if screens else (),
        brief=tuple(_brief(result, screens)),
    )


def _brief(result: CompareResult, screens: Sequence[Screen]) -> Iterator[Block]:
    """What a terminal shows below the heading."""
    yield from asked_differently(result.manifest.models)
    for screen in screens:
        yield Paragraph(about_of(screen, sure=screen is screens[0]))
        more = (*where(screen), *what_to_do(screen)) if screen is screens[0] else ()
        yield from (block for block in (*tables_of(screen), *more) if not isinstance(block, Fold))
    for row in result.task_shares:
        if row.warning:
            yield paragraph("**Warning**: {model}: {why}.", model=row.model, why=row.warning)
    unmeasured = [row for row in result.outcomes if row.failures]
    facts = (*outcome_lines(unmeasured, of_tasks=True).pairs, *model_lines(result.manifest))
    yield from [Terms(facts, facts=True)] if facts else ()
    yield from run_lines(result.clock)


def _answer(screens: Sequence[Screen]) -> Section:
    """Below the heading: what is decided, then each further task by itself."""
    blocks = [block for screen in screens[:1] for block in blocks_of(screen)]
    for screen in screens[1:]:
        blocks += [Paragraph(about_of(screen, sure=False)), *tables_of(screen)]
    return Section(anchor="answer", title="Answer", blocks=tuple(blocks))


def _by_model(result: CompareResult) -> Table | None:
    """Each model's answers to a task, those without one, and what is wrong with them."""
    rows = (
        (row.model, row.task, row.asked, row.given, row.in_words(), row.degenerate or row.warning)
        for row in result.task_shares
    )
    heads = ("Model", "Task", "Asked", "Answered", "Answers", "Remark")
    return table_of("", heads, rows)
