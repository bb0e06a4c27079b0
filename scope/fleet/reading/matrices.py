"""Reads who answered what correctly: tables, folders of saved predictions, runs of comparisons."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from scope.data.memory import data_spec
from scope.errors import DataError, SpecError
from scope.fleet.matrix import CorrectnessMatrix
from scope.fleet.reading.cells import UNKNOWN, Cells, Told, join, matrix_of
from scope.fleet.reading.long import answer_keys, read_long
from scope.fleet.reading.saved import is_run, read_predictions, read_runs
from scope.paths import expanded

_AS_FOUND: Mapping[str, str] = MappingProxyType({})


def read_matrix(
    spec: str | Path | Sequence[str | Path], *, columns: Mapping[str, str] = _AS_FOUND
) -> CorrectnessMatrix:
    """Read a matrix of who answered what correctly, sorted by the names of models and questions.

    Parameters
    ----------
    spec
        A table with an answer a row, as a data spec (`scope.data`) such as the path of a CSV, TSV,
        JSONL or parquet file; a folder of saved predictions; or the folder of a finished run of
        ``scope compare``. Several are joined by the names of their models and questions; a table
        beside others may have a question a row, and gives its text, its category and, for folders
        of saved predictions, the right answer.
    columns
        Columns of tables by role, where they are not to be found by their usual names; see
        `scope.fleet.reading.long`.

    Raises
    ------
    DataError
        When what is named cannot be read, or is no whole matrix.
    RunError
        When a run is not finished, or damaged.
    SpecError
        When a spec or the role of a column means nothing.
    """
    return matrix_of(_read(spec, columns, answers=True))


def read_questions(
    spec: str | Path | Sequence[str | Path], *, columns: Mapping[str, str] = _AS_FOUND
) -> CorrectnessMatrix:
    """Read questions, of which nobody need have answered any; all else is as in `read_matrix`.

    A table may have a question a row and neither models nor answers.
    """
    matrix = matrix_of(_read(spec, columns, answers=False), part=True)
    if not matrix.ids:
        raise DataError(
            f"no question in {_shown(spec)}",
            expected="one question or more",
            fix="look at what wrote the file",
        )
    if matrix.n_answers:
        return matrix
    nobody = np.zeros((len(matrix.ids), 0), dtype=np.float32)
    return replace(matrix, models=(), correct=nobody, left_out=(), part=True)


def _read(
    spec: str | Path | Sequence[str | Path], columns: Mapping[str, str], *, answers: bool
) -> Cells:
    specs = [data_spec(one) for one in ([spec] if isinstance(spec, str | Path) else spec)]
    if not specs:
        raise SpecError(
            "no data",
            expected="a table of answers, a folder of saved predictions, or a run",
            fix="name one or more",
        )
    folders = {one: expanded(one) for one in specs}
    runs = [path for path in folders.values() if path.is_dir() and is_run(path)]
    read = [read_runs(runs, answers=answers)] if runs else []
    tables = [one for one, path in folders.items() if not path.is_dir()]
    keys = answer_keys(tables, columns) if len(tables) + len(runs) < len(folders) else {}
    for one, path in folders.items():
        if not path.is_dir():
            several = len(folders) > 1
            read.append(read_long(one, columns, answers=answers, one_of_several=several))
        elif path not in runs:
            read.append(read_predictions(path, columns, keys, answers=answers))
    if not answers:
        return _joined(read, ())
    asking, telling = ([one for one in read if bool(one.models) is some] for some in (True, False))
    if not asking:
        raise DataError(
            f"no answer in {', '.join(specs)}",
            expected="a table, folder or run with answers of models among them",
            fix="add one with --data, or name its columns: --column model=NAME",
        )
    return _joined(asking, telling)


def _joined(read: Sequence[Cells], telling: Sequence[Cells]) -> Cells:
    """All answers together; models of one name are one, and so are questions of one id.

    What is told of questions that nobody was asked is left aside.
    """
    models = dict.fromkeys(name for cells in read for name in cells.models)
    questions: dict[str, Told] = {}
    for cells in read:
        for id_, *told in zip(cells.ids, cells.texts, cells.categories, strict=True):
            join(questions, id_, Told(*told))
    for cells in telling:
        for id_, *told in zip(cells.ids, cells.texts, cells.categories, strict=True):
            if id_ in questions:
                join(questions, id_, Told(*told))
    return Cells(
        models=list(models),
        ids=list(questions),
        texts=[told.text for told in questions.values()],
        categories=[told.category for told in questions.values()],
        model=np.concatenate([_places(models, one.models)[one.model] for one in read]),
        question=np.concatenate([_places(questions, one.ids)[one.question] for one in read]),
        correct=np.concatenate([one.correct for one in read]),
        left_out=tuple(chain.from_iterable(one.left_out for one in read)),
    )


def _places(known: Mapping[str, object], names: Sequence[str]) -> NDArray[np.int32]:
    """Where the names stand among those known; one more at the end for what has no name."""
    place = {name: number for number, name in enumerate(known)}
    return np.array([*(place[name] for name in names), UNKNOWN], dtype=np.int32)


def _shown(spec: str | Path | Sequence[str | Path]) -> str:
    return str(spec) if isinstance(spec, str | Path) else ", ".join(map(str, spec))
