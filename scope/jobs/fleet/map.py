"""The models of a fleet in a result: skill, position on the map, nearest models, communities.

Similar models: nearest neighbours, a map in two dimensions, and communities.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import combinations_with_replacement
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from scope.answers import Run
from scope.core.request import as_function
from scope.errors import counted
from scope.jobs.configuration import manifest_of
from scope.jobs.fleet.forecaster import Forecaster, VectorForecaster, accuracies, factorize
from scope.jobs.fleet.matrix import (
    CorrectnessMatrix,
    digest_by_model,
    load_answers,
    read_communities,
    require_known,
)
from scope.jobs.fleet.questions import Answers
from scope.jobs.fleet.requests import MapRequest
from scope.jobs.fleet.stored_fleet import Fleet, open_fleet
from scope.jobs.fleet.text_factors import MOST_DIMENSIONS
from scope.jobs.runner import Prepared, run_job
from scope.protocols import Encoder
from scope.records import (
    CommunityDistance,
    Estimate,
    FleetModel,
    Manifest,
    MapResult,
    Neighbour,
    Setting,
    Undefined,
)
from scope.records.fleet import FEW_MODELS
from scope.statistics.intervals import (
    LEVEL,
    jackknife_half,
    normal_quantile,
    one_numpy_thread,
    wilson,
)
from scope.statistics.paired import benjamini_hochberg

FROM_ANSWERS = "factors of the answers"
"""The name in results for vectors of the answers."""

NO_ENCODER = "none"
"""The name of the encoder in results if no text is used."""


class MappedModels(NamedTuple):
    """Models with their skills and vectors, and a note on the vectors' origin.

    ``counts`` are the fields on the matrix and the forecaster that every result has.
    """

    models: Sequence[str]
    skills: Sequence[Estimate | Undefined]
    vectors: NDArray[np.floating]
    note: str
    counts: Mapping[str, Any]
    added: Sequence[str] = ()


def models_of_fleet(
    fleet: Fleet, answers: Answers | None = None, conflicts: int = 0
) -> MappedModels:
    """The models of a fitted fleet, and the answers that it was fitted on if these are known."""
    vectors, note = place_models(fleet.forecaster, answers)
    skills = skill_estimates(fleet.skills, fleet.answered)
    counts = counts_of_fleet(fleet, conflicts)
    return MappedModels(fleet.models, skills, vectors, note, counts, fleet.added)


def models_of_answers(matrix: CorrectnessMatrix) -> MappedModels:
    """The models of a response matrix."""
    answered = (~np.isnan(matrix.correct)).sum(axis=0)
    return MappedModels(
        matrix.models,
        skill_estimates(accuracies(matrix.correct), answered),
        answer_vectors(matrix.correct),
        "the map shows vectors of the answers; it uses no texts",
        counts_of_answers(matrix, None),
    )


def place_models(
    forecaster: Forecaster, answers: Answers | None = None
) -> tuple[NDArray[np.floating], str]:
    """A forecaster's vectors of the models, or vectors of the answers if it has none; and a note.

    The squared distance between a forecaster's vectors is that of its forecasts: a dimension
    without influence on forecasts has none on distances. Nearest neighbours have no vectors of
    models, and means have one number per model. The vectors of the answers from
    `scope.jobs.fleet.forecaster`, which uses no texts, replace them.
    """
    name = forecaster.short_name
    places = forecaster.places_ if isinstance(forecaster, VectorForecaster) else None
    if places is not None and places.shape[1] > 1:
        return places, f"the map shows the models' vectors of {name}"
    known = getattr(forecaster, "answers_", answers)
    if known is not None:
        note = f"the map shows vectors of the answers, because {name} has no vectors of models"
        return answer_vectors(known), note
    return np.asarray(places), f"the map is a line, because {name} has one number per model"


def answer_vectors(answers: Answers) -> NDArray[np.float32]:
    """Each model's skill, and its coordinates from a factorization of the answers."""
    factors = factorize(answers, min(MOST_DIMENSIONS, answers.shape[1]))
    return np.column_stack([factors.skills, factors.model_vectors])


def describe_models(
    mapped: MappedModels, communities: Mapping[str, str] | None = None
) -> tuple[tuple[FleetModel, ...], str]:
    """All models in their order, and a note on the variance that the map shows."""
    places, shown = model_map(mapped.vectors)
    labels = communities or {}
    near = nearest_models(mapped.vectors, mapped.models)
    rows = zip(mapped.models, mapped.skills, places.tolist(), near, strict=True)
    listed = tuple(
        FleetModel(
            name=name,
            skill=skill,
            x=x,
            y=y,
            community=labels.get(name),
            nearest=nearest,
            added=name in mapped.added,
        )
        for name, skill, (x, y), nearest in rows
    )
    if isinstance(shown, Undefined):
        return listed, f"the map is undefined: {shown.reason}"
    return listed, (
        f"the map shows {100 * shown:.0f} % of the variance between the models: models near on it "
        "may be unlike, so go by the numbers"
    )


def counts_of_answers(matrix: CorrectnessMatrix, encoder: Encoder | None) -> dict[str, Any]:
    """The matrix, forecaster and encoder of a result on vectors of the answers."""
    return {
        "questions": len(matrix.ids),
        "models": len(matrix.models),
        "answers": matrix.n_answers,
        "conflicts": matrix.conflicts,
        "forecaster": FROM_ANSWERS,
        "encoder": encoder.spec if encoder else NO_ENCODER,
    }


def counts_of_fleet(fleet: Fleet, conflicts: int) -> dict[str, Any]:
    """The matrix, forecaster and encoder of a result on a fitted fleet."""
    return {
        "questions": len(fleet.ids),
        "models": len(fleet.models),
        "answers": int(fleet.answered.sum()),
        "conflicts": conflicts,
        "forecaster": fleet.forecaster.spelling,
        "encoder": fleet.encoder or NO_ENCODER,
    }


def skill_estimates(
    skills: NDArray[np.float32], answered: NDArray[np.int64]
) -> tuple[Estimate | Undefined, ...]:
    """Each model's accuracy on its known answers, of which ``answered`` counts them."""
    return tuple(map(skill_estimate, skills.tolist(), answered.tolist()))


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
        method="Wilson",
    )


def run_map_fleet(request: MapRequest) -> MapResult:
    """Compute the map, or continue the run."""
    return run_job(request, prepare_map)


map_fleet = as_function(MapRequest, run_map_fleet)


def prepare_map(request: MapRequest) -> Prepared[MapResult]:
    """Read the fleet or the answers, and the communities."""
    labels: Mapping[str, str] = {}
    if isinstance(request.communities, Mapping):
        labels = request.communities
        # A mapping has no path for the reproduce command.
        request = replace(request, communities=None)
    elif request.communities is not None:
        labels = read_communities(request.communities)
    settings: dict[str, Setting] = {"seed": request.seed, "communities": digest_by_model(labels)}
    if request.fleet is None:
        matrix, card = load_answers(request.data, request)
        mapped, notes, cards = models_of_answers(matrix), matrix.notes, [card]
        require_known(labels, matrix.models, "--communities")
    else:
        fleet, settings["fleet"], cards = open_fleet(request, request.fleet)
        mapped, notes = models_of_fleet(fleet), ()
        require_known(labels, fleet.models, "--communities")
    manifest = manifest_of("fleet map", request, settings, data=cards)
    compute = partial(_compute, request, labels, mapped, notes, manifest)
    return Prepared(manifest, compute, trains_models=True)


def _compute(
    request: MapRequest,
    labels: Mapping[str, str],
    mapped: MappedModels,
    notes: Sequence[str],
    manifest: Manifest,
    _: Run,
) -> MapResult:
    listed, shown = describe_models(mapped, labels)
    return MapResult(
        manifest=manifest,
        **mapped.counts,
        fleet=listed,
        communities=community_distances(mapped.vectors, mapped.models, labels, seed=request.seed),
        notes=(*notes, mapped.note, shown),
    )


def nearest_models(
    vectors: NDArray[np.floating], models: Sequence[str], *, count: int = 5
) -> tuple[tuple[Neighbour, ...], ...]:
    """The models nearest to each model, nearest first; equal distances are sorted by name.

    Distances are Euclidean; coordinates are not scaled.

    Parameters
    ----------
    vectors
        Shape (models, dimensions).
    models
        Names of the models.
    count
        Number of neighbours per model; all other models if there are fewer.

    Examples
    --------
    >>> vectors = np.array([[0.0, 0.0], [3.0, 4.0], [3.0, 5.0]])
    >>> for (nearest,) in nearest_models(vectors, ["a", "b", "c"], count=1):
    ...     print(nearest.model, nearest.distance)
    b 5.0
    c 1.0
    b 1.0
    """
    by_name = sorted(range(len(models)), key=lambda column: models[column])
    others = np.asarray(vectors, dtype=np.float64)[by_name]
    neighbours: list[tuple[Neighbour, ...]] = [()] * len(models)
    for rank, row in enumerate(by_name):
        distances = np.linalg.norm(others - others[rank], axis=1)
        nearest = np.argsort(distances, kind="stable").tolist()
        # A model is not its own neighbour, even if another has the same vector.
        nearest.remove(rank)
        neighbours[row] = tuple(
            Neighbour(model=models[by_name[other]], distance=float(distances[other]))
            for other in nearest[:count]
        )
    return tuple(neighbours)


class ModelMap(NamedTuple):
    """The position of each model on a map, and the share of variance that the map shows.

    ``places`` has the shape (models, 2). ``shown`` is the share, from 0 to 1, of the variance of
    the vectors in the two directions of the map; models that are close on the map may differ in the
    rest.
    """

    places: NDArray[np.float64]
    shown: float | Undefined


def model_map(vectors: NDArray[np.floating]) -> ModelMap:
    """Project the vectors on the two directions in which they differ most (principal components).

    The vectors are not scaled. A coordinate with more variance has more weight, which is correct if
    all coordinates have one unit, such as a skill and its deviations, both shares of right answers;
    otherwise, scale the vectors before. Lengths on the map are in the unit of the vectors, and
    never exceed the distance between the vectors. The coordinate with the greatest weight in a
    direction is positive, so the same vectors give the same map, for any order of the models.

    Parameters
    ----------
    vectors
        Shape (models, dimensions).

    Examples
    --------
    >>> drawn = model_map(np.array([[0.0, 1.0, 0.0], [4.0, 1.0, 0.0], [2.0, 1.0, 0.0]]))
    >>> drawn.places.round(6).tolist(), drawn.shown
    ([[-2.0, 0.0], [2.0, 0.0], [0.0, 0.0]], 1.0)
    """
    points = np.asarray(vectors, dtype=np.float64)
    centred = points - points.mean(axis=0)
    with one_numpy_thread():
        _, strengths, directions = np.linalg.svd(centred, full_matrices=False)
        axes = directions[:2]
        heaviest = np.abs(axes).argmax(axis=1)
        axes = axes * np.where(axes[np.arange(len(axes)), heaviest] < 0, -1.0, 1.0)[:, np.newaxis]
        places = np.zeros((len(points), 2))
        places[:, : len(axes)] = centred @ axes.T
    if not np.ptp(points, axis=0).any():
        return ModelMap(np.zeros_like(places), Undefined(reason="all vectors are equal"))
    return ModelMap(places, float((strengths[:2] ** 2).sum() / (strengths**2).sum()))


Distances = NDArray[np.float64]
"""Shape (models, models) or a part of it: Euclidean distances."""

ROUNDING = 1e-9
"""Distances with a smaller difference, relative to the mean distance, count as equal."""


def community_distances(
    vectors: NDArray[np.floating],
    models: Sequence[str],
    labels: Mapping[str, str],
    *,
    resamples: int | None = None,
    seed: int = 0,
) -> tuple[CommunityDistance, ...]:
    """The mean distance within each community and between every two of them.

    The statistic of a community of n models is their mean distance to each other minus that to all
    other models. ``p_value`` is (k + 1) / (resamples + 1), where the statistic of k random samples
    of n models of the fleet is as small or smaller. It requires `FEW_MODELS`; an interval requires
    3 models within a community, or 2 in each of two. A model may belong to several communities:
    common models of two communities do not count between them. ``p_adjusted`` is Benjamini and
    Hochberg's correction over all communities with a p-value.

    Parameters
    ----------
    vectors
        Shape (models, dimensions).
    models
        Names of the models.
    labels
        The community of each model by its name, several separated by semicolons; a model without a
        community is sampled like any other.
    resamples
        The number of random communities; 999, or 100 for each community tested if that is more.
    seed
        Random seed of the samples.

    Returns
    -------
    tuple of CommunityDistance
        Every two communities in alphabetical order, each also with itself.

    Examples
    --------
    >>> vectors = np.array([[0.0], [1.0], [2.0], [9.0]])
    >>> labels = {"a": "near", "b": "near", "c": "near", "d": "far"}
    >>> for row in community_distances(vectors, ["a", "b", "c", "d"], labels):
    ...     print(row.first, row.second, row.pairs, row.distance)
    far far 0 undefined (1 model of far: 3 are needed)
    far near 3 undefined (1 model of far: 2 are needed)
    near near 3 1.333 [0.000, 4.202]
    """
    from scipy.spatial.distance import cdist

    places = np.asarray(vectors, dtype=np.float64)
    distances = cdist(places, places)
    members = _members(models, labels)
    tests = sum(len(rows) >= FEW_MODELS for rows in members.values())
    resamples = resamples or max(999, 100 * tests)
    pairs = [
        _within(first, members[first], distances, resamples, seed)
        if first == second
        else _between(first, second, distances, members)
        for first, second in combinations_with_replacement(sorted(members), 2)
    ]
    adjusted = iter(benjamini_hochberg([x.p_value for x in pairs if x.p_value is not None]))
    return tuple(
        pair if pair.p_value is None else replace(pair, p_adjusted=next(adjusted)) for pair in pairs
    )


def _members(models: Sequence[str], labels: Mapping[str, str]) -> dict[str, list[int]]:
    """The rows of each community's models."""
    members: dict[str, list[int]] = {}
    for row, model in enumerate(models):
        names = labels.get(model, "").split(";")
        for name in dict.fromkeys(name.strip() for name in names if name.strip()):
            members.setdefault(name, []).append(row)
    return members


def _within(
    name: str, rows: list[int], distances: Distances, resamples: int, seed: int
) -> CommunityDistance:
    size, inside = len(rows), distances[np.ix_(rows, rows)]
    distance: Estimate | Undefined = _too_few(name, size, needed=3)
    if size >= 3:
        total = inside.sum()
        without = (total - 2 * inside.sum(axis=1)) / ((size - 1) * (size - 2))
        distance = _mean_distance(float(total / (size * (size - 1))), without)
    return CommunityDistance(
        first=name,
        second=name,
        pairs=size * (size - 1) // 2,
        distance=distance,
        p_value=None if size < FEW_MODELS else _nearness(rows, distances, resamples, seed),
    )


def _nearness(rows: list[int], distances: Distances, resamples: int, seed: int) -> float:
    """The p-value of `_within_less`, by random samples of the same number of models."""
    # Seeded by the size alone, so that a further community does not change these samples.
    generator = np.random.default_rng([seed, len(rows)])
    limit, nearer = _within_less(distances, rows) + ROUNDING * distances.mean(), 0
    for _ in range(resamples):
        drawn = generator.permutation(len(distances))[: len(rows)].tolist()
        nearer += int(_within_less(distances, drawn) <= limit)
    return (nearer + 1) / (resamples + 1)


def _within_less(distances: Distances, rows: list[int]) -> float:
    """The mean distance of some models to each other, minus that to all others."""
    inside, size = float(distances[np.ix_(rows, rows)].sum()), len(rows)
    outside, others = float(distances[rows].sum()) - inside, len(distances) - size
    return inside / (size * (size - 1)) - outside / (size * max(others, 1))


def _between(
    first: str, second: str, distances: Distances, members: Mapping[str, list[int]]
) -> CommunityDistance:
    both = {*members[first]} & {*members[second]}
    apart = ([row for row in members[name] if row not in both] for name in (first, second))
    across = distances[np.ix_(*apart)]
    of_first, of_second = across.shape
    few, size = (first, of_first) if of_first < 2 else (second, of_second)
    if size < 2:
        distance: Estimate | Undefined = _too_few(few, size, needed=2)
    else:
        total = across.sum()
        without_first = (total - across.sum(axis=1)) / ((of_first - 1) * of_second)
        without_second = (total - across.sum(axis=0)) / (of_first * (of_second - 1))
        distance = _mean_distance(float(across.mean()), without_first, without_second)
    return CommunityDistance(
        first=first, second=second, pairs=of_first * of_second, distance=distance
    )


def _mean_distance(value: float, *without: Distances) -> Estimate:
    """A mean distance, from those without each model of each community."""
    half = float(jackknife_half(*without))
    return Estimate(
        value=value,
        low=max(0.0, value - half),
        high=value + half,
        n=sum(map(len, without)),
        method="jackknife over models",
    )


def _too_few(name: str, size: int, *, needed: int) -> Undefined:
    return Undefined(reason=f"{counted(size, 'model')} of {name}: {needed} are needed", n=size)
