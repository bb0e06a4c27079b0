"""Prepares a test of reuse on the questions of a task; see `scope.jobs.reuse.texts` for texts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from scope.jobs.answering_models import check_prompts, load_answering_model, require_rows
from scope.jobs.canaries import recognise_answerer
from scope.jobs.identity import NamedModel
from scope.jobs.inference import ask, distinct
from scope.jobs.reuse.items import ItemSet, task_items
from scope.jobs.reuse.models import load_reuse_models
from scope.jobs.reuse.plan import ReusePlan
from scope.jobs.reuse.request import ReuseRequest
from scope.jobs.reuse.responses import AskBefore, Responses, TaskResponses
from scope.jobs.task_choice import choose_tasks
from scope.jobs.work import Planned, questions_work
from scope.records import Example, Question
from scope.store import Run


def _nothing(model: NamedModel, run: Run) -> Sequence[Example]:
    return ()


def _never(model: NamedModel, examples: Sequence[Example], run: Run) -> None:
    """Questions of tasks are not perturbed."""


@dataclass(frozen=True, kw_only=True)
class Apart:
    """What any process that has prepared a test can do of it, in an open run.

    ``answer`` asks a model texts or questions, of which ``unanswered`` are those that the run does
    not know; ``search`` and ``unsearched`` are the same for the examples of a reference.
    """

    answer: Callable[[NamedModel, Sequence[Any], Run], object]
    unanswered: Callable[[NamedModel, Sequence[Any], Run], Sequence[Any]]
    search: Callable[[NamedModel, Sequence[Example], Run], object] = _never
    unsearched: Callable[[NamedModel, Run], Sequence[Example]] = _nothing


@dataclass(frozen=True, kw_only=True)
class PreparedTest:
    """A test of reuse with everything loaded and checked.

    ``responses`` returns the inference of an open run, ``items`` the questions of a reference.
    ``apart`` is what workers can do of both before.
    ``recognise`` checks that the models are those whose answers the run has cached. ``work`` gives
    what a dry run shows.
    """

    plan: ReusePlan
    responses: Callable[[Run, AskBefore], Responses]
    items: Callable[[NamedModel, Run], ItemSet]
    recognise: Callable[[Run], None]
    work: Callable[[], Iterable[Planned]]
    apart: Apart


def prepare_task(request: ReuseRequest) -> PreparedTest:
    """Load the models in the role of the task, and its questions."""
    chosen = choose_tasks(
        [request.task], request.data, request.settings, n=request.n, seed=request.seed
    )
    role = chosen[0].task.role
    check_prompts([role], request.model_options)
    models = load_reuse_models(
        request, lambda one: load_answering_model(one, [role], request.model_options)
    )
    for one in models.all:
        require_rows(one.model, chosen)
    items = task_items(chosen[0].data.items)
    plan = ReusePlan(
        models=models,
        data=chosen[0].data.card,
        asked=(chosen[0].card(),),
        request=request,
        settings={},
    )
    questions = [item.question for item in chosen[0].data.items]
    progress = request.progress

    def recognise(run: Run) -> None:
        for one in models.all:
            recognise_answerer(one, chosen[0].task, questions, run, progress)

    def work() -> Iterator[Planned]:
        replied = 1 if role == "choice_scorer" else request.model_options.max_answer_tokens
        for one in models.all:
            yield questions_work(one, chosen[0].task, questions, replied)

    def answer(model: NamedModel, asked: Sequence[Question], run: Run) -> None:
        ask(model, chosen[0].task, asked, run, progress)

    def unanswered(model: NamedModel, asked: Sequence[Question], run: Run) -> list[Question]:
        known = run.get_answers(model.model.fingerprint, role, asked)
        return distinct([one for place, one in enumerate(asked) if place not in known])

    return PreparedTest(
        plan=plan,
        apart=Apart(answer=answer, unanswered=unanswered),
        recognise=recognise,
        work=work,
        responses=lambda run, ask_before: TaskResponses(
            task=chosen[0].task, run=run, progress=progress, ask_before=ask_before
        ),
        items=lambda reference, run: items,
    )
