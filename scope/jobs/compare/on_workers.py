"""The answers of a comparison's models on workers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import NamedTuple

from scope.jobs.compare.plan import ComparisonPlan, plan_comparison
from scope.jobs.compare.request import CompareRequest
from scope.jobs.identity import NamedModel
from scope.jobs.inference import ask, distinct
from scope.jobs.on_workers import (
    Identities,
    as_sent,
    database,
    helpers,
    identities_of,
    require_same,
    require_same_data,
)
from scope.jobs.ray_connection import Engine
from scope.progress import Silent
from scope.records import Question
from scope.store import Run


class Place(NamedTuple):
    """A question: the number of its task, and its own in the task, from 0."""

    task: int
    question: int


def ask_on_workers(plan: ComparisonPlan, engine: Engine, run: Run) -> None:
    """Have every model asked the questions of every task that the run does not know yet."""
    request = replace(plan.request, encoder=None, gates=())
    models = identities_of(one.model for one in _asked(plan))
    data = [one.data.card.fingerprint for one in plan.tasks]
    load = partial(_load, as_sent(request), models, data)
    every = set(_places(plan))
    left = sorted(every & set(_unanswered(plan, run)))
    shown = request.progress.task("all models: answering", len(every), len(every) - len(left))
    with helpers(load, engine) as there:
        there.fill(run, answer, left, shown, lambda place: _question(plan, place).text)


def _question(plan: ComparisonPlan, place: Place) -> Question:
    return plan.tasks[place.task].questions[place.question]


def _asked(plan: ComparisonPlan) -> list[NamedModel]:
    """The models that are run; saved answers are looked up here."""
    return [one for one in plan.answering_models if not one.saved]


def _places(plan: ComparisonPlan) -> Iterator[Place]:
    """Each question once, whatever says the same."""
    for number, chosen in enumerate(plan.tasks):
        places = {one.id: place for place, one in enumerate(chosen.questions)}
        for one in distinct(chosen.questions):
            yield Place(number, places[one.id])


def _unanswered(plan: ComparisonPlan, run: Run) -> Iterator[Place]:
    """The questions that some model has not answered."""
    for number, chosen in enumerate(plan.tasks):
        for one in _asked(plan):
            known = run.get_answers(one.model.fingerprint, chosen.task.role, chosen.questions)
            for place in range(len(chosen.questions)):
                if place not in known:
                    yield Place(number, place)


def _load(request: CompareRequest, models: Identities, data: Sequence[str]) -> ComparisonPlan:
    plan = plan_comparison(request)
    require_same_data([one.data.card for one in plan.tasks], data)
    require_same((one.model for one in _asked(plan)), models)
    return plan


def answer(plan: ComparisonPlan, places: tuple[Place, ...]) -> bytes:
    """A database of the answers of all models to the questions at some places."""

    def find(run: Run) -> None:
        for number, chosen in enumerate(plan.tasks):
            questions = chosen.questions
            own = [questions[one.question] for one in places if one.task == number]
            for model in _asked(plan) if own else ():
                ask(model, chosen.task, own, run, Silent())

    return database(find)
