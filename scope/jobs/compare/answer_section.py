"""The answer of a comparison: a box a task, in the words of the terminal, and examples."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from statistics import median

from reports.blocks import Beside, Callout, Paragraph, Section
from reports.builders.estimates import rival_pairs
from reports.builders.outcomes import outcome_lines
from reports.prose import Text, joined, prose
from reports.wording import in_percent, number, short, short_share
from scope.jobs.compare.answers import Questions
from scope.jobs.compare.findings import example_cards
from scope.jobs.compare.picture import picture
from scope.jobs.compare.task_estimates import TaskEstimates, task_estimates
from scope.metrics import metric_name
from scope.records import CompareResult, FourCells, Undefined

MOST_REASONS = 3
"""Of more degenerate models, or warnings, the others are only named."""

_MEANINGS = {
    "capa": (
        "agreement beyond what accuracy explains",
        "0 is independent, 1 is the same answers. This assumes equally difficult questions; "
        "otherwise unrelated models of equal skill reach 0.1 to 0.25.",
    ),
    "sem_score": ("mean similarity in meaning", "1 is the same answer."),
    "word_f1": ("mean share of common words", "1 is the same answer."),
}
"""What a main metric means, and how to read it."""


def answer_section(result: CompareResult, questions: Sequence[Questions]) -> Section:
    """A box a task, tasks that were not measured, and at most three examples."""
    tasks = task_estimates(result)
    boxes = []
    for task in tasks:
        first, *others = map(Paragraph, sentences(task))
        notes = map(Paragraph, remarks(result, task.task))
        lead = Paragraph(first.text, lead=True)
        boxes.append(Callout("neutral", (lead, *others, *picture(task), *notes)))
    beside = len(boxes) > 1 and all(len(one.names) == 2 for one in tasks)
    shown = (Beside(tuple((one,) for one in boxes)),) if beside else boxes
    failed = [one for one in result.outcomes if one.status != "measured"]
    lines = [outcome_lines(failed, of_tasks=True)] if failed else []
    blocks = (*shown, *lines, *example_cards(questions))
    return Section(anchor="answer", title="Answer", blocks=blocks)


def in_short(result: CompareResult) -> str:
    """The main metric of the pair in each task, of many models that of the median pair."""
    tasks = []
    for task in task_estimates(result):
        ranked, label = task.ranked(), metric_name(task.main_metric).label
        shown = f"{label} {short(ranked[0][1])}" if ranked else "no pair measured"
        if len(ranked) > 1:
            middle = number(median(one.value for _, one in ranked))
            shown = f"median {label} {middle} of {len(ranked)} pairs"
        tasks.append(f"{task.task}: {shown}" if len(result.tasks) > 1 else shown)
    return ", ".join(tasks)


def sentences(task: TaskEstimates) -> Iterator[Text]:
    """How alike the models answer, which is right more often, and what accuracy explains."""
    pairs, label = task.ranked(), metric_name(task.main_metric).label
    means, reading = _MEANINGS.get(task.main_metric.removesuffix("_discrete"), ("", ""))
    if not pairs:
        template = "On **{task}** no two models can be compared: {why}."
        yield prose(template, task=task.task, why=_why_none(task))
    elif len(task.fit) == 2:
        yield from _on_two(task, pairs[0][0])
        template = f"{means[:1].upper()}{means[1:]} ({{label}}) is **{{n}}**. {reading}"
        if means:
            yield prose(template, label=label, n=short(pairs[0][1]))
    else:
        yield from _on_many(task, label)
        if means:
            yield prose(f"{{label}} is the {means}. {reading}", label=label)


def _why_none(task: TaskEstimates) -> str:
    if len(task.fit) < 2:
        return f"{len(task.degenerate)} of {len(task.names)} are degenerate"
    found = (row.estimate for row in task.between(task.main_metric).values())
    reasons = (one.reason for one in found if isinstance(one, Undefined))
    return next(reasons, "no pair was measured")


def _on_two(task: TaskEstimates, pair: tuple[str, str]) -> Iterator[Text]:
    words = "On **{task}**, {models} give the **same answer to {share}** of {n} questions."
    models = joined(pair, last=" and ")
    if same := task.between(task.same_metric).get(pair):
        share = short_share(same.estimate)
        yield prose(words, task=task.task, models=models, share=share, n=same.estimate.n)
    yield from (_accuracies(one) for one in task.cells if (one.first, one.second) == pair)


def _accuracies(cells: FourCells) -> Text:
    """Which model is right more often, if either is shown to be, and by how many points."""
    gap, both = cells.difference, cells.both.value
    models = [(both + cells.only_first.value, cells.first)]
    models.append((both + cells.only_second.value, cells.second))
    sign = -1 if gap.value < 0 else 1
    (share, better), (other_share, other) = models[::sign]
    more, *ends = in_percent(sign * gap.value, *sorted((sign * gap.low, sign * gap.high)))
    (one,), (two,) = in_percent(share), in_percent(other_share)
    opening = "**{better} is right more often**: on"
    if gap.low * gap.high <= 0:
        opening = "**Neither is shown to be right more often**: {better} on"
    return prose(
        f"{opening} {one}\u00a0%, {{other}} on {two}\u00a0%. The difference is {more} points "
        f"[{', '.join(ends)}].",
        better=better,
        other=other,
    )


def _on_many(task: TaskEstimates, label: str) -> Iterator[Text]:
    """The most and the least similar pair, and how many others may be."""
    pairs = task.ranked()
    every = [estimate for _, estimate in pairs]
    most, least = (
        prose(
            "**{first}** and **{second}** with {n}{rivals}",
            first=pair[0],
            second=pair[1],
            n=short(estimate),
            rivals=rival_pairs(estimate, every),
        )
        for pair, estimate in (pairs[0], pairs[-1])
    )
    template = "On **{task}**, the most similar of {n} pairs, by {label}, are {most}."
    yield prose(template, task=task.task, n=len(pairs), label=label, most=most)
    middle = f"{median(one.value for one in every):.2f}".replace("-", "−")
    template = "The median pair has {middle}. The least similar are {least}."
    yield prose(template, middle=middle, least=least)


def remarks(result: CompareResult, task: str) -> Iterator[Text]:
    """A line on degenerate models, and one on answers that are given too often."""
    here = [one for one in result.task_shares if one.task == task]
    lines = {
        "!!Degenerate!!, so out of pairs, rankings and examples: {models}.": [
            (one.model, one.degenerate) for one in here if one.degenerate
        ],
        "**Warning**: {models}.": [(one.model, one.warning) for one in here if one.warning],
    }
    for template, found in lines.items():
        if found:
            yield prose(template, models=_with_reasons(found))


def _with_reasons(models: Sequence[tuple[str, str]]) -> Text:
    reasons = [
        prose("**{model}** ({reason})", model=model, reason=reason)
        for model, reason in models[:MOST_REASONS]
    ]
    return joined([*reasons, *(model for model, _ in models[MOST_REASONS:])])
