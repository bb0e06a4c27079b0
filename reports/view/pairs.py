"""One example and its perturbation, with what every model says of both."""

from __future__ import annotations

from dataclasses import dataclass

from reports.view import wording
from reports.view.words import Segment, mark_changes
from scope.records import Prediction, ScoredExample, ScoredPerturbation

MAX_COLUMNS = 5
"""With more labels than this, a pair shows only those that were predicted or are gold."""


@dataclass(frozen=True, kw_only=True)
class ModelRow:
    """What one model says before and after; ``distance`` is empty for the reference.

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
    if after.reference is None or after.reference.label != before.reference.label:
        return ()
    both = zip(before.targets, after.targets, strict=True)
    return tuple(place for place, (old, new) in enumerate(both) if old.label != new.label)


def shift_distance(
    reference: tuple[Prediction, Prediction], target: tuple[Prediction, Prediction]
) -> float:
    """L1 distance between two models' shifts from the first prediction to the second.

    >>> half, sure = Prediction(probabilities=(0.5, 0.5)), Prediction(probabilities=(1.0, 0.0))
    >>> shift_distance((half, half), (half, sure))
    1.0
    """
    return sum(
        abs(first - second)
        for first, second in zip(_shift(*reference), _shift(*target), strict=True)
    )


def _shift(before: Prediction, after: Prediction) -> tuple[float, ...]:
    both = zip(before.probabilities, after.probabilities, strict=True)
    return tuple(new - old for old, new in both)


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
    shown = _shown_labels(labels, example.label, models)
    marked = mark_changes(example.text, perturbation.text)
    rows = _rows(names, models, labels, shown)
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
        columns=tuple(labels[place] for place in shown),
        hidden_labels=len(labels) - len(shown),
        original=marked.original,
        perturbed=marked.perturbed,
        rows=rows,
    )


def _shown_labels(
    labels: tuple[str, ...], gold: str | None, models: list[tuple[Prediction, Prediction]]
) -> tuple[int, ...]:
    if len(labels) <= MAX_COLUMNS:
        return tuple(range(len(labels)))
    predicted = {prediction.label for model in models for prediction in model}
    return tuple(i for i, label in enumerate(labels) if i in predicted or label == gold)


def _rows(
    names: tuple[str, ...],
    models: list[tuple[Prediction, Prediction]],
    labels: tuple[str, ...],
    shown: tuple[int, ...],
) -> tuple[ModelRow, ...]:
    """One row a model; the first is the reference, by which the others are judged."""
    invariant = models[0][0].label == models[0][1].label
    return tuple(
        ModelRow(
            name=name,
            before=labels[before.label],
            after=labels[after.label],
            shifts=tuple(
                (wording.number(before.probabilities[i]), wording.number(after.probabilities[i]))
                for i in shown
            ),
            kept=before.label == after.label,
            verdict=_verdict(before.label == after.label, invariant, reference=place == 0),
            truncated=before.truncated or after.truncated,
            distance=wording.number(shift_distance(models[0], (before, after))) if place else "",
        )
        for place, (name, (before, after)) in enumerate(zip(names, models, strict=True))
    )


def _verdict(kept: bool, invariant: bool, *, reference: bool) -> str:
    """What a model's keeping its label means, given whether the reference was invariant."""
    if reference:
        return "invariant" if kept else "not invariant"
    if not invariant:
        return "not counted"
    return "kept" if kept else "lost"
