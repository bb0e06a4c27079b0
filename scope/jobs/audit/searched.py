"""What is searched on the references of an audit, and answered by its models."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from scope.answers import CachedClassifier, Run
from scope.jobs.audit.plan import AuditPlan, models_of
from scope.jobs.identity import NamedModel
from scope.jobs.perturbing import NO_CANDIDATES, PairSearch, PerturbationSet
from scope.jobs.preparation import ChosenCapability
from scope.jobs.scoring import Answers, answer_all


class Searched(NamedTuple):
    """The kept pairs and the random candidates of a capability."""

    kept: PerturbationSet
    drawn: PerturbationSet


def reasons(sets: Sequence[PerturbationSet]) -> dict[str, str]:
    """Why there is nothing, by capability."""
    outcomes = [one.outcome for one in sets if one.outcome.status != "measured"]
    return {one.capability: str(one.reason) for one in outcomes}


class Gathered(NamedTuple):
    """What was searched on each reference, and each model's answers."""

    found: list[list[Searched]]
    answers: dict[str, Answers]


def gather(plans: Sequence[AuditPlan], run: Run) -> Gathered:
    """Search and ask, or take from the run what it knows."""
    progress, examples = plans[0].request.progress, plans[0].data.examples
    found = [[_searched(plan, one, run) for one in plan.capabilities] for plan in plans]
    answers = {
        model.name: answer_all(model, examples, _sets_for(model, plans, found), run, progress)
        for model in models_of(plans)
    }
    return Gathered(found, answers)


def _sets_for(
    model: NamedModel, plans: Sequence[AuditPlan], found: Sequence[Sequence[Searched]]
) -> list[PerturbationSet]:
    """What was searched on every reference that the model is compared with, or is."""
    concerned = [own for plan, own in zip(plans, found, strict=True) if model.name in plan.names]
    return [one for own in concerned for kinds in own for one in kinds]


def _searched(plan: AuditPlan, chosen: ChosenCapability, run: Run) -> Searched:
    """Search the kept pairs of a capability and draw its random candidates."""
    search = PairSearch(
        capability=chosen.capability,
        reference=CachedClassifier(plan.models.reference.model, run),
        examples=plan.searched,
        options=plan.options,
        run=run,
        progress=plan.request.progress,
        kept_as=plan.kept_as(chosen),
        shown_as=plan.shown_as(chosen),
    )
    kept = search.kept()
    if not plan.options.candidates:
        return Searched(kept, NO_CANDIDATES)
    return Searched(kept, replace(search, examples=plan.changed).random(kept))
