"""The comparison: do models answer the same questions alike, right or wrong?"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from scope.estimation.tasks import (
    TaskNumbers,
    counted_pairs,
    distinct_texts,
    measure_task,
    most_pairs,
)
from scope.jobs.asking import ask
from scope.jobs.canaries import recognise_answerer
from scope.jobs.comparison_plan import ComparisonPlan, deciding
from scope.jobs.finishing import finish
from scope.jobs.identity import default_run_name, notes_of, question_of
from scope.jobs.participants import load_participants
from scope.jobs.semscore import Likeness, load_semscore
from scope.jobs.task_choice import ChosenTask, choose_tasks
from scope.models import ModelOptions
from scope.models.options import SENTENCE_ENCODER
from scope.progress import Silent
from scope.protocols import Progress, Task
from scope.records import Comparison, Outcome, Question, Setting, TaskAnswers
from scope.store import Run, run_folder


def compare(
    *,
    models: Sequence[str | object],
    tasks: str | Sequence[str | Task],
    data: str | Mapping[str, str],
    n: int | None = None,
    seed: int = 0,
    settings: Mapping[str, Setting] | None = None,
    normalize: bool = False,
    encoder: str | None = SENTENCE_ENCODER,
    model_options: ModelOptions | None = None,
    run: str | Path | None = None,
    runs: Path = Path("runs"),
    progress: Progress | None = None,
) -> Comparison:
    """Ask models the same questions, and measure how alike their answers are.

    The run is kept on disk: killed and called again alike, it goes on where it was and gives the
    same result. The report lies in the run's folder, ``runs/NAME/report.html``.

    Parameters
    ----------
    models
        Specs of two models or more, or objects with the members of the role that the tasks ask
        for (`scope.protocols`). ``predictions:FILE.tsv#*`` stands for all models of the file.
    tasks
        Names, or objects with the members of `scope.protocols.Task`; one name may stand alone.
    data
        What the questions are made of: a data spec, or one for each task by its name.
    n
        How many questions to draw for each task; all of them if None or more than there are.
    settings
        Of the tasks that have them, such as ``min_words`` of *cloze*.
    normalize
        Compare answers as the SQuAD evaluation does: without articles, punctuation and capitals.
    encoder
        What SemScore is measured by: the spec of a sentence encoder, or ``probe:FOLDER`` for a
        probe that `scope.probes.save_probe` wrote; None leaves SemScore out.
        ``probe:FOLDER#SPEC`` says where the probe's model is now, and lets ``model_options``
        allow for it what they allow for the compared models.
    model_options
        How models are loaded, run and asked.
    run, runs
        The run's name under the folder ``runs``, or its path; by default a name that follows
        from what is asked.
    progress
        Where to show progress; nowhere by default.

    Returns
    -------
    Comparison
        Prints as a table; ``to_frame``, ``to_json`` and ``to_html`` convert it.

    Raises
    ------
    ScopeError
        Whatever the user can mend: see `scope.errors`.
    """
    began = time.monotonic()
    model_options = model_options or ModelOptions()
    progress = progress or Silent()
    tasks = [tasks] if isinstance(tasks, str) else tasks
    chosen = choose_tasks(tasks, data, settings or {}, n=n, seed=seed)
    # What is quick to fail comes first: a language model may take half a minute to load.
    semscore = load_semscore(encoder, [one.task for one in chosen], model_options)
    plan = ComparisonPlan(
        participants=load_participants(models, chosen, model_options, progress),
        tasks=chosen,
        semscore=semscore,
        n=n,
        seed=seed,
        settings=settings or {},
        normalize=normalize,
        options=model_options,
    )
    asked = deciding(plan.manifest())
    folder = run_folder(run or default_run_name(asked), runs)
    with Run.open(folder, question_of(asked), notes=notes_of(plan.manifest())) as opened:
        comparison = _conduct(plan, opened, progress)
        return finish(comparison, opened, seconds=time.monotonic() - began)


def _conduct(plan: ComparisonPlan, run: Run, progress: Progress) -> Comparison:
    """Ask, then measure; every answer that the run knows already is taken from it."""
    for task in plan.tasks:
        for model in plan.participants:
            recognise_answerer(model, task.task, _questions(task), run, progress)
    answered = [_ask_all(plan, one, run, progress) for one in plan.tasks]
    likeness = [
        _likeness(plan, one, answers, progress)
        for one, answers in zip(plan.tasks, answered, strict=True)
    ]
    numbers = [_measure(plan, *one, progress) for one in zip(answered, likeness, strict=True)]
    return Comparison(
        manifest=plan.manifest(_count_truncated(plan, answered)),
        outcomes=tuple(map(_outcome, answered, likeness)),
        measurements=tuple(one for found in numbers for one in found.measurements),
        differences=tuple(one for found in numbers for one in found.differences),
        curves=(),
        examples=(),
        perturbations=(),
        tasks=tuple(answered),
        task_shares=tuple(one for found in numbers for one in found.shares),
    )


def _ask_all(plan: ComparisonPlan, chosen: ChosenTask, run: Run, progress: Progress) -> TaskAnswers:
    return TaskAnswers(
        task=chosen.task.name,
        # Rows have served once the models are asked; a result names questions by their ids.
        items=tuple(
            replace(item, question=replace(item.question, row=None)) for item in chosen.data.items
        ),
        answers=tuple(
            ask(one, chosen.task, _questions(chosen), store=run, progress=progress)
            for one in plan.participants
        ),
    )


def _questions(chosen: ChosenTask) -> list[Question]:
    return [item.question for item in chosen.data.items]


def _likeness(
    plan: ComparisonPlan, chosen: ChosenTask, answers: TaskAnswers, progress: Progress
) -> Likeness | None:
    if plan.semscore is None or chosen.task.role == "choice_scorer":
        return None
    return plan.semscore.likeness(distinct_texts(answers), chosen.task, progress)


def _measure(
    plan: ComparisonPlan, answers: TaskAnswers, likeness: Likeness | None, progress: Progress
) -> TaskNumbers:
    measure = partial(
        measure_task,
        answers,
        [one.name for one in plan.participants],
        normalize=plan.normalize,
        seed=plan.seed,
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


def _count_truncated(plan: ComparisonPlan, answered: Sequence[TaskAnswers]) -> list[int]:
    return [
        sum(answer.truncated for task in answered for answer in task.answers[place])
        for place in range(len(plan.participants))
    ]


def _outcome(answered: TaskAnswers, likeness: Likeness | None) -> Outcome:
    asked = sum(answer.asked for row in answered.answers for answer in row)
    given = sum(answer.given for row in answered.answers for answer in row)
    cut = likeness.truncated if likeness else 0
    return Outcome(
        capability=answered.task,
        status="measured",
        reason=f"SemScore goes by the beginning of texts that are too long: {cut}" if cut else None,
        searched=asked,
        found=given,
        failures={"no answer": asked - given} if given < asked else {},
    )
