"""The first section of a comparison: how similar the models are, and how often they are right."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from reports.blocks import (
    Bullets,
    Column,
    Paragraph,
    Row,
    Section,
    Table,
    folded,
    note,
    paragraph,
)
from reports.builders.estimates import meanings, rival_pairs
from reports.prose import Span, Text, joined, prose, together
from reports.wording import Cell, number
from scope.jobs.compare.task_estimates import (
    GIVEN_ACCURACY,
    TaskEstimates,
    explained,
    median_of_others,
    task_estimates,
)
from scope.metrics import metric_name
from scope.records import CompareResult, Estimate, Measurement, TaskShares, Undefined

FEW_MODELS = 6
"""Up to this many models are named one by one; of more, the first and the last."""

OPEN_ANSWERS = 12
"""A longer table of the answers is folded."""

MOST_REMARKS = 10
"""Remarks before the tables of a terminal; the report has all."""

_Pair = tuple[tuple[str, str], Estimate]
"""Two models and how similar they are."""


def title(result: CompareResult) -> str:
    """The title of the page."""
    names = [card.name for card in result.manifest.models]
    named = ", ".join(names) if len(names) <= FEW_MODELS else f"{len(names)} models"
    return f"SCoPE compare: {named}"


def answer_section(result: CompareResult, answers: tuple[Table, ...]) -> Section:
    """One finding a task; models whose answers carry no evidence come first."""
    tasks = task_estimates(result)
    keys = (key for one in tasks for key in (one.main_metric, _gold_metric(one)))
    about = note(
        "Where answers are texts, accuracy is the exact match. Options that differ from question "
        "to question are named by their letters, in the order of the data."
    )
    many = sum(len(one.rows) for one in answers) > OPEN_ANSWERS
    return Section(
        anchor="answer",
        title="Answer",
        blocks=(
            Bullets(tuple(_findings(result, tasks)), findings=True),
            *folded(
                prose("Which answers the models give"),
                (*answers, about) if answers else (),
                when=many,
            ),
            paragraph(
                "Accurate models have similar answers for that reason alone. Gold means the right "
                "answers; a missing answer counts as wrong against gold, and its question is "
                "omitted between models. Brackets show confidence intervals over questions, not "
                "over retraining: the same recipe with another seed may lie outside."
            ),
            meanings(explained(keys, result.manifest)),
        ),
    )


def answer_tables(result: CompareResult) -> tuple[Table, ...]:
    """How often each model is right on each task, and which answers it gives."""
    if not result.task_shares:
        return ()
    rows = tuple(
        Row(cells=(one.task, one.model, Cell.of(one.accuracy), one.in_words()))
        for one in _degenerate_first(result.task_shares)
    )
    columns = (
        Column("task", "name"),
        Column("model", "name"),
        Column("accuracy", "estimate"),
        Column("answers"),
    )
    caption = prose("Answers by task and model")
    return (Table(columns=columns, rows=rows, caption=caption, stacked=True),)


def remarks(result: CompareResult) -> Iterator[Paragraph]:
    """Lines on degenerate models, then on frequent answers; of many, the first."""
    degenerate = [
        prose(
            "!!degenerate!!: {model} on {task}: {reason}; its numbers are no evidence",
            model=one.model,
            task=one.task,
            reason=one.degenerate,
        )
        for one in result.task_shares
        if one.degenerate is not None
    ]
    warnings = [
        prose(
            "**warning**: {model} on {task}: {warning}",
            model=one.model,
            task=one.task,
            warning=one.warning,
        )
        for one in result.task_shares
        if one.warning is not None
    ]
    for lines in (degenerate, warnings):
        yield from map(Paragraph, lines[:MOST_REMARKS])
        if left_out := len(lines[MOST_REMARKS:]):
            yield paragraph(
                "and {n} more such models: in the report and in --json-full", n=left_out
            )


def _degenerate_first(shares: tuple[TaskShares, ...]) -> list[TaskShares]:
    return sorted(shares, key=lambda one: (one.degenerate is None, one.warning is None))


def _findings(result: CompareResult, tasks: tuple[TaskEstimates, ...]) -> Iterator[Text]:
    shares = _degenerate_first(result.task_shares)
    for one in shares:
        if one.degenerate is not None:
            yield prose(
                "On **{task}** **{model}** is **degenerate**: {reason}; its numbers are no "
                "evidence.",
                task=one.task,
                model=one.model,
                reason=one.degenerate,
            )
    measured = {one.task: one for one in tasks}
    missing = {
        one.capability: f"{one.status}: {one.reason or 'no reason given'}"
        for one in result.outcomes
        if one.status != "measured"
    }
    for task in (card.name for card in result.manifest.capabilities):
        if task in measured:
            dead = {one.model for one in shares if one.task == task and one.degenerate is not None}
            yield together(_similarity(measured[task], dead), _against_gold(measured[task], dead))
        else:
            yield _undefined(task, missing.get(task, "not measured"))
    for one in shares:
        if one.warning is not None:
            yield prose(
                "**Warning**: of the answers of **{model}** on **{task}**, {warning}.",
                model=one.model,
                task=one.task,
                warning=one.warning,
            )


def _undefined(task: str, reason: str) -> Text:
    return prose(
        "On **{task}**, the similarity of the models is **undefined**: {reason}.",
        task=task,
        reason=reason,
    )


def _similarity(numbers: TaskEstimates, degenerate: Collection[str]) -> Text:
    """The most and the least similar pair, the only one, or why there is none."""
    pairs = _ordered_pairs(numbers, degenerate)
    metric = metric_name(numbers.main_metric).label
    if not pairs:
        return _undefined(numbers.task, _why_none(numbers, degenerate))
    (first, second), estimate = pairs[0]
    if len(pairs) == 1:
        return prose(
            "On **{task}**, between **{first}** and **{second}** {metric} is {estimate}.",
            task=numbers.task,
            first=first,
            second=second,
            metric=metric,
            estimate=estimate,
        )
    (third, fourth), least = pairs[-1]
    return prose(
        "On **{task}**, the most similar are **{first}** and **{second}** with {metric} "
        "{estimate}{ordinary}{rivals}, the least similar are **{third}** and **{fourth}** with "
        "{least}{least_rivals}.",
        task=numbers.task,
        first=first,
        second=second,
        metric=metric,
        estimate=estimate,
        ordinary=_ordinary(numbers.main_metric, pairs),
        rivals=_rivals(pairs[0], pairs),
        third=third,
        fourth=fourth,
        least=least,
        least_rivals=_rivals(pairs[-1], pairs),
    )


def _ordered_pairs(numbers: TaskEstimates, degenerate: Collection[str]) -> list[_Pair]:
    """Pairs without a degenerate model, the most similar first; equals in the models' order."""
    pairs = [
        (names, row.estimate)
        for names, row in numbers.between(numbers.main_metric).items()
        if isinstance(row.estimate, Estimate) and not set(names).intersection(degenerate)
    ]
    return sorted(pairs, key=lambda pair: -pair[1].value)


def _ordinary(metric: str, pairs: list[_Pair]) -> Text:
    """What the other pairs have, where 0 is not what is ordinary."""
    middle = median_of_others(pairs[0][1], (estimate for _, estimate in pairs))
    if middle is None or metric not in GIVEN_ACCURACY:
        return ()
    return prose(
        " (median of the {n} other pairs {middle})", n=len(pairs) - 1, middle=number(middle)
    )


def _rivals(one: _Pair, pairs: list[_Pair]) -> Text:
    """How many other pairs may be as similar, or as dissimilar."""
    return rival_pairs(one[1], (estimate for _, estimate in pairs))


def _why_none(numbers: TaskEstimates, degenerate: Collection[str]) -> str:
    """The reason that the pairs' main number is undefined, the first if there are several."""
    if degenerate:
        return "in every pair a model is degenerate or the number is undefined"
    found = (row.estimate for row in numbers.between(numbers.main_metric).values())
    reasons = (one.reason for one in found if isinstance(one, Undefined))
    return next(reasons, "no pair was measured")


def _gold_metric(numbers: TaskEstimates) -> str:
    return "accuracy" if numbers.choice else "word_f1"


def _against_gold(numbers: TaskEstimates, degenerate: Collection[str]) -> Text:
    """The models' numbers against the right answers, of many the lowest and the highest."""
    shown = list(numbers.against_gold(_gold_metric(numbers)).values())
    order: Text = ()
    if len(shown) > FEW_MODELS:
        shown = sorted((one for one in shown if isinstance(one.estimate, Estimate)), key=_value)
        if len(shown) > 1:
            shown = [shown[0], shown[-1]]
            order = prose(
                ", from the lowest to the highest of {models} models", models=len(numbers.names)
            )
    if not shown:
        return ()
    return prose(
        "Against gold ({metric}){order}: {numbers}.",
        metric=metric_name(_gold_metric(numbers)).label,
        order=order,
        numbers=joined((_of_model(one, degenerate) for one in shown), between="; "),
    )


def _value(measurement: Measurement) -> float:
    """The value of a measurement that is known to have one."""
    estimate = measurement.estimate
    return estimate.value if isinstance(estimate, Estimate) else float("nan")


def _of_model(one: Measurement, degenerate: Collection[str]) -> Text:
    remark = (Span(" (degenerate)"),) if one.target in degenerate else ()
    return prose(
        "**{model}**{remark} {estimate}", model=one.target, remark=remark, estimate=one.estimate
    )
