"""What a test of reuse asks: the questions of a task, or what `texts` prepares."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from scope.jobs.canaries import recognise_answerer
from scope.jobs.participants import check_prompts, load_participant, require_rows
from scope.jobs.reuse.models import Member, line_up
from scope.jobs.reuse.plan import ReusePlan
from scope.jobs.reuse.probes import ProbeSet, probes_of_items
from scope.jobs.reuse.request import ReuseRequest
from scope.jobs.reuse.responses import Interview, TaskInterview
from scope.jobs.task_choice import choose_tasks
from scope.protocols import Progress
from scope.store import Run


@dataclass(frozen=True, kw_only=True)
class Questions:
    """What is asked of whom, with everything loaded and checked.

    ``interview`` gives, for an open run, the way of asking; ``probes`` what is asked for the sake
    of a reference, in a run and showing its progress. ``recognise`` sees that the models are those
    whose answers the run holds.
    """

    plan: ReusePlan
    interview: Callable[[Run], Interview]
    probes: Callable[[Member, Run], ProbeSet]
    recognise: Callable[[Run], None]


def prepare_task(request: ReuseRequest, progress: Progress) -> Questions:
    """Questions of a task, answered by models in its role."""
    chosen = choose_tasks(
        [request.task], request.data, request.settings, n=request.n, seed=request.seed
    )
    role = chosen[0].task.role
    check_prompts([role], request.model_options)
    lineup = line_up(
        request,
        load=lambda one: load_participant(one, [role], request.model_options),
        progress=progress,
    )
    require_rows([one.participant() for one in lineup.members], chosen)
    probes = probes_of_items(chosen[0].data.items)
    plan = ReusePlan(
        lineup=lineup,
        data=chosen[0].data.card,
        asked=(chosen[0].card(),),
        request=request,
        settings={},
    )
    questions = [item.question for item in chosen[0].data.items]

    def recognise(run: Run) -> None:
        for one in lineup.members:
            recognise_answerer(one.participant(), chosen[0].task, questions, run, progress)

    return Questions(
        plan=plan,
        recognise=recognise,
        interview=lambda run: TaskInterview(task=chosen[0].task, run=run, progress=progress),
        probes=lambda reference, run: probes,
    )
