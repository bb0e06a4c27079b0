"""What the two ways of a test of reuse share, and the way of a task's questions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from scope.jobs.canaries import recognise_answerer
from scope.jobs.interviews import Interview, TaskInterview
from scope.jobs.lineup import Member, line_up
from scope.jobs.participants import check_prompts, load_participant, require_rows
from scope.jobs.reuse_plan import ReusePlan
from scope.jobs.reuse_questions import ProbeSet, probes_of_items
from scope.jobs.task_choice import choose_tasks
from scope.models import ModelOptions
from scope.protocols import Progress, Task
from scope.records import Setting
from scope.store import Run

Models = tuple[str | object, Sequence[str | object], Sequence[str | object]]
"""The suspect, the references, the controls."""


@dataclass(frozen=True, kw_only=True)
class Prepared:
    """A test of reuse that is ready to begin.

    ``interview`` gives, for an open run, the way of asking; ``probes`` what is asked for the sake
    of a reference, in a run and showing its progress. ``recognise`` sees that the models are those
    whose answers the run holds.
    """

    plan: ReusePlan
    interview: Callable[[Run], Interview]
    probes: Callable[[Member, Run], ProbeSet]
    recognise: Callable[[Run], None]


@dataclass(frozen=True, kw_only=True)
class ReuseOptions:
    """What both ways are told alike."""

    data: str
    n: int | None
    seed: int
    alpha: float
    sequence: int | None
    models: ModelOptions
    progress: Progress
    excluded: tuple[str, ...] = ()
    assume_no_label_training: bool = False

    def verbatim(self) -> dict[str, Setting | Sequence[str]]:
        """As the command says it."""
        return {
            "n": self.n,
            "sequential": self.sequence is not None,
            "batch": self.sequence,
            "assume_no_label_training": self.assume_no_label_training,
        }

    def settings(self) -> dict[str, Setting]:
        """As the manifest says it; nothing where it is as usual."""
        found: dict[str, Setting] = {} if self.sequence is None else {"batch": self.sequence}
        if self.assume_no_label_training:
            found["assume_no_label_training"] = True
        return found


def prepare_task(
    models: Models, task: str | Task, settings: Mapping[str, Setting], options: ReuseOptions
) -> Prepared:
    """Questions of a task, answered by models in its role."""
    chosen = choose_tasks([task], options.data, settings, n=options.n, seed=options.seed)
    role = chosen[0].task.role
    check_prompts([role], options.models)
    lineup = line_up(
        *models,
        load=lambda one: load_participant(one, [role], options.models),
        progress=options.progress,
        excluded=options.excluded,
    )
    require_rows([one.participant() for one in lineup.members], chosen)
    probes = probes_of_items(chosen[0].data.items)
    plan = ReusePlan(
        lineup=lineup,
        data=chosen[0].data.card,
        asked=(chosen[0].card(),),
        alpha=options.alpha,
        seed=options.seed,
        settings=options.settings(),
        verbatim={
            "task": chosen[0].task.name,
            "setting": [f"{name}={value}" for name, value in settings.items()],
            **options.verbatim(),
        },
        options=options.models,
    )
    questions = [item.question for item in chosen[0].data.items]

    def recognise(run: Run) -> None:
        for one in lineup.members:
            recognise_answerer(one.participant(), chosen[0].task, questions, run, options.progress)

    return Prepared(
        plan=plan,
        recognise=recognise,
        interview=lambda run: TaskInterview(
            task=chosen[0].task, run=run, progress=options.progress
        ),
        probes=lambda reference, run: probes,
    )
