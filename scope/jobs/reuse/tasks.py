"""Prepares a test of reuse on the questions of a task; `preparation` does it for texts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

from scope.answers import Run
from scope.answers.asking import recognise_answerer
from scope.jobs.answering_models import check_prompts, load_answering_model, require_rows
from scope.jobs.identity import NamedModel
from scope.jobs.reuse.models import ReuseModels, load_reuse_models
from scope.jobs.reuse.plan import ReusePlan
from scope.jobs.reuse.questions import ItemSet, task_items
from scope.jobs.reuse.request import ReuseRequest
from scope.jobs.reuse.responses import Responses, TaskResponses
from scope.jobs.task_choice import ChosenTask, choose_tasks
from scope.jobs.work import Planned, questions_work


class PreparedTest(Protocol):
    """A test of reuse with everything loaded and checked."""

    @property
    def plan(self) -> ReusePlan:
        """What the manifest and the verdicts say of the test."""

    def responses(self, run: Run) -> Responses:
        """The inference of an open run."""

    def items(self, searched: NamedModel, run: Run) -> ItemSet:
        """The questions of a reference."""

    def recognise(self, run: Run) -> None:
        """Check that the models are those whose answers the run has cached."""

    def work(self) -> Iterator[Planned]:
        """What a dry run shows."""


@dataclass(frozen=True, kw_only=True)
class _TaskTest:
    """The questions of a task, and the models that answer them."""

    request: ReuseRequest
    chosen: ChosenTask
    models: ReuseModels

    @property
    def plan(self) -> ReusePlan:
        return ReusePlan(
            models=self.models,
            data=self.chosen.data.card,
            asked=(self.chosen.card(),),
            request=self.request,
            settings={},
        )

    def responses(self, run: Run) -> TaskResponses:
        return TaskResponses(task=self.chosen.task, run=run, progress=self.request.progress)

    def items(self, searched: NamedModel, run: Run) -> ItemSet:
        return task_items(self.chosen.data.items)

    def recognise(self, run: Run) -> None:
        task, questions = self.chosen.task, self.chosen.questions
        for one in self.models.all:
            recognise_answerer(one, task, questions, run, self.request.progress)

    def work(self) -> Iterator[Planned]:
        task, most = self.chosen.task, self.request.model_options.max_answer_tokens
        for one in self.models.all:
            replied = 1 if task.role == "choice_scorer" else most
            yield questions_work(one, task, self.chosen.questions, replied)


def prepare_task(request: ReuseRequest) -> PreparedTest:
    """Load the models in the role of the task, and its questions."""
    (chosen,) = choose_tasks(
        [request.task], request.data, request.settings, n=request.n, seed=request.seed
    )
    role, options = chosen.task.role, request.model_options
    check_prompts([role], options)
    models = load_reuse_models(request, lambda one: load_answering_model(one, [role], options))
    for one in models.all:
        require_rows(one.model, [chosen])
    return _TaskTest(request=request, chosen=chosen, models=models)
