"""The models of a fleet as a result shows them: skill, position on the map, nearest models."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from scope.fleet.findings.mapping import model_map
from scope.fleet.findings.nearest import nearest_models
from scope.fleet.forecasters.factorization import factorize
from scope.fleet.forecasters.forecaster import Forecaster, VectorForecaster
from scope.fleet.forecasters.text_factors import MOST_DIMENSIONS
from scope.fleet.layout import Answers
from scope.fleet.saving import Fleet
from scope.records import Estimate, FleetModel, Undefined
from scope.statistics.clusters import normal_quantile
from scope.statistics.intervals import wilson

NEAREST = 5
"""Number of nearest models shown for each model."""

FROM_ANSWERS = "factors of the answers"
"""The name that a result gives to vectors of the answers alone."""

LEVEL = 0.95

_NOBODY: Mapping[str, str] = MappingProxyType({})


class Placed(NamedTuple):
    """The models' vectors that a map is drawn from, and a note on what they are."""

    vectors: NDArray[np.floating]
    note: str


def place_models(forecaster: Forecaster, answers: Answers | None = None) -> Placed:
    """The models' positions of a forecaster, or vectors of the answers where it has none.

    Between a forecaster's own places the squared distance is that of its forecasts: a dimension
    of the vectors that moves no forecast sets no models apart. Nearest questions give no vectors of
    models, and means one number each. The answers' own vectors then serve: those of
    `scope.fleet.forecasters.factorization`, in which no text has a part.
    """
    own = forecaster.places_ if isinstance(forecaster, VectorForecaster) else None
    if own is not None and own.shape[1] > 1:
        return Placed(own, f"the map shows the models by the vectors of {forecaster.short_name}")
    known = getattr(forecaster, "answers_", answers)
    if known is not None:
        return Placed(
            answer_vectors(known),
            "the map shows vectors of the answers themselves, for "
            f"{forecaster.short_name} has no vectors of models to draw one of",
        )
    return Placed(
        np.asarray(own), f"the map is a line, for {forecaster.short_name} has one number a model"
    )


def answer_vectors(answers: Answers) -> NDArray[np.float32]:
    """Each model's skill, and its coordinates in the dimensions in which the answers differ."""
    factors = factorize(answers, min(MOST_DIMENSIONS, answers.shape[1]))
    return np.column_stack([factors.skills, factors.model_vectors])


class DescribedModels(NamedTuple):
    """The models of a fleet, and a note on how much of their vectors the map shows."""

    members: tuple[FleetModel, ...]
    note: str


def describe_models(
    names: Sequence[str],
    skills: Sequence[Estimate | Undefined],
    vectors: NDArray[np.floating],
    *,
    communities: Mapping[str, str] = _NOBODY,
    added: Collection[str] = (),
) -> DescribedModels:
    """All models in the order of their names, and a note on their map."""
    places, shown = model_map(vectors)
    nearest = nearest_models(vectors, names, count=NEAREST)
    members = tuple(
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
    return DescribedModels(members, _variance_note(shown))


def _variance_note(shown: float | Undefined) -> str:
    if isinstance(shown, Undefined):
        return f"the map shows nothing: {shown.reason}"
    return (
        f"the map's two directions show {100 * shown:.0f} % of the variance of the models' "
        "vectors; distances and nearest models are of the whole vectors"
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
    """An accuracy with Wilson's interval: a model answers each question once.

    Examples
    --------
    >>> print(skill_estimate(0.75, 4))
    0.750 [0.301, 0.954]
    """
    if not answered:
        return Undefined(reason="no answer of it is known")
    low, high = wilson(skill, answered, normal_quantile(LEVEL))
    return Estimate(
        value=skill,
        low=max(0.0, min(low, skill)),
        high=min(1.0, max(high, skill)),
        n=answered,
        level=LEVEL,
        method="Wilson",
    )
