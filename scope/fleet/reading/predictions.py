"""Who answered what correctly in a folder of saved predictions, one file a model.

A row has ``id`` or ``text`` or both; ``probabilities``, or an ``answer`` that is null where the
model gave none; and ``gold``, the right answer, where it is known. ``labels``, in the first row,
names what the probabilities are of. Answers and gold are a number from 0, a letter, a label or
option, or any text; ``gold`` may be a list of texts that are right. ``options`` or ``category`` may
stand there too.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from scope.data.fields import Fields, read_fields
from scope.data.options import LETTERS, option_index
from scope.data.specs import open_file
from scope.errors import DataError
from scope.fleet.reading.answers import GivenAnswer, cells_of
from scope.fleet.reading.cells import UNKNOWN, Cells
from scope.fleet.reading.values import UnreadableError, is_missing, options_of, whole_text
from scope.metrics import exact_match_values

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


def prediction_files(folder: Path) -> dict[str, Path]:
    """The files of saved predictions in a folder, by the names of their models."""
    return {
        path.name[: -len(suffix)]: path
        for path in sorted(folder.iterdir())
        for suffix in _SUFFIXES
        if path.is_file() and path.name.casefold().endswith(suffix)
    }


def read_predictions(folder: Path, *, answers: bool) -> Cells:
    """Read all files of a folder; a model is called as its file, without what follows the name.

    An answer is right where it is the gold one: of probabilities the greatest counts, and texts
    that are neither labels nor options need the same words. No answer is a wrong one. Rows without
    gold are left out and counted where ``answers`` are wanted, and else are questions nobody is
    known to have answered. Questions are the same by ``id``, or else by ``text``.

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
    rows = [row for model, path in files.items() for row in _rows(model, path, answers)]
    ids = _ids_by_text(rows)
    return cells_of(
        (
            GivenAnswer(
                model=row.model,
                id=row.id or ids.get(row.text or "") or row.text or "",
                text=row.text,
                category=row.category,
                correct=UNKNOWN if row.correct is None else row.correct,
            )
            for row in rows
            if row.correct is not None or not answers
        ),
        without_gold=sum(row.correct is None for row in rows) if answers else 0,
    )


class _Row(NamedTuple):
    """A row that was read; ``correct`` is None where no right answer is known."""

    model: str
    id: str | None
    text: str | None
    category: str | None
    correct: int | None


def _ids_by_text(rows: Sequence[_Row]) -> dict[str, str]:
    """The id of each text that has one in some file, for files that have the text alone."""
    ids: dict[str, str] = {}
    alone = {row.text for row in rows if row.id is None}
    for row in rows:
        if row.id is None or row.text not in alone:
            continue
        if ids.setdefault(row.text or "", row.id) != row.id:
            raise DataError(
                f"the text {row.text!r:.80} under two ids, `{ids[row.text or '']}` and "
                f"`{row.id}`, and without an id in another file",
                expected="an id in every file where questions of the same text differ",
                fix="add the ids to all files",
            )
    return ids


def _rows(model: str, path: Path, answers: bool) -> Iterator[_Row]:
    labels: tuple[str, ...] = ()
    for fields in read_fields(open_file(path), _NAMES, required=("gold",) if answers else ()):
        own_id, text = fields.id, fields.text("text") or None
        if own_id is None and text is None:
            raise fields.wrong("neither `id` nor `text`", "one of them, to say what is answered")
        try:
            labels = options_of(fields.values.get("labels")) or labels
            options = options_of(fields.values.get("options"))
            gold = _gold(fields)
            yield _Row(
                model=model,
                id=own_id,
                text=whole_text(text, None, options),
                category=fields.name("category"),
                correct=_is_right(fields, _Names(labels, options), gold) if gold else None,
            )
        except UnreadableError as error:
            raise fields.wrong(error.found, error.expected) from error


def _gold(fields: Fields) -> tuple[object, ...]:
    """The answers that count as right; none where they are not known."""
    value = fields.values.get("gold")
    if isinstance(value, list):
        return tuple(value)
    return () if is_missing(value) else (value,)


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
