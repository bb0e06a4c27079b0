"""The comparison: do models answer the same questions alike, right or wrong?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial

from scope.answers import Run, ask
from scope.answers.asking import recognise_answerer
from scope.core.request import as_function
from scope.estimation.tasks import (
    TaskNumbers,
    counted_pairs,
    distinct_texts,
    measure_task,
    most_pairs,
)
from scope.jobs.compare.plan import ComparisonPlan, plan_comparison
from scope.jobs.compare.request import CompareRequest
from scope.jobs.compare.verdicts import MeasuredTask, comparison_verdicts, pooled_over_tasks
from scope.jobs.cost_estimate import Planned, questions_work, vectors_work
from scope.jobs.identity import configuration_of
from scope.jobs.on_ray import check_engine, run_shards
from scope.jobs.runner import Prepared, run_job
from scope.jobs.semscore import ByEncoder, Likeness
from scope.jobs.task_choice import ChosenTask
from scope.models.options import LETTER_TOKENS
from scope.protocols import Progress
from scope.records import CompareResult, Outcome, TaskAnswers


def run_compare(request: CompareRequest) -> CompareResult:
    """Run the comparison, or resume it."""
    return run_job(request, prepare)


compare = as_function(CompareRequest, run_compare)


def prepare(request: CompareRequest) -> Prepared[CompareResult]:
    """Load and check everything before any model is asked."""
    check_engine(request, (*request.models, *request.tasks))
    plan = plan_comparison(request)
    loaded = [model.adapter for model in plan.answering_models]
    manifest = plan.manifest()
    find = partial(_conduct, plan, configuration_of(manifest))
    return Prepared(manifest, find, loaded, partial(_work, plan))


def _work(plan: ComparisonPlan) -> Iterator[Planned]:
    """The work that a dry run shows: each model's answers to each task, and SemScore's vectors."""
    tokens_out = plan.request.model_options.max_answer_tokens
    for chosen in plan.tasks:
        replied = LETTER_TOKENS if chosen.task.role == "choice_scorer" else tokens_out
        for model in plan.answering_models:
            yield questions_work(model, chosen.task, chosen.questions, replied)
    if isinstance(plan.semscore, ByEncoder):
        encoder = plan.semscore.encoder
        questions = [question.text for task in plan.tasks for question in task.questions]
        # One answer of each model, which is shorter than its question.
        yield vectors_work("encoder", "SemScore", encoder.encode, questions)


def _conduct(plan: ComparisonPlan, configuration: Mapping[str, object], run: Run) -> CompareResult:
    """Inference, then metrics; reuses stored answers."""
    progress = plan.request.progress
    for task in plan.tasks:
        for model in plan.answering_models:
            recognise_answerer(model, task.task, task.questions, run, progress)
    most = min(len(task.questions) for task in plan.tasks)
    run_shards(plan.request, run_compare, configuration, most, run)
    answered = [_ask_all(plan, task, run, progress) for task in plan.tasks]
    likeness = [
        _likeness(plan, task, answers, progress)
        for task, answers in zip(plan.tasks, answered, strict=True)
    ]
    numbers = [_measure(plan, *pair, progress) for pair in zip(answered, likeness, strict=True)]
    measured = list(map(MeasuredTask, answered, numbers))
    names = [model.name for model in plan.answering_models]
    truncated = [
        sum(answer.truncated for task in answered for answer in task.answers[place])
        for place in range(len(names))
    ]
    return CompareResult(
        manifest=plan.manifest(truncated),
        outcomes=tuple(map(_outcome, answered, likeness)),
        measurements=tuple(row for of_task in numbers for row in of_task.measurements),
        differences=tuple(row for of_task in numbers for row in of_task.differences),
        tasks=tuple(answered),
        task_shares=tuple(row for of_task in numbers for row in of_task.shares),
        cells=tuple(row for of_task in numbers for row in of_task.cells),
        pooled=tuple(each for task in answered for each in pooled_over_tasks(task, names)),
        verdicts=comparison_verdicts(measured, names, plan.request.accuracy_margin),
    )


def _ask_all(plan: ComparisonPlan, chosen: ChosenTask, run: Run, progress: Progress) -> TaskAnswers:
    return TaskAnswers(
        task=chosen.task.name,
        # Rows are needed only for inference; a result names questions by their ids.
        items=tuple(
            replace(item, question=replace(item.question, row=None)) for item in chosen.data.items
        ),
        answers=tuple(
            ask(model, chosen.task, chosen.questions, run, progress)
            for model in plan.answering_models
        ),
    )


def _likeness(
    plan: ComparisonPlan, chosen: ChosenTask, answers: TaskAnswers, progress: Progress
) -> Likeness | None:
    if plan.semscore is None or chosen.task.role == "choice_scorer":
        return None
    return plan.semscore.likeness(distinct_texts(answers), chosen.task, progress)


def _measure(
    plan: ComparisonPlan, answers: TaskAnswers, likeness: Likeness | None, progress: Progress
) -> TaskNumbers:
    scorers = {task.task.name: task.scorers for task in plan.tasks}
    measure = partial(
        measure_task,
        answers,
        [model.name for model in plan.answering_models],
        normalize=plan.request.normalize,
        seed=plan.request.seed,
        scorers=scorers[answers.task],
    )
    if likeness is None:
        return measure()
    if likeness.cosines:
        return measure(by_meaning=likeness.by_meaning, by_words=likeness.by_words)
    with progress.task(f"{answers.task}: SemScore of pairs", most_pairs(answers)) as advance:
        return measure(
            by_meaning=counted_pairs(likeness.by_meaning, advance),
            by_words=likeness.by_words,
            cosines=False,
        )


def _outcome(answered: TaskAnswers, likeness: Likeness | None) -> Outcome:
    asked = sum(answer.asked for row in answered.answers for answer in row)
    answers = sum(answer.given for row in answered.answers for answer in row)
    cut = likeness.truncated if likeness else 0
    return Outcome(
        capability=answered.task,
        status="measured",
        reason=f"SemScore goes by the beginning of texts that are too long: {cut}" if cut else None,
        searched=asked,
        found=answers,
        failures={"no answer": asked - answers} if answers < asked else {},
    )
