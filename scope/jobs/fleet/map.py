"""The map of a fleet: which models are alike, which communities, what benchmarks contribute."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from scope.errors import SpecError
from scope.fleet.findings.communities import community_distances
from scope.fleet.matrix import CorrectnessMatrix
from scope.jobs.fleet.benchmark_help import PlannedHelp, plan_help
from scope.jobs.fleet.given import listed_specs, read_answers, read_asked
from scope.jobs.fleet.labels import read_communities, require_known
from scope.jobs.fleet.marking import NO_ENCODER
from scope.jobs.fleet.members import (
    FROM_ANSWERS,
    answer_vectors,
    describe_models,
    place_models,
    skills_of_answers,
    skills_of_fleet,
)
from scope.jobs.fleet.opening import open_fleet, with_further_models
from scope.jobs.fleet.plan import FleetPlan, carry_out
from scope.jobs.frame import Surroundings
from scope.models import ModelOptions
from scope.protocols import Progress
from scope.records import Comparison, DataCard, Estimate, FleetFindings, Setting, Undefined
from scope.store import Run

FORMS = "--fleet RUN, or --data ANSWERS"


class Crowd(NamedTuple):
    """Models with their vectors, whichever way they were named, and the counts behind them."""

    models: tuple[str, ...]
    skills: tuple[Estimate | Undefined, ...]
    vectors: NDArray[np.floating]
    added: tuple[str, ...]
    questions: int
    answers: int
    conflicts: int
    forecaster: str
    encoder: str
    notes: tuple[str, ...]


def map_fleet(
    *,
    fleet: str | Path | None = None,
    add: str | None = None,
    data: str | Sequence[str] = (),
    communities: str | Path | Mapping[str, str] | None = None,
    contributions: bool = False,
    encoder: str | None = None,
    columns: Mapping[str, str] | None = None,
    seed: int = 0,
    model_options: ModelOptions | None = None,
    run: str | Path | None = None,
    runs: Path = Path("runs"),
    progress: Progress | None = None,
) -> Comparison:
    """Place all models on a map, and tell which are alike.

    Parameters
    ----------
    fleet, add
        A run of `embed_fleet`, by name or path, and answers of models that join it.
    data
        In place of a fleet: answers, of which the map is drawn without reading any text.
    communities
        The community of each model that is in one, by its name, or a table with the columns
        ``model`` and ``community``: how near are its models to each other?
    contributions
        With ``data``: what each benchmark's questions do for forecasts on each other one. This
        reads the questions' texts.
    encoder, model_options
        As for `embed_fleet`, for the contributions.
    columns, seed, run, runs, progress
        As for `embed_fleet`.

    Raises
    ------
    ScopeError
        Whatever the user can mend: see `scope.errors`.
    """
    around = Surroundings.of(model_options, run, runs, progress)
    _require_one_form(fleet, add, data, contributions=contributions, encoder=encoder)
    labels = communities if isinstance(communities, Mapping) else _read(communities)
    told: dict[str, Setting | Sequence[str]] = {
        "fleet": None if fleet is None else str(fleet),
        "add": add,
        "data": listed_specs(data) if data else (),
        "communities": None if isinstance(communities, Mapping | None) else str(communities),
        "contributions": contributions,
        "encoder": encoder,
        "column": [f"{role}={name}" for role, name in (columns or {}).items()],
        "seed": seed,
    }
    settings: dict[str, Setting] = {"seed": seed, "communities": _digest(labels)}
    help_: PlannedHelp | None = None
    if fleet is not None:
        crowd, cards, digest = _of_fleet(fleet, add, columns or {}, around)
        settings["fleet"] = digest
    else:
        matrix, card = read_answers(data, columns)
        crowd, cards = _of_answers(matrix), (card,)
        if contributions:
            help_ = plan_help(matrix, encoder, seed, around)
            settings.update(help_.settings)
    require_known(labels, crowd.models, "--communities")
    plan = FleetPlan(job="map", data=cards, settings=settings, asked=told)
    return carry_out(plan, around, partial(_find, crowd, labels, seed, help_))


def _require_one_form(
    fleet: str | Path | None,
    add: str | None,
    data: str | Sequence[str],
    *,
    contributions: bool,
    encoder: str | None,
) -> None:
    """See that a fleet or answers are named, and nothing that would do nothing.

    Raises
    ------
    SpecError
        When it is otherwise.
    """
    if (fleet is None) == (not data):
        raise SpecError(
            "neither a fleet nor answers" if fleet is None else "a fleet, and answers beside it",
            expected=FORMS,
            mend="write for example --fleet ours" if fleet is None else "leave one of them out",
        )
    idle = {
        "--add": add is not None and fleet is None,
        "--contributions": contributions and fleet is not None,
        "--encoder": encoder is not None and not contributions,
    }
    wrong = [name for name, idles in idle.items() if idles]
    if wrong:
        named = " and ".join(wrong)
        raise SpecError(
            f"{named} {'with --fleet' if fleet is not None else 'with --data'}",
            expected=f"{FORMS}; --add with --fleet, --contributions with --data, --encoder with "
            "--contributions",
            mend=f"leave {named} out",
        )


def _read(communities: str | Path | None) -> dict[str, str]:
    return {} if communities is None else read_communities(communities)


def _digest(labels: Mapping[str, str]) -> str | None:
    if not labels:
        return None
    told = json.dumps(sorted(labels.items()))
    return hashlib.sha256(told.encode()).hexdigest()[:16]


def _of_fleet(
    spec: str | Path, add: str | None, columns: Mapping[str, str], around: Surroundings
) -> tuple[Crowd, tuple[DataCard, ...], str]:
    stored = open_fleet(spec, around.runs)
    fleet = stored.fleet
    cards: tuple[DataCard, ...] = ()
    if add is not None:
        answers, card = read_asked(add, columns)
        fleet, cards = with_further_models(fleet, answers), (card,)
    placed = place_models(fleet.forecaster)
    crowd = Crowd(
        models=fleet.models,
        skills=skills_of_fleet(fleet),
        vectors=placed.vectors,
        added=fleet.added,
        questions=len(fleet.ids),
        answers=int(fleet.answered.sum()),
        conflicts=0,
        forecaster=fleet.forecaster.spelling,
        encoder=fleet.encoder or NO_ENCODER,
        notes=(placed.note,),
    )
    return crowd, cards, stored.digest


def _of_answers(matrix: CorrectnessMatrix) -> Crowd:
    return Crowd(
        models=matrix.models,
        skills=skills_of_answers(matrix.correct),
        vectors=answer_vectors(matrix.correct),
        added=(),
        questions=len(matrix.ids),
        answers=matrix.n_answers,
        conflicts=matrix.conflicts,
        forecaster=FROM_ANSWERS,
        encoder=NO_ENCODER,
        notes=(*matrix.notes, "the map shows vectors of the answers; no text was read for it"),
    )


def _find(
    crowd: Crowd, labels: Mapping[str, str], seed: int, help_: PlannedHelp | None, _: Run
) -> FleetFindings:
    members, shown = describe_models(
        crowd.models, crowd.skills, crowd.vectors, communities=labels, added=crowd.added
    )
    return FleetFindings(
        questions=crowd.questions,
        models=len(crowd.models),
        answers=crowd.answers,
        conflicts=crowd.conflicts,
        forecaster=crowd.forecaster,
        encoder=help_.encoder.spec if help_ else crowd.encoder,
        members=members,
        contributions=help_.find() if help_ else (),
        communities=community_distances(crowd.vectors, crowd.models, labels, seed=seed)
        if labels
        else (),
        notes=(*crowd.notes, shown, *(help_.notes if help_ else ())),
    )
