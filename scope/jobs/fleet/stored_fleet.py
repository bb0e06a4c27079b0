"""A fleet of an earlier run, and further models that are added to it."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from scope.errors import DataError, RunError, SpecError
from scope.fleet.forecasters.forecaster import VectorForecaster
from scope.fleet.layout import Answers
from scope.fleet.matrix import CorrectnessMatrix
from scope.fleet.saved_numbers import DESCRIPTION
from scope.fleet.saving import Fleet, load_fleet
from scope.jobs.fleet.answers import text_digest
from scope.jobs.fleet.model_tables import SHOWN
from scope.paths import expanded
from scope.printing import counted, listed
from scope.store import RunFolder, run_folder

EMBEDDER = "embedder"
"""The folder in a run that holds its fleet."""

FEWEST_ANSWERS = 20
"""With fewer answers a further model's vector is hardly informative."""


class StoredFleet(NamedTuple):
    """A fleet and its digest, which identifies it in the configuration of a run."""

    fleet: Fleet
    digest: str


def open_fleet(spec: str | Path, runs: Path) -> StoredFleet:
    """The fleet of a run, by the run's name or path, or by the path of the fleet's own folder.

    Raises
    ------
    RunError
        When there is no such run, or no fleet in it, or its files are damaged.
    """
    fleet = load_fleet(_folder(spec, runs))
    return StoredFleet(fleet, fleet_digest(fleet))


def fleet_digest(fleet: Fleet) -> str:
    """Sixteen digits that change with anything in a fleet, as it was loaded.

    Its files are not read again for it: they may hold another fleet by then.
    """
    forecaster = fleet.forecaster
    names = (fleet.models, fleet.added, fleet.ids, fleet.texts_digest, fleet.encoder)
    parameters = sorted(forecaster.get_params(deep=False).items())
    digest = hashlib.sha256(repr((forecaster.short_name, parameters, names)).encode())
    numbers = {
        **forecaster.state_arrays(),
        "fleet.skills": np.asarray(fleet.skills, dtype=np.float32),
        "fleet.answered": np.asarray(fleet.answered, dtype=np.int64),
    }
    for name, array in sorted(numbers.items()):
        digest.update(f"{name} {array.dtype.str} {array.shape}".encode())
        digest.update(array.tobytes())
    return digest.hexdigest()[:16]


def _folder(spec: str | Path, runs: Path) -> Path:
    named = isinstance(spec, str) and "/" not in spec
    path = run_folder(str(spec), runs) if named else expanded(spec)
    for folder in (path / EMBEDDER, path):
        if (folder / DESCRIPTION).exists():
            return folder
    if not path.is_dir():
        here = sorted(one.parent.parent.name for one in runs.glob(f"*/{EMBEDDER}/{DESCRIPTION}"))
        raise RunError(
            f"no run `{spec}`",
            expected=f"a run with a fleet: {listed(here, SHOWN)}"
            if here
            else "a run of `scope fleet embed`",
            fix="see `scope list runs`, or give the folder's path",
        )
    question = RunFolder(path).read_configuration() or {}
    job = question.get("job", "no job")
    begun = job == "fleet-embed"
    raise RunError(
        f"`{path}` holds no fleet: " + ("it has not finished" if begun else f"it is of {job}"),
        expected="a finished run of `scope fleet embed`",
        fix="give its command again: the run continues"
        if begun
        else "make one: scope fleet embed --data answers.csv --run NAME",
    )


def with_added_models(fleet: Fleet, answers: CorrectnessMatrix) -> Fleet:
    """The fleet with the models of a matrix, by their answers to questions that it was fitted on.

    Each gets its vector with all else frozen. Questions are matched by their id, where the text
    behind it is the same or not known, and else by their text.

    Raises
    ------
    SpecError
        When the fleet's embedder takes no further models, or has one of that name.
    DataError
        When a model has too few answers to questions of the fleet.
    """
    forecaster = fleet.forecaster
    if not isinstance(forecaster, VectorForecaster):
        raise SpecError(
            f"further models for a fleet of {forecaster.spelling}",
            expected="an embedder with a vector for each model: factors, irt, mf or mean",
            fix="learn the fleet again with --embedder factors",
        )
    if not answers.models:
        raise DataError(
            f"no answers of further models to {counted(len(answers.ids), 'question')}",
            expected="rows with a model, a question and whether the answer is right",
            fix="check the columns, such as --column correct=NAME",
        )
    taken = [name for name in answers.models if name in set(fleet.models)]
    if taken:
        raise SpecError(
            f"{counted(len(taken), 'model')} that the fleet has already: {listed(taken, SHOWN)}",
            expected="models with names of their own",
            fix="rename them, or leave them out",
        )
    rows, correct = _matched(fleet, answers)
    counts = (~np.isnan(correct)).sum(axis=0)
    _require_enough(answers, counts)
    return replace(
        fleet,
        forecaster=forecaster.added(rows, correct),
        models=(*fleet.models, *answers.models),
        skills=np.concatenate([fleet.skills, np.nanmean(correct, axis=0)]).astype(np.float32),
        answered=np.concatenate([fleet.answered, counts]).astype(np.int64),
        added=(*fleet.added, *answers.models),
    )


def _require_enough(answers: CorrectnessMatrix, counts: NDArray[np.int64]) -> None:
    for name, count in zip(answers.models, counts.tolist(), strict=True):
        if count < FEWEST_ANSWERS:
            raise DataError(
                f"{counted(count, 'answer')} of `{name}` to questions that the fleet was fitted "
                f"on, of {len(answers.ids)} given",
                expected=f"{FEWEST_ANSWERS} or more; some hundred are better",
                fix="add answers of it to questions of the fleet, with their ids or texts",
            )


def _matched(fleet: Fleet, answers: CorrectnessMatrix) -> tuple[NDArray[np.int64], Answers]:
    """The fleet's rows that were answered, and the answers to them."""
    found = matched_rows(fleet, answers)
    correct = np.flatnonzero(found >= 0)
    return found[correct], answers.correct[correct]


def matched_rows(fleet: Fleet, questions: CorrectnessMatrix) -> NDArray[np.int64]:
    """The row of each question among those that the fleet was fitted on, or -1.

    A question is the same if its text is; where either has none, if its id is.
    """
    by_text = {digest: row for row, digest in enumerate(fleet.texts_digest) if digest}
    by_id = {name: row for row, name in enumerate(fleet.ids)}
    found = []
    for name, text in zip(questions.ids, questions.texts, strict=True):
        row = by_id.get(name, -1)
        if text:
            own = fleet.texts_digest[row] if row >= 0 else ""
            same = row >= 0 and own in ("", text_digest(text))
            row = row if same else by_text.get(text_digest(text), -1)
        found.append(row)
    return np.array(found, dtype=np.int64)
