"""What a test of reuse asks: the questions of a task, or what `texts` prepares."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from scope.jobs.answering_models import check_prompts, load_answering_model, require_rows
from scope.jobs.canaries import recognise_answerer
from scope.jobs.reuse.items import ItemSet, task_items
from scope.jobs.reuse.models import ReuseModel, load_reuse_models
from scope.jobs.reuse.plan import ReusePlan
from scope.jobs.reuse.request import ReuseRequest
from scope.jobs.reuse.responses import Responses, TaskResponses
from scope.jobs.task_choice import choose_tasks
from scope.protocols import Progress
from scope.store import Run


@dataclass(frozen=True, kw_only=True)
class Questions:
    """What is asked of whom, with everything loaded and checked.

    ``responses`` gives, for an open run, the way of asking; ``probes`` what is asked for the sake
    of a reference, in a run and showing its progress. ``recognise`` sees that the models are those
    whose answers the run holds.
    """

    plan: ReusePlan
    responses: Callable[[Run], Responses]
    probes: Callable[[ReuseModel, Run], ItemSet]
    recognise: Callable[[Run], None]


def prepare_task(request: ReuseRequest, progress: Progress) -> Questions:
    """Questions of a task, answered by models in its role."""
    chosen = choose_tasks(
        [request.task], request.data, request.settings, n=request.n, seed=request.seed
    )
    role = chosen[0].task.role
    check_prompts([role], request.model_options)
    tested = load_reuse_models(
        request,
        load=lambda one: load_answering_model(one, [role], request.model_options),
        progress=progress,
    )
    require_rows([one.answering_model() for one in tested.members], chosen)
    probes = task_items(chosen[0].data.items)
    plan = ReusePlan(
        tested=tested,
        data=chosen[0].data.card,
        asked=(chosen[0].card(),),
        request=request,
        settings={},
    )
    questions = [item.question for item in chosen[0].data.items]

    def recognise(run: Run) -> None:
        for one in tested.members:
            recognise_answerer(one.answering_model(), chosen[0].task, questions, run, progress)

    return Questions(
        plan=plan,
        recognise=recognise,
        responses=lambda run: TaskResponses(task=chosen[0].task, run=run, progress=progress),
        probes=lambda reference, run: probes,
    )
