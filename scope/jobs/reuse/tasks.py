"""Prepares a test of reuse on the questions of a task; see `scope.jobs.reuse.texts` for texts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from scope.jobs.answering_models import check_prompts, load_answering_model, require_rows
from scope.jobs.canaries import recognise_answerer
from scope.jobs.identity import NamedModel
from scope.jobs.inference import ask, distinct
from scope.jobs.reuse.items import ItemSet, task_items
from scope.jobs.reuse.models import ReuseModels, load_reuse_models
from scope.jobs.reuse.plan import ReusePlan
from scope.jobs.reuse.request import ReuseRequest
from scope.jobs.reuse.responses import AskBefore, Responses, TaskResponses
from scope.jobs.task_choice import ChosenTask, choose_tasks
from scope.jobs.work import Planned, questions_work
from scope.records import Example, Question
from scope.store import Run


class PreparedTest(Protocol):
    """A test of reuse with everything loaded and checked.

    Of ``answer`` and ``search`` any process is capable that has prepared the same test, in a run
    of its own.
    """

    @property
    def plan(self) -> ReusePlan:
        """What the manifest and the verdicts say of the test."""

    def responses(self, run: Run, ask_before: AskBefore) -> Responses:
        """The inference of an open run."""

    def items(self, searched: NamedModel, run: Run) -> ItemSet:
        """The questions of a reference."""

    def recognise(self, run: Run) -> None:
        """Check that the models are those whose answers the run has cached."""

    def work(self) -> Iterator[Planned]:
        """What a dry run shows."""

    def answer(self, model: NamedModel, asked: Sequence[Any], run: Run) -> None:
        """Ask a model texts or questions."""

    def unanswered(self, model: NamedModel, asked: Sequence[Any], run: Run) -> Sequence[Any]:
        """Those of them that the run does not know."""

    def search(self, searched: NamedModel, examples: Sequence[Example], run: Run) -> object:
        """Search examples for perturbations of a reference."""

    def unsearched(self, searched: NamedModel, run: Run) -> Sequence[Example]:
        """The examples of a reference that the run does not know."""


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

    def responses(self, run: Run, ask_before: AskBefore) -> TaskResponses:
        progress = self.request.progress
        return TaskResponses(
            task=self.chosen.task, run=run, progress=progress, ask_before=ask_before
        )

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

    def answer(self, model: NamedModel, asked: Sequence[Question], run: Run) -> None:
        ask(model, self.chosen.task, asked, run, self.request.progress)

    def unanswered(self, model: NamedModel, asked: Sequence[Question], run: Run) -> list[Question]:
        known = run.get_answers(model.model.fingerprint, self.chosen.task.role, asked)
        return distinct([one for place, one in enumerate(asked) if place not in known])

    def search(self, searched: NamedModel, examples: Sequence[Example], run: Run) -> None:
        """Questions of tasks are not perturbed."""

    def unsearched(self, searched: NamedModel, run: Run) -> Sequence[Example]:
        return ()


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
