"""The page of a comparison: how similar the models' answers to tasks are."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import combinations
from statistics import median
from typing import Any

import numpy as np

from reports.blocks import (
    Block,
    Callout,
    Column,
    Fold,
    Page,
    Paragraph,
    Section,
    Table,
    Terms,
    paragraph,
)
from reports.builders.estimates import (
    differences_section,
    every_estimate,
    numbers_section,
    rival_pairs,
    table_of,
)
from reports.builders.outcomes import answered_section, model_lines, outcome_lines
from reports.builders.run import asked, asked_differently, folded, reproduce, run_lines
from reports.charts import Grid, SmallStrip, grid
from reports.prose import Text, joined, prose, together
from reports.wording import range_of_counts, short, short_share, two_digits
from scope.jobs.audit.answer import Answered, verdict_boxes, verdict_sentences
from scope.jobs.compare.examples import (
    MOST_ITEMS,
    Questions,
    answered_questions,
    answers_side_by_side,
    example_cards,
)
from scope.jobs.compare.flips import flips_section, pair_sentences
from scope.jobs.compare.task_estimates import TaskEstimates, explained, task_estimates
from scope.jobs.compare.verdicts import in_words
from scope.metrics import metric_name
from scope.records import GOLD, CompareResult, Estimate, Undefined, marked

FEW_MODELS = 6
"""Most models with their names in the title."""

MOST_ROWS = 10
"""With more models the matrix is folded, and the table scrolls."""

MOST_MODELS = 60
"""A matrix of more models would be unreadable."""

MOST_REASONS = 3
"""With more degenerate models, or warnings, the others are only named."""

_MEANINGS = {
    "capa_discrete": "agreement beyond what the accuracies alone give. 0 is chance, 1 the same "
    "answers. This assumes equally difficult questions; otherwise unrelated models of equal skill "
    "reach 0.1 to 0.25.",
    "sem_score": "mean similarity in meaning. 1 is the same answer.",
    "word_f1": "mean share of common words. 1 is the same answer.",
}
"""The meaning of a main metric, and how to read it."""

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
    manifest, tasks = result.manifest, task_estimates(result)
    questions = [list(answered_questions(*both)) for both in zip(tasks, result.tasks, strict=True)]
    opened = (
        _answer(result, tasks, questions),
        _categories(tasks),
        answers_side_by_side(questions, most=max_items),
    )
    numbers = (
        flips_section(tasks),
        _numbers(result, tasks),
        differences_section(result.differences, (), of="model") if result.differences else None,
        asked(manifest, capabilities="Tasks"),
        answered_section(result.outcomes, *filter(None, [_by_model(result)])),
        Section(anchor="limits", title="Limits", blocks=(paragraph(_LIMITS),)),
        reproduce(manifest, result.clock),
    )
    names = [card.name for card in manifest.models]
    named = ", ".join(names) if len(names) <= FEW_MODELS else f"{len(names)} models"
    unmeasured = [row for row in result.outcomes if row.status != "measured" or row.failures]
    probe = manifest.settings.get("semscore")
    measure = ((prose("sem_score"), prose("by {probe}", probe=str(probe))),) if probe else ()
    facts = (*outcome_lines(unmeasured, of_tasks=True).pairs, *measure, *model_lines(manifest))
    tables = (block for task in tasks for block in picture(task) if isinstance(block, Table))
    return Page(
        title=f"SCoPE compare: {named}",
        sections=(*filter(None, opened), *folded(*numbers)),
        brief=(
            *asked_differently(manifest.models),
            *map(Paragraph, verdict_sentences(answered(result))),
            *(Paragraph(together(*sentences(task, tasks[:n]))) for n, task in enumerate(tasks)),
            *(Paragraph(line) for task in tasks for line in remarks(result, task.task)),
            *(replace(table, most=max(4, MOST_ROWS // len(tasks))) for table in tables),
            *([Terms(facts, facts=True)] if facts else []),
            *run_lines(result.clock),
        ),
    )


def answered(result: CompareResult) -> list[Answered]:
    """The verdict on each model after the first, if any is reached."""
    reference = result.manifest.models[0].name
    return [Answered(verdict, in_words(verdict, result), reference) for verdict in result.verdicts]


def _answer(
    result: CompareResult, tasks: Sequence[TaskEstimates], questions: Sequence[Questions]
) -> Section:
    """A box per task, tasks that were not measured, and at most three examples."""
    boxes = []
    for place, task in enumerate(tasks):
        first, *others = map(Paragraph, sentences(task, tasks[:place]))
        notes = map(Paragraph, remarks(result, task.task))
        blocks = (replace(first, lead=True), *others, *picture(task), *notes)
        boxes.append(Callout("neutral", blocks))
    failed = [outcome for outcome in result.outcomes if outcome.status != "measured"]
    lines = [outcome_lines(failed, of_tasks=True)] if failed else []
    verdicts = verdict_boxes(answered(result))
    shown = (*verdicts, *boxes, *lines, *example_cards(questions))
    return Section(anchor="answer", title="Answer", blocks=shown)


def sentences(task: TaskEstimates, before: Sequence[TaskEstimates] = ()) -> Iterator[Text]:
    """The similarity of answers, the more accurate model, and what accuracy explains.

    The main metric is explained unless a task ``before`` on the page has the same one.
    """
    pairs, label = task.ranked(), metric_name(task.main_metric).label
    meaning = _MEANINGS.get(task.main_metric)
    again = any(earlier.main_metric == task.main_metric for earlier in before)
    if not pairs:
        template = "On **{task}** no two models can be compared: {why}."
        yield prose(template, task=task.task, why=_why_none(task))
    elif len(task.fit) == 2:
        ((pair, likeness),) = pairs
        yield from _on_two(task, pair)
        if meaning:
            template = "{label} is **{n}**" + ("." if again else f": {meaning}")
            yield prose(template, label=label, n=short(likeness))
    else:
        yield from _on_many(task, label)
        if meaning and not again:
            yield prose(f"{{label}}: {meaning}", label=label)


def _why_none(task: TaskEstimates) -> str:
    if len(task.fit) < 2:
        return f"{len(task.degenerate)} of {len(task.names)} are degenerate"
    estimates = (row.estimate for row in task.between(task.main_metric).values())
    reasons = (estimate.reason for estimate in estimates if isinstance(estimate, Undefined))
    return next(reasons, "no pair was measured")


def _on_two(task: TaskEstimates, pair: tuple[str, str]) -> Iterator[Text]:
    words = "On **{task}**, {models} give the **same answer to {share}** of {n} questions."
    models = joined(pair, last=" and ")
    cells = next((cell for cell in task.cells if (cell.first, cell.second) == pair), None)
    same = task.between("agreement" if task.choice else "exact_match").get(pair)
    if task.answered_freely:
        words = "On **{task}**, answers count as right or wrong alone: no right words are known."
        yield prose(words, task=task.task)
    elif same:
        share = short_share(same.estimate)
        yield prose(words, task=task.task, models=models, share=share, n=same.estimate.n)
    if cells:
        yield from pair_sentences(cells)
    elif scores := [score.estimate for score in map(task.scores.get, pair) if score]:
        means = joined(map(short, scores), last=" and ")
        yield prose("Their mean scores are {means}; no answer is right or wrong.", means=means)


def _on_many(task: TaskEstimates, label: str) -> Iterator[Text]:
    """The most and the least similar pair, and the number of others that may be."""
    pairs = task.ranked()
    every = [estimate for _, estimate in pairs]
    if len({short(estimate) for estimate in every}) == 1:
        words = "On **{task}**, all {n} pairs are equally similar by {label}: {each}."
        yield prose(words, task=task.task, n=len(pairs), label=label, each=short(every[0]))
        return
    most, least = (
        prose(
            "**{pair}** with {n}{rivals}",
            pair=joined(pair, last=" and "),
            n=short(estimate),
            rivals=rival_pairs(estimate, every),
        )
        for pair, estimate in (pairs[0], pairs[-1])
    )
    template = "On **{task}**, the most similar of {n} pairs, by {label}, are {most}."
    yield prose(template, task=task.task, n=len(pairs), label=label, most=most)
    middle = f"{median(estimate.value for estimate in every):.2f}".replace("-", "−")
    template = "The median pair has {middle}. The least similar are {least}."
    yield prose(template, middle=middle, least=least)


def remarks(result: CompareResult, task: str) -> Iterator[Text]:
    """A line on degenerate models, and one on too frequent answers."""
    here = [shares for shares in result.task_shares if shares.task == task]
    degenerate = {shares.model: shares.degenerate for shares in here if shares.degenerate}
    warnings = {shares.model: shares.warning for shares in here if shares.warning}
    for template, reasons in (
        ("!!Degenerate!!, so out of pairs, rankings and examples: {models}.", degenerate),
        ("**Warning**: {models}.", warnings),
    ):
        reasoned = [
            prose("**{model}** ({reason})", model=model, reason=reason)
            for model, reason in list(reasons.items())[:MOST_REASONS]
        ]
        if reasoned:
            yield prose(template, models=joined([*reasoned, *list(reasons)[MOST_REASONS:]]))


def picture(task: TaskEstimates) -> Iterator[Block]:
    """The four cells of the two models not degenerate; with three or more a matrix, and rows."""
    for cells in task.cells:
        if {cells.first, cells.second} == set(task.fit):
            shares = [
                (prose("Both are right"), cells.both),
                (prose("Only {model} is right", model=cells.first), cells.only_first),
                (prose("Only {model} is right", model=cells.second), cells.only_second),
                (prose("Both are wrong"), cells.neither),
            ]
            if cells.other_wrong:
                shares.append((prose("Both are wrong, differently"), cells.other_wrong))
            yield _shares_table(f"Of {cells.both.n:,} questions", "Share", shares)
    if len(task.names) > 2:
        many = len(task.names) > MOST_ROWS
        if made := matrix(task):
            title = prose("{metric} of all pairs", metric=made.title)
            yield Fold(title, (made,)) if many else made
        yield replace(_models_table(task), tall=many)


def _shares_table(head: str, share: str, rows: Iterable[tuple[Any, ...]], *more: Column) -> Table:
    """Each name with its share as a strip and a number, and with further cells."""
    strip = Column("0 to 100\u00a0%", "strip")
    cells = (
        (
            name,
            SmallStrip(short_share(of), of, (0.0, 1.0)) if isinstance(of, Estimate) else None,
            short_share(of),
            *others,
        )
        for name, of, *others in rows
    )
    columns = (Column(head, "name"), strip, Column(share, "number"), *more)
    return Table.with_columns(columns, cells, close=True)


def _models_table(task: TaskEstimates) -> Table:
    """Each model with its accuracy and the most similar other one; the most accurate first."""
    gold = task.scores
    unknown = Undefined(reason="not measured")
    right = {name: gold[name].estimate if name in gold else unknown for name in task.names}
    ordered = sorted(right.items(), key=lambda row: -getattr(row[1], "value", -1.0))
    nearest: dict[str, str] = {}
    for pair, estimate in task.ranked():
        for name, other in (pair, pair[::-1]):
            nearest.setdefault(name, f"{other}\u00a0{two_digits(estimate.value)}")
    rows = ((task.marked(name), estimate, nearest.get(name, "none")) for name, estimate in ordered)
    similar = Column(f"Most similar, {metric_name(task.main_metric).label}")
    share = "Mean score" if task.scored and not task.cells else "Right"
    return _shares_table(f"Of {range_of_counts(right.values())} questions", share, rows, similar)


def matrix(task: TaskEstimates) -> Grid | None:
    """The main metric between all models, similar ones next to each other; None for too many."""
    from scipy.cluster.hierarchy import leaves_list, linkage

    if len(task.names) > MOST_MODELS:
        return None
    main = {pair: row.estimate for pair, row in task.between(task.main_metric).items()}
    # Models whose similarity is unknown are further apart than any others.
    similar = [getattr(main.get(pair), "value", -9.0) for pair in combinations(task.names, 2)]
    order = leaves_list(linkage(1 - np.array(similar), "average", optimal_ordering=True)).tolist()
    order = order if order[0] < order[-1] else order[::-1]
    names = [task.marked(task.names[place]) for place in order]
    cells = {
        (task.marked(first), task.marked(second)): estimate
        for pair, estimate in main.items()
        for first, second in (pair, pair[::-1])
    }
    title = metric_name(task.main_metric).label
    return grid(title, cells, rows=names, columns=names, numbered=True)


def _categories(tasks: Sequence[TaskEstimates]) -> Section | None:
    """Each model's accuracy in each category of the questions; a column each for two models."""
    grids = []
    for task in tasks:
        two, cells = len(task.names) == 2, {}
        for row in task.rows:
            if row.subset is not None and row.metric == "accuracy" and row.against == GOLD:
                name, part = task.marked(row.target), row.subset.removeprefix("category = ")
                cells[(part, name) if two else (name, part)] = row.estimate
        rows, columns = (list(dict.fromkeys(pair[place] for pair in cells)) for place in (0, 1))
        title, head = f"{task.task}: accuracy", "Category" if two else "Model"
        if made := grid(title, cells, rows=rows, columns=columns, heading=head):
            grids.append(made)
    return Section(anchor="differ", title="By category", blocks=tuple(grids)) if grids else None


def _numbers(result: CompareResult, tasks: Sequence[TaskEstimates]) -> Section | None:
    """Every estimate, task by task, with a mark on degenerate models."""
    blocks = []
    for task in tasks:
        named = [
            replace(row, target=task.marked(row.target), against=task.marked(row.against or GOLD))
            for row in task.rows
        ]
        blocks.append(every_estimate(task.task, named))
    return numbers_section(explained(result), blocks) if result.measurements else None


def _by_model(result: CompareResult) -> Table | None:
    """Each model's answers to a task, and the number of questions without an answer."""
    rows = (
        (marked(share.model, [share]), share.task, share.asked, share.given, share.in_words())
        for share in result.task_shares
    )
    return table_of("", ("Model", "Task", "Asked", "Answered", "Answers"), rows)
