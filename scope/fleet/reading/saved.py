"""Who answered what correctly, in folders of saved predictions and finished runs.

A folder of predictions has one file a model. A row has ``id`` or ``text`` or both;
``probabilities``, or an ``answer`` that is null where the model gave none; and ``gold``, the right
answer, where it is known. ``labels``, in the first row or alone before it, names what the
probabilities are of. Answers and gold are a number from 0, a letter, a label or option, or any
text; ``gold`` may be a list of texts that are right. ``options`` or ``category`` may stand there
too.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from scope.data.fields import Fields, UnreadableError, is_missing, read_fields
from scope.data.items import LETTERS, option_index
from scope.data.specs import open_file
from scope.errors import DataError, RunError
from scope.fleet.reading.cells import (
    UNKNOWN,
    AnswerKey,
    Cells,
    GivenAnswer,
    cells_of,
    gold_of,
    options_of,
    whole_text,
)
from scope.fleet.reading.long import NONE, by_role
from scope.metrics import best_against_gold, exact_match_values
from scope.records import Answer, CompareResult, Item, TaskAnswers
from scope.store import RunFolder

_SUFFIXES = (".jsonl", ".jsonl.gz", ".parquet")

_NAMES: Mapping[str, Sequence[str]] = MappingProxyType(
    {
        "id": ("id",),
        "text": ("text", "question"),
        "answer": ("answer",),
        "probabilities": ("probabilities",),
        "labels": ("labels",),
        "gold": ("gold",),
        "options": ("options", "choices"),
        "category": ("category", "benchmark", "subject"),
    }
)


_ROLES: Mapping[str, str] = MappingProxyType({"item": "id"})
"""What the columns of a role are called here, where it is another name."""


def prediction_files(folder: Path) -> dict[str, Path]:
    """The files of saved predictions in a folder, by the names of their models."""
    return {
        path.name[: -len(suffix)]: path
        for path in sorted(folder.iterdir())
        for suffix in _SUFFIXES
        if path.is_file() and path.name.casefold().endswith(suffix)
    }


def read_predictions(
    folder: Path, columns: Mapping[str, str], keys: Mapping[str, AnswerKey], *, answers: bool
) -> Cells:
    """Read all files of a folder; a model is called as its file, without what follows the name.

    An answer is right where it is the gold one: of probabilities the greatest counts, and texts
    that are neither labels nor options need the same words. No answer is a wrong one. Rows without
    gold are left out and counted where ``answers`` are wanted, and else are questions nobody is
    known to have answered. Questions are the same by ``id``, or else by ``text``.

    Parameters
    ----------
    columns
        Columns by role, where a file does not have them by their usual names.
    keys
        The right answers of rows without gold, by the question's id or text.

    Raises
    ------
    DataError
        When the folder holds no such file, or a row cannot be read.
    """
    files = prediction_files(folder)
    if not files:
        raise DataError(
            f"no saved predictions in the folder `{folder}`",
            expected=f"one file a model, its name ending in {', '.join(_SUFFIXES)}",
            fix="name another folder, a table of answers, or a run of `scope compare`",
        )
    given = {_ROLES.get(role, role): column for role, column in by_role(columns).items()}
    rows = [
        row
        for model, path in files.items()
        for row in _rows(_fields(path, given, gold=answers and not keys), model, keys)
    ]
    ids = _ids_by_text(rows)
    without = sum(row.correct == UNKNOWN for row in rows) if answers else 0
    return cells_of(
        (
            row._replace(id=row.id or ids.get(row.text or "") or row.text or "")
            for row in rows
            if row.correct != UNKNOWN or not answers
        ),
        without_gold=without,
    )


def _ids_by_text(rows: Sequence[GivenAnswer]) -> dict[str, str]:
    """The id of each text that has one in some file, for files that have the text alone."""
    ids: dict[str, str] = {}
    alone = {row.text for row in rows if not row.id}
    for row in rows:
        if not row.id or row.text not in alone:
            continue
        if ids.setdefault(row.text or "", row.id) != row.id:
            raise DataError(
                f"the text {row.text!r:.80} under two ids, `{ids[row.text or '']}` and "
                f"`{row.id}`, and without an id in another file",
                expected="an id in every file where questions of the same text differ",
                fix="add the ids to all files",
            )
    return ids


def _fields(path: Path, given: Mapping[str, str], *, gold: bool) -> Iterator[Fields]:
    """The rows of a file by meaning: columns that are given, or have one of the usual names."""
    source = open_file(path)
    there = {
        meaning: (column,) for meaning, column in given.items() if column in (*source.columns, NONE)
    }
    return read_fields(source, {**_NAMES, **there}, required=("gold",) if gold else ())


def _rows(
    rows: Iterator[Fields], model: str, keys: Mapping[str, AnswerKey]
) -> Iterator[GivenAnswer]:
    """The answers of a file; the id is empty where a row has none, and unknown what has no gold."""
    labels: tuple[str, ...] = ()
    for fields in rows:
        own_id, text = fields.id, fields.text("text") or None
        try:
            labels = options_of(fields.values.get("labels")) or labels
            said = {name for name, value in fields.values.items() if not is_missing(value)}
            if said == {"labels"}:
                continue
            if own_id is None and text is None:
                raise UnreadableError(
                    "neither `id` nor `text`", "one of them, to say what is answered"
                )
            key = keys.get(own_id or "") or keys.get((text or "").strip()) or AnswerKey(())
            options = options_of(fields.values.get("options")) or key.options
            gold = gold_of(fields.values.get("gold")) or key.gold
            correct = _is_right(fields, _Names(labels, options), gold) if gold else UNKNOWN
            whole = whole_text(text, None, options)
            yield GivenAnswer(model, own_id or "", whole, fields.name("category"), correct)
        except UnreadableError as error:
            raise fields.wrong(error.found, error.expected) from error


class _Names(NamedTuple):
    """What an answer may be called by: the labels of all rows, the options of this one."""

    labels: tuple[str, ...]
    options: tuple[str, ...]

    @property
    def choices(self) -> int:
        """How many there are to choose from; 0 where that is not known."""
        return len(self.options or self.labels)

    def place(self, answer: object) -> int:
        """Which one an answer means, counted from 0."""
        if not self.choices and isinstance(answer, int) and not isinstance(answer, bool):
            return answer
        try:
            return option_index(answer, self.options or self.labels or LETTERS, self.labels)
        except ValueError as error:
            raise UnreadableError(
                f"the answer is {error}", "one of the labels or options, by number, letter or name"
            ) from error


def _is_right(fields: Fields, names: _Names, gold: Sequence[object]) -> int:
    answer, probabilities = (fields.values.get(name) for name in ("answer", "probabilities"))
    if is_missing(answer) and probabilities is not None:
        answer = _greatest(probabilities, names)
    if not fields.columns.keys() & {"answer", "probabilities"}:
        raise UnreadableError("neither `answer` nor `probabilities`", "one of them")
    if is_missing(answer):
        return 0
    return int(any(_same(answer, right, names) for right in gold))


def _same(answer: object, right: object, names: _Names) -> bool:
    """Whether both are the same label or option, or else the same words."""
    if not names.choices and isinstance(answer, str) and isinstance(right, str):
        return bool(exact_match_values([answer], [right])[0])
    return names.place(answer) == names.place(right)


def _greatest(probabilities: object, names: _Names) -> int:
    """The place of the greatest; the first of equals."""
    if (
        not isinstance(probabilities, list)
        or not probabilities
        or not all(isinstance(one, int | float) and 0 <= one <= 1 for one in probabilities)
        or names.choices not in (0, len(probabilities))
    ):
        raise UnreadableError(
            f"`probabilities` is {str(probabilities)[:100]}",
            f"{names.choices or 'some'} numbers from 0 to 1, one for each label or option",
        )
    return probabilities.index(max(probabilities))


def is_run(path: Path) -> bool:
    """Whether the folder is that of a run, finished or not."""
    files = RunFolder(path)
    return files.manifest_path.is_file() or files.result_path.is_file()


def read_runs(paths: Sequence[Path], *, answers: bool) -> Cells:
    """Read runs, joined by the ids of their questions and the names of their models.

    An answer counts as right where the right option was chosen, or where a text has the same words
    as one of the right answers, as in the metrics ``accuracy`` and ``exact_match``. What was asked
    and not answered is wrong; what was not asked is unknown; a question without a known right
    answer is left out where ``answers`` are wanted. Where there is more than one task or data set,
    ids begin with its name.

    Raises
    ------
    RunError
        When a run is not finished, or damaged.
    DataError
        When a run compares no answers, or one id stands for two questions.
    """
    asked = [one for path in paths for one in _of_run(path)]
    _require_same_models(asked)
    names = _names(asked)
    found: list[GivenAnswer] = []
    without = 0
    for one in asked:
        name = names[one.task, one.data]
        for place, item in enumerate(one.answers.items):
            if answers and not _has_gold(item):
                without += 1
                continue
            question, category = item.question, item.category or name
            own_id = question.id if len(names) == 1 else f"{name}/{question.id}"
            text = whole_text(question.text, question.context, question.options)
            for (model, _), row in zip(one.models, one.answers.answers, strict=True):
                correct = _correct(row[place], item, one.normalize)
                found.append(GivenAnswer(model, own_id, text, category, correct))
    return cells_of(found, without_gold=without)


class _Asked(NamedTuple):
    """The answers to one task of one run; models by name and spec."""

    models: tuple[tuple[str, str], ...]
    task: str
    data: str
    answers: TaskAnswers
    normalize: bool


def _of_run(path: Path) -> Iterator[_Asked]:
    comparison = RunFolder(path).read_result()
    if comparison is None:
        raise RunError(
            f"the run `{path}` is not finished",
            expected="a finished run, with its result.json",
            fix="give the run's command again, which goes on where it was",
        )
    if not isinstance(comparison, CompareResult) or not comparison.tasks:
        raise DataError(
            f"the run `{path}` is one of `scope {comparison.manifest.job}` and holds no answers to "
            "questions",
            expected="a run of `scope compare`",
            fix="name another run, or a table with the columns model, item and correct",
        )
    for one in comparison.tasks:
        yield _Asked(
            models=tuple((card.name, card.spec) for card in comparison.manifest.models),
            task=one.task,
            data=_data(comparison, one.task),
            answers=one,
            normalize=bool(comparison.manifest.settings.get("normalize", False)),
        )


def _require_same_models(asked: Sequence[_Asked]) -> None:
    """Check that a name means one model in all runs; saved answers have a file for each task."""
    specs: dict[str, str] = {}
    for name, spec in (model for one in asked for model in one.models):
        if not spec.startswith("predictions:") and specs.setdefault(name, spec) != spec:
            raise DataError(
                f"two models called `{name}` in the runs: `{specs[name]}` and `{spec}`",
                expected="runs in which a name means one model",
                fix="give the runs' commands again with specs that are alike, or name fewer runs",
            )


def _data(comparison: CompareResult, task: str) -> str:
    """The spec of the data that the task's questions are made of."""
    return next((card.spec for card in comparison.manifest.data if card.capability == task), "")


def _names(asked: Sequence[_Asked]) -> dict[tuple[str, str], str]:
    """What to call each task on each data: the task if that is enough, else the data's file."""
    keys = sorted({(one.task, one.data) for one in asked})
    for name in (lambda key: key[0], lambda key: Path(key[1]).name.split(".")[0], "/".join):
        names = {key: name(key) for key in keys}
        if len(set(names.values())) == len(keys):
            break
    return names


def _has_gold(item: Item) -> bool:
    return item.right is not None if item.question.options else bool(item.gold)


def _correct(answer: Answer, item: Item, normalize: bool) -> int:
    if not answer.asked or not _has_gold(item):
        return UNKNOWN
    if item.question.options:
        return int(answer.choice == item.right)
    if answer.text is None:
        return 0

    def same(first: Sequence[str], second: Sequence[str]) -> NDArray[np.float64]:
        return exact_match_values(first, second, normalize=normalize)

    return int(best_against_gold(same, [answer.text], [item.gold])[0])
