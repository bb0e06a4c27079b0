"""One example and its perturbation, with every model's predictions."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass

from reports.view import wording
from reports.view.words import Segment, mark_changes
from scope.records import Prediction, ScoredExample, ScoredPerturbation

MAX_COLUMNS = 5
"""With more labels than this, a pair shows only those that were predicted or are gold."""


@dataclass(frozen=True, kw_only=True)
class ModelRow:
    """One model's predictions before and after; ``distance`` is empty for the reference.

    ``kept`` says that the label is the same; ``verdict`` is what follows for the invariance.
    """

    name: str
    before: str
    after: str
    shifts: tuple[tuple[str, str], ...]
    kept: bool
    verdict: str
    truncated: bool
    distance: str


@dataclass(frozen=True, kw_only=True)
class Pair:
    """An example beside its perturbation.

    ``lost`` holds the places of the targets that lost the reference's invariance. ``distance``
    is the largest distance between the shift of the reference and that of a target.
    """

    capability: str
    example_id: str
    trial: int
    gold: str | None
    invariant: bool
    lost: tuple[int, ...]
    distance: float
    score: float | None
    score_text: str
    columns: tuple[str, ...]
    hidden_labels: int
    original: tuple[Segment, ...]
    perturbed: tuple[Segment, ...]
    rows: tuple[ModelRow, ...]


def lost_targets(before: ScoredExample, after: ScoredPerturbation) -> tuple[int, ...]:
    """Places of the targets whose label changes while the reference's stays."""
    if after.reference is None or after.reference.choice != before.reference.choice:
        return ()
    both = zip(before.targets, after.targets, strict=True)
    return tuple(place for place, (old, new) in enumerate(both) if old.choice != new.choice)


def shift_distance(
    reference: tuple[Prediction, Prediction], target: tuple[Prediction, Prediction]
) -> float:
    """L1 distance between two models' shifts from the first prediction to the second.

    >>> half, sure = Prediction(probabilities=(0.5, 0.5)), Prediction(probabilities=(1.0, 0.0))
    >>> shift_distance((half, half), (half, sure))
    1.0
    """
    answers = [_shares(prediction) for prediction in (*reference, *target)]
    labels = dict.fromkeys(label for answer in answers for label in answer)
    old, new, target_old, target_new = answers
    return sum(
        abs(_shift(old, new, label) - _shift(target_old, target_new, label)) for label in labels
    )


def _shares(prediction: Prediction) -> dict[int | str | None, float]:
    """Probabilities by label or, of a language model, by token; under None those of all others."""
    if not prediction.tokens:
        return dict(enumerate(prediction.probabilities))
    named = zip(prediction.tokens, prediction.probabilities, strict=True)
    return {**dict(named), None: max(0.0, 1 - sum(prediction.probabilities))}


def _shift(
    before: Mapping[int | str | None, float],
    after: Mapping[int | str | None, float],
    label: int | str | None,
) -> float:
    return after.get(label, 0.0) - before.get(label, 0.0)


def pair(
    before: ScoredExample,
    after: ScoredPerturbation,
    *,
    names: tuple[str, ...],
    labels: tuple[str, ...],
) -> Pair | None:
    """Set an example beside its perturbation; None where the search found nothing.

    ``names`` are the models, the reference first; ``labels`` are the reference's.
    """
    example, perturbation = before.example, after.perturbation
    if perturbation.text is None or after.reference is None:
        return None
    targets = zip(before.targets, after.targets, strict=True)
    models = [(before.reference, after.reference), *targets]
    spelled = _spelled(labels, models)
    shown = _shown_labels(spelled, example.label, models)
    marked = mark_changes(example.text, perturbation.text)
    rows = _rows(names, models, spelled, shown)
    return Pair(
        capability=after.capability,
        example_id=example.id,
        trial=perturbation.trial,
        gold=example.label,
        invariant=rows[0].kept,
        lost=lost_targets(before, after),
        distance=max((shift_distance(models[0], model) for model in models[1:]), default=0.0),
        score=perturbation.score,
        score_text="none" if perturbation.score is None else wording.number(perturbation.score),
        columns=tuple(spelled[label] for label in shown),
        hidden_labels=len(spelled) - len(shown),
        original=marked.original,
        perturbed=marked.perturbed,
        rows=rows,
    )


def _spelled(
    labels: tuple[str, ...], models: list[tuple[Prediction, Prediction]]
) -> dict[int | str, str]:
    """Labels by their numbers; of language models the tokens, in quotes that show their space."""
    predictions = [prediction for model in models for prediction in model]
    tokens = dict.fromkeys(token for prediction in predictions for token in prediction.tokens)
    if tokens:
        return {token: json.dumps(token, ensure_ascii=False) for token in tokens}
    return dict(enumerate(labels))


def _shown_labels(
    spelled: Mapping[int | str, str],
    gold: str | None,
    models: list[tuple[Prediction, Prediction]],
) -> tuple[int | str, ...]:
    if len(spelled) <= MAX_COLUMNS:
        return tuple(spelled)
    predicted = {prediction.choice for model in models for prediction in model}
    return tuple(key for key, label in spelled.items() if key in predicted or label == gold)


def _rows(
    names: tuple[str, ...],
    models: list[tuple[Prediction, Prediction]],
    spelled: Mapping[int | str, str],
    shown: tuple[int | str, ...],
) -> tuple[ModelRow, ...]:
    """One row per model; the first is the reference, by which the others are judged."""
    invariant = models[0][0].choice == models[0][1].choice
    return tuple(
        ModelRow(
            name=name,
            before=spelled[before.choice],
            after=spelled[after.choice],
            shifts=_numbers(_shares(before), _shares(after), shown),
            kept=before.choice == after.choice,
            verdict=_verdict(before.choice == after.choice, invariant, reference=place == 0),
            truncated=before.truncated or after.truncated,
            distance=wording.number(shift_distance(models[0], (before, after))) if place else "",
        )
        for place, (name, (before, after)) in enumerate(zip(names, models, strict=True))
    )


def _numbers(
    before: Mapping[int | str | None, float],
    after: Mapping[int | str | None, float],
    shown: tuple[int | str, ...],
) -> tuple[tuple[str, str], ...]:
    return tuple(
        (wording.number(before.get(label, 0.0)), wording.number(after.get(label, 0.0)))
        for label in shown
    )


def _verdict(kept: bool, invariant: bool, *, reference: bool) -> str:
    """What a model's keeping its label means, given whether the reference was invariant."""
    if reference:
        return "invariant" if kept else "not invariant"
    if not invariant:
        return "not counted"
    return "kept" if kept else "lost"
