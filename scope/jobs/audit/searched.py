"""What is searched on the references of an audit, and answered by its models."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from scope.answers import CachedClassifier, Run, answer_texts
from scope.jobs.audit.plan import AuditPlan, models_of
from scope.jobs.identity import NamedModel
from scope.jobs.perturbing import NO_CANDIDATES, PairSearch, PerturbationSet
from scope.jobs.preparation import ChosenCapability
from scope.protocols import Progress
from scope.records import Example, Prediction, ScoredExample, ScoredPerturbation

Answers = dict[str, Prediction]
"""One model's predictions, by text."""


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


def answer_all(
    model: NamedModel,
    examples: Sequence[Example],
    sets: Sequence[PerturbationSet],
    run: Run,
    progress: Progress,
) -> Answers:
    """One model's answers to all original and all changed texts.

    Raises
    ------
    ModelError
        When saved predictions lack texts; the run's folder then holds a file of them.
    """
    originals = [example.text for example in examples]
    changed = [one.text for found in sets for one in found.perturbations if one.text is not None]
    return answer_texts(model, originals + changed, run, progress)


def score_examples(
    examples: Sequence[Example], reference: Answers, targets: Sequence[Answers]
) -> tuple[ScoredExample, ...]:
    """Each original text with the answers to it."""
    return tuple(
        ScoredExample(
            example=example,
            reference=reference[example.text],
            targets=tuple(known[example.text] for known in targets),
        )
        for example in examples
    )


def score_perturbations(
    sets: Sequence[PerturbationSet], reference: Answers, targets: Sequence[Answers]
) -> tuple[ScoredPerturbation, ...]:
    """Each changed text with the answers to it; none where the search failed."""
    return tuple(
        ScoredPerturbation(
            capability=found.outcome.capability,
            perturbation=one,
            reference=None if one.text is None else reference[one.text],
            targets=() if one.text is None else tuple(known[one.text] for known in targets),
        )
        for found in sets
        for one in found.perturbations
    )
