"""Inference of every model on the original and the changed texts."""

from __future__ import annotations

from collections.abc import Sequence

from scope.errors import ModelError
from scope.jobs.identity import NamedModel
from scope.jobs.perturbing import PerturbationSet
from scope.models.cached import CachedClassifier
from scope.models.saved import MissingPredictionsError
from scope.protocols import Progress
from scope.records import Example, Prediction, ScoredExample, ScoredPerturbation
from scope.store import Run

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


def answer_texts(model: NamedModel, texts: Sequence[str], run: Run, progress: Progress) -> Answers:
    """One model's answers to these texts, each asked for once.

    Raises
    ------
    ModelError
        When saved predictions lack texts; the run's folder then holds a file of them.
    """
    texts = list(dict.fromkeys(texts))
    if model.saved:
        return _look_up(model, texts, run)
    classifier = CachedClassifier(model.model, run)
    known = classifier.count_known(texts)
    with progress.task(f"{model.name}: answering", len(texts), known) as advance:
        return dict(zip(texts, classifier.classify(texts, advance), strict=True))


def _look_up(model: NamedModel, texts: Sequence[str], run: Run) -> Answers:
    try:
        return dict(zip(texts, model.model.classify(texts), strict=True))
    except MissingPredictionsError as error:
        path = run.write_texts(model.name, error.texts)
        raise ModelError(
            error.found,
            expected=error.expected,
            fix=f"run the model on the texts in {path}, add the "
            "rows to its file, and run the same command again",
        ) from error


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
