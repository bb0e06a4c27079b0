"""Prepares a test of reuse on the questions of a task; see `scope.jobs.reuse.texts` for texts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from scope.jobs.answering_models import check_prompts, load_answering_model, require_rows
from scope.jobs.canaries import recognise_answerer
from scope.jobs.reuse.items import ItemSet, task_items
from scope.jobs.reuse.models import ReuseModel, load_reuse_models
from scope.jobs.reuse.plan import ReusePlan
from scope.jobs.reuse.request import ReuseRequest
from scope.jobs.reuse.responses import Responses, TaskResponses
from scope.jobs.task_choice import choose_tasks
from scope.jobs.work import Planned, questions_work
from scope.store import Run


@dataclass(frozen=True, kw_only=True)
class PreparedTest:
    """A test of reuse with everything loaded and checked.

    ``responses`` returns the inference of an open run, ``items`` the questions of a reference.
    ``recognise`` checks that the models are those whose answers the run has cached. ``work`` gives
    what a dry run shows.
    """

    plan: ReusePlan
    responses: Callable[[Run], Responses]
    items: Callable[[ReuseModel, Run], ItemSet]
    recognise: Callable[[Run], None]
    work: Callable[[], Iterable[Planned]]


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
    require_rows([one.answering_model() for one in models.all], chosen)
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
            recognise_answerer(one.answering_model(), chosen[0].task, questions, run, progress)

    def work() -> Iterator[Planned]:
        replied = 1 if role == "choice_scorer" else request.model_options.max_answer_tokens
        for one in models.all:
            yield questions_work(one.answering_model(), chosen[0].task, questions, replied)

    return PreparedTest(
        plan=plan,
        recognise=recognise,
        work=work,
        responses=lambda run: TaskResponses(task=chosen[0].task, run=run, progress=progress),
        items=lambda reference, run: items,
    )
