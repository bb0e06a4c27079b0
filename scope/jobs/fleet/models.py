"""The models of a fleet in a result: skill, position on the map, nearest models."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple, TypedDict

import numpy as np
from numpy.typing import NDArray

from scope.jobs.fleet.factorization import factorize
from scope.jobs.fleet.forecaster import Forecaster, VectorForecaster
from scope.jobs.fleet.matrix import CorrectnessMatrix
from scope.jobs.fleet.questions import Answers
from scope.jobs.fleet.similar_models import model_map, nearest_models
from scope.jobs.fleet.stored_fleet import Fleet
from scope.jobs.fleet.text_factors import MOST_DIMENSIONS
from scope.records import Estimate, FleetModel, Undefined
from scope.statistics.intervals import normal_quantile, wilson

NEAREST = 5
"""Number of nearest models shown for each model."""

FROM_ANSWERS = "factors of the answers"
"""The name in results for vectors of the answers."""

NO_ENCODER = "none"
"""The name of the encoder in results if no text is used."""

LEVEL = 0.95

_NOBODY: Mapping[str, str] = MappingProxyType({})


class Placed(NamedTuple):
    """The models' vectors for a map, and a note on their origin."""

    vectors: NDArray[np.floating]
    note: str


def place_models(forecaster: Forecaster, answers: Answers | None = None) -> Placed:
    """A forecaster's vectors of the models, or vectors of the answers if it has none.

    The squared distance between a forecaster's vectors is that of its forecasts: a dimension
    without influence on forecasts has none on distances. Nearest neighbours have no vectors of
    models, and means have one number per model. The vectors of the answers from
    `scope.jobs.fleet.factorization`, which uses no texts, replace them.
    """
    own = forecaster.places_ if isinstance(forecaster, VectorForecaster) else None
    if own is not None and own.shape[1] > 1:
        return Placed(own, f"the map shows the models' vectors of {forecaster.short_name}")
    known = getattr(forecaster, "answers_", answers)
    if known is not None:
        return Placed(
            answer_vectors(known),
            "the map shows vectors of the answers, because "
            f"{forecaster.short_name} has no vectors of models",
        )
    return Placed(
        np.asarray(own),
        f"the map is a line, because {forecaster.short_name} has one number per model",
    )


def answer_vectors(answers: Answers) -> NDArray[np.float32]:
    """Each model's skill, and its coordinates from a factorization of the answers."""
    factors = factorize(answers, min(MOST_DIMENSIONS, answers.shape[1]))
    return np.column_stack([factors.skills, factors.model_vectors])


class DescribedModels(NamedTuple):
    """The models of a fleet, and a note on the variance that the map shows."""

    listed: tuple[FleetModel, ...]
    note: str


def describe_models(
    names: Sequence[str],
    skills: Sequence[Estimate | Undefined],
    vectors: NDArray[np.floating],
    *,
    communities: Mapping[str, str] = _NOBODY,
    added: Collection[str] = (),
) -> DescribedModels:
    """All models in the order of the names, and a note on the map."""
    places, shown = model_map(vectors)
    nearest = nearest_models(vectors, names, count=NEAREST)
    listed = tuple(
        FleetModel(
            name=name,
            skill=skills[column],
            x=float(places[column, 0]),
            y=float(places[column, 1]),
            community=communities.get(name),
            nearest=nearest[column],
            added=name in added,
        )
        for column, name in enumerate(names)
    )
    return DescribedModels(listed, _variance_note(shown))


def _variance_note(shown: float | Undefined) -> str:
    if isinstance(shown, Undefined):
        return f"the map is undefined: {shown.reason}"
    return (
        f"the map's two dimensions explain {100 * shown:.0f} % of the variance of the models' "
        "vectors; distances and nearest models use the full vectors"
    )


class Counts(TypedDict):
    """The response matrix, the forecaster and the encoder of a result."""

    questions: int
    models: int
    answers: int
    conflicts: int
    forecaster: str
    encoder: str


def counts_of_answers(matrix: CorrectnessMatrix, encoder: str = NO_ENCODER) -> Counts:
    """The counts of a result on vectors of the answers."""
    return Counts(
        questions=len(matrix.ids),
        models=len(matrix.models),
        answers=matrix.n_answers,
        conflicts=matrix.conflicts,
        forecaster=FROM_ANSWERS,
        encoder=encoder,
    )


def counts_of_fleet(fleet: Fleet, conflicts: int = 0) -> Counts:
    """The counts of a result on a fitted fleet."""
    return Counts(
        questions=len(fleet.ids),
        models=len(fleet.models),
        answers=int(fleet.answered.sum()),
        conflicts=conflicts,
        forecaster=fleet.forecaster.spelling,
        encoder=fleet.encoder or NO_ENCODER,
    )


def skills_of_answers(answers: Answers) -> tuple[Estimate | Undefined, ...]:
    """Each model's accuracy on its known answers."""
    known = ~np.isnan(answers)
    right = np.where(known, answers, 0).sum(axis=0, dtype=np.float64)
    counts = known.sum(axis=0)
    return tuple(map(skill_estimate, (right / np.maximum(counts, 1)).tolist(), counts.tolist()))


def skills_of_fleet(fleet: Fleet) -> tuple[Estimate | Undefined, ...]:
    """Each model's accuracy on the answers that the fleet was fitted on."""
    return tuple(map(skill_estimate, fleet.skills.tolist(), fleet.answered.tolist()))


def skill_estimate(skill: float, answered: int) -> Estimate | Undefined:
    """An accuracy with Wilson's interval.

    Examples
    --------
    >>> print(skill_estimate(0.75, 4))
    0.750 [0.301, 0.954]
    """
    if not answered:
        return Undefined(reason="no known answer")
    low, high = wilson(skill, answered, normal_quantile(LEVEL))
    return Estimate(
        value=skill,
        low=max(0.0, min(low, skill)),
        high=min(1.0, max(high, skill)),
        n=answered,
        level=LEVEL,
        method="Wilson",
    )
