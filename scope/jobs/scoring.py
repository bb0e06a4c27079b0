"""Inference of every model on the original and the changed texts."""

from __future__ import annotations

from collections.abc import Sequence

from scope.answers import Run, answer_texts
from scope.jobs.identity import NamedModel
from scope.jobs.perturbing import PerturbationSet
from scope.protocols import Progress
from scope.records import Example, Prediction, ScoredExample, ScoredPerturbation

Answers = dict[str, Prediction]
"""One model's predictions, by text."""


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
