"""A fitted fleet as a folder: saved, opened again, and extended by new models."""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar, Final, Literal

import numpy as np
from numpy.typing import NDArray

from scope.errors import DataError, RunError, SpecError, counted, listed
from scope.jobs.fleet.forecaster import (
    Forecaster,
    MeanForecaster,
    NeighbourForecaster,
    VectorForecaster,
)
from scope.jobs.fleet.matrix import MOST_NAMED, CorrectnessMatrix, load_questions
from scope.jobs.fleet.matrix_factorization import MatrixFactorization
from scope.jobs.fleet.questions import WHOLE, QuestionLayout, text_digest
from scope.jobs.fleet.requests import FleetOrAnswers
from scope.jobs.fleet.text_factors import TextFactors
from scope.records import DataCard
from scope.store.files import SavedParts, Scalar, digest_of, open_atomically, plain_parameters
from scope.store.folder import run_folder

NUMBERS, DESCRIPTION = "embedder.safetensors", "embedder.json"

FILES = SavedParts(
    numbers=NUMBERS,
    description=DESCRIPTION,
    origin="`scope fleet embed`",
    first="embed a fleet first",
    again="embed the fleet again",
)


FORMAT: Literal[2] = 2
"""The version of the format; it changes if older releases cannot read the new files."""

_KINDS = (MeanForecaster, NeighbourForecaster, TextFactors, MatrixFactorization)
FORECASTERS: Final[Mapping[str, type[Forecaster]]] = {kind.short_name: kind for kind in _KINDS}
"""All forecasters by name, for fitting and reading: a file can name no other code."""

_WIDEST = 1_000_000
"""More columns than any encoder has."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Fleet:
    """A fitted forecaster with the names of its models and questions.

    ``models`` are its columns, the ``added`` ones last; ``skills`` and ``answered``, shape
    (models,), are each model's accuracy and number of known answers. ``ids`` and ``texts_digest``
    identify the fitted questions, in the order of the rows. ``encoder`` is the spec of the encoder
    of their vectors, whose fingerprint is in the forecaster's layout.
    """

    forecaster: Forecaster
    models: tuple[str, ...]
    skills: NDArray[np.float32]
    answered: NDArray[np.int64]
    ids: tuple[str, ...]
    texts_digest: tuple[str, ...]
    encoder: str
    added: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class _Description:
    """The content of the JSON file."""

    __pydantic_config__: ClassVar[dict[str, object]] = {"extra": "forbid", "allow_inf_nan": False}
    format: Literal[2]
    forecaster: str
    parameters: dict[str, Scalar | tuple[Scalar, ...]]
    layout: QuestionLayout
    models: tuple[str, ...]
    added: tuple[str, ...]
    ids: tuple[str, ...]
    texts_digest: tuple[str, ...]
    encoder: str
    sha256: str


def save_fleet(fleet: Fleet, folder: Path) -> None:
    """Write a fleet into a folder, which is created if it does not exist.

    Each of the two files is replaced atomically, and the JSON has the digest of the other file:
    loading detects if the process was killed between the two.

    Raises
    ------
    RunError
        When the folder cannot be written.
    """
    forecaster = fleet.forecaster
    numbers = {f"forecaster.{name}": array for name, array in forecaster.state_arrays().items()}
    numbers |= _counts(fleet)
    parameters = forecaster.get_params(deep=False)
    del parameters["layout"]
    description = _Description(
        format=FORMAT,
        forecaster=forecaster.short_name,
        parameters=plain_parameters(parameters),
        layout=forecaster.layout,
        sha256=FILES.write(folder, numbers),
        **_names(fleet),
    )
    FILES.describe(folder, description)


def load_fleet(folder: Path) -> Fleet:
    """Read a fleet that `save_fleet` wrote; its forecasts are byte-identical.

    Raises
    ------
    RunError
        When there is no fleet, or its files are damaged, changed, or of another format.
    """
    description = FILES.described(folder, _Description, FORMAT)
    if description.forecaster not in FORECASTERS:
        raise RunError(
            f"`{folder / DESCRIPTION}` holds a forecaster `{description.forecaster}`",
            expected=f"one of {', '.join(FORECASTERS)}",
            fix="read it with the release of SCoPE that wrote it",
        )
    numbers = FILES.read(folder, description.sha256)
    with FILES.restoring(folder):
        forecaster = FORECASTERS[description.forecaster](
            layout=description.layout, **description.parameters
        )
        forecaster.check_parameters()
        forecaster.restore({name: numbers[f"forecaster.{name}"] for name in forecaster.state})
        skills, answered = numbers["fleet.skills"], numbers["fleet.answered"]
        models = {len(description.models), len(skills), len(answered), len(forecaster.skills_)}
        if len(models) > 1 or len(description.ids) != len(description.texts_digest):
            raise ValueError("models or questions differ in number")
        if not 0 <= description.layout.vector <= _WIDEST:
            raise ValueError(f"a layout with vectors of {description.layout.vector} numbers")
        forecaster.predict_proba(np.zeros((1, forecaster.layout.width), dtype=np.float32))
        names = _names(description)
        return Fleet(forecaster=forecaster, skills=skills, answered=answered, **names)


FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""First characters of a cell that a spreadsheet would evaluate."""

_NUMBER = re.compile(r"[+-]?[\d.]+(e[+-]?\d+)?", re.IGNORECASE)


def write_table(path: Path, columns: Sequence[str], rows: Iterable[Sequence[str | float]]) -> None:
    """Write rows as CSV atomically; numbers have six decimals.

    A name that a spreadsheet would evaluate as a formula is prefixed with an apostrophe, because
    names are untrusted.
    """
    with open_atomically(path) as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows([file_cell(value) for value in row] for row in rows)


def file_cell(value: str | float) -> str:
    """A name or a number as it is written to the file.

    Examples
    --------
    >>> file_cell(0.25), file_cell("arc/7"), file_cell("=1+1"), file_cell("-5")
    ('0.250000', 'arc/7', "'=1+1", '-5')
    """
    if not isinstance(value, str):
        return f"{value:.6f}"
    return f"'{value}" if value.startswith(FORMULA) and not _NUMBER.fullmatch(value) else value


EMBEDDER = "embedder"
"""The folder of the fleet in a run."""

WRITTEN = (f"{EMBEDDER}/{DESCRIPTION}", f"{EMBEDDER}/{NUMBERS}")
"""The files of the fleet in a run."""

FEWEST_ANSWERS = 20
"""The fewest answers for an informative vector of a new model."""


def open_fleet(request: FleetOrAnswers, spec: str | Path) -> tuple[Fleet, str, list[DataCard]]:
    """The fleet of a run, by the run's name or path, or by the path of the fleet's own folder.

    The models of ``--add`` are added. The second value is the digest of the fleet without them,
    which is part of a run's configuration; the third are the data cards of their answers.

    Raises
    ------
    RunError
        If the run or its fleet does not exist, or its files are damaged.
    """
    fleet = load_fleet(_folder(spec, request.runs))
    digest = fleet_digest(fleet)
    if request.add is None:
        return fleet, digest, []
    answers, card = load_questions(request.add, request)
    return with_added_models(fleet, answers), digest, [card]


def fleet_digest(fleet: Fleet) -> str:
    """Sixteen hexadecimal digits of a hash of the loaded fleet.

    The files are not read again, because they may have changed since.
    """
    forecaster = fleet.forecaster
    parameters = sorted(forecaster.get_params(deep=False).items())
    numbers = forecaster.state_arrays() | _counts(fleet)
    names = tuple(_names(fleet).values())
    return digest_of((forecaster.short_name, parameters, names), numbers)


def _names(fleet: Fleet | _Description) -> dict[str, Any]:
    """What a fleet and its description hold alike."""
    names = ("models", "added", "ids", "texts_digest", "encoder")
    return {name: getattr(fleet, name) for name in names}


def _counts(fleet: Fleet) -> dict[str, NDArray[Any]]:
    return {
        "fleet.skills": np.asarray(fleet.skills, dtype=np.float32),
        "fleet.answered": np.asarray(fleet.answered, dtype=np.int64),
    }


def _folder(spec: str | Path, runs: Path) -> Path:
    path = run_folder(spec, runs)
    for folder in (path / EMBEDDER, path):
        if (folder / DESCRIPTION).exists():
            return folder
    here = sorted(file.parent.parent.name for file in runs.glob(f"*/{EMBEDDER}/{DESCRIPTION}"))
    known = f": {listed(here, MOST_NAMED)}" if here else ""
    raise RunError(
        f"`{path}` contains no fleet" if path.is_dir() else f"no run `{spec}`",
        expected=f"a finished run of `scope fleet embed`{known}",
        fix="repeat the command of a run that is not finished, or embed a fleet: "
        "scope fleet embed --data answers.csv --run NAME",
    )


def with_added_models(fleet: Fleet, answers: CorrectnessMatrix) -> Fleet:
    """The fleet with new models, from their answers to questions that it was fitted on.

    All other parameters are frozen. Questions are matched as by `matched_rows`.

    Raises
    ------
    SpecError
        If the fleet's forecaster does not support new models, or a name is taken.
    DataError
        If a model has too few answers to questions of the fleet.
    """
    forecaster = fleet.forecaster
    if not isinstance(forecaster, VectorForecaster):
        raise SpecError(
            f"new models for a fleet of {forecaster.spelling}",
            expected="a forecaster with a vector for each model: factors, mf or mean",
            fix="embed the fleet again with --forecaster factors",
        )
    taken = [name for name in answers.models if name in fleet.models]
    if taken:
        raise SpecError(
            f"{counted(len(taken), 'model')} already in the fleet: {listed(taken, MOST_NAMED)}",
            expected="new models with new names",
            fix="rename or remove them",
        )
    places = matched_rows(fleet, answers)
    rows, correct = places[places >= 0], answers.correct[places >= 0]
    counts = (~np.isnan(correct)).sum(axis=0)
    _require_enough_answers(answers, counts)
    return replace(
        fleet,
        forecaster=forecaster.added(rows, correct),
        models=(*fleet.models, *answers.models),
        skills=np.concatenate([fleet.skills, np.nanmean(correct, axis=0)]).astype(np.float32),
        answered=np.concatenate([fleet.answered, counts]).astype(np.int64),
        added=(*fleet.added, *answers.models),
    )


def _require_enough_answers(answers: CorrectnessMatrix, counts: NDArray[np.int64]) -> None:
    if not answers.models:
        raise DataError(
            f"no answers of new models to {counted(len(answers.ids), 'question')}",
            expected="rows with a model, a question and whether the answer is correct",
            fix="check the columns, for example --column correct=NAME",
        )
    name, count = answers.models[int(counts.argmin())], int(counts.min())
    if count < FEWEST_ANSWERS:
        raise DataError(
            f"{counted(count, 'answer')} of `{name}` to questions that the fleet was fitted on, "
            f"among {len(answers.ids)} questions",
            expected=f"{FEWEST_ANSWERS} or more, better several hundred",
            fix="add its answers to questions of the fleet, with their ids or texts",
        )


def matched_rows(fleet: Fleet, questions: CorrectnessMatrix) -> NDArray[np.int64]:
    """The row of each question in the fleet, or -1.

    Questions match if they have the same words, or the same id if one has no text. They also match
    if their first lines are equal and only one question of the fleet has this line: the options may
    be missing, or in another order.
    """
    by_text = {digest[:WHOLE]: row for row, digest in enumerate(fleet.texts_digest)}
    lines = Counter(digest[WHOLE:] for digest in set(fleet.texts_digest))
    by_line = {
        digest[WHOLE:]: row
        for row, digest in enumerate(fleet.texts_digest)
        if lines[digest[WHOLE:]] == 1
    }
    by_id = {name: row for row, name in enumerate(fleet.ids)}
    rows = []
    for name, digest in zip(questions.ids, map(text_digest, questions.texts), strict=True):
        row = by_id.get(name, -1)
        stored = fleet.texts_digest[row] if row >= 0 else ""
        if digest and (row < 0 or stored[:WHOLE] not in ("", digest[:WHOLE])):
            of_line = by_line.get(digest[WHOLE:], -1) if digest[WHOLE:] else -1
            row = by_text.get(digest[:WHOLE], of_line)
        rows.append(row)
    return np.array(rows, dtype=np.int64)
