"""``predictions:FILE``: answers that were saved elsewhere; no model is run.

A classifier's file has one row per text, as JSON lines (gzipped or not) or parquet: ``text``;
``probabilities``, a list in the order of ``labels``; ``labels`` in the first row. A file with a
column ``answer``, or with ``probabilities`` but no ``labels``, holds answers to the questions of
tasks, and a .tsv file those of many models.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from scope.data.formats import open_jsonl, open_parquet
from scope.data.lines import reading
from scope.data.sources import Source, guarded_source
from scope.errors import DataError, ModelError
from scope.models.answer_table import TableColumn, load_column, parse_table_name
from scope.models.options import ModelOptions
from scope.models.saved_answers import SavedAnswers, read_saved_answers
from scope.paths import expanded
from scope.printing import listed
from scope.records import Prediction
from scope.records.answered import SUMS_TO_ONE

_FIELDS = ("text", "probabilities", "labels")


class SavedClassifier:
    """Looks answers up by text; a text without one is an error that names how many lack."""

    def __init__(
        self,
        predictions: Mapping[str, Prediction],
        labels: Sequence[str],
        *,
        path: Path,
        fingerprint: str,
    ) -> None:
        self._predictions = predictions
        self._path = path
        self.labels = tuple(labels)
        self.spec = f"predictions:{path}"
        self.fingerprint = fingerprint

    def classify(self, texts: Sequence[str]) -> list[Prediction]:
        """Look every text up."""
        missing = [text for text in dict.fromkeys(texts) if text not in self._predictions]
        if missing:
            raise MissingPredictionsError(self._path, missing)
        return [self._predictions[text] for text in texts]


class MissingPredictionsError(ModelError):
    """Texts that a file of saved predictions does not answer; ``texts`` holds them."""

    def __init__(self, path: Path, texts: Sequence[str]) -> None:
        super().__init__(
            f"{path} has no prediction for {len(texts)} texts, such as {texts[0][:80]!r}",
            expected="a row for every requested text",
            fix="run the model on them, add the rows to the file, and run the command again",
        )
        self.texts = tuple(texts)


def load(rest: str, options: ModelOptions) -> SavedClassifier | SavedAnswers | TableColumn:
    """Read a file of saved predictions or answers.

    Raises
    ------
    DataError
        When the file is missing, cannot be read, or a row lacks a field or has wrong numbers.
    """
    if table := parse_table_name(rest):
        return load_column(table)
    path = expanded(rest)
    with reading(str(path)):
        missing = not path.is_file()
    if missing:
        raise DataError(
            f"no file {path}",
            expected="JSON lines (.jsonl, .jsonl.gz) or .parquet with saved predictions, or "
            "FILE.tsv#MODEL with a table of answers",
            fix="check the path",
        )
    with reading(path.name):
        source = guarded_source(
            open_parquet(path) if path.suffix == ".parquet" else open_jsonl(path)
        )
    columns = set(source.columns)
    if "answer" in columns or ("probabilities" in columns and "labels" not in columns):
        return read_saved_answers(source, path)
    if not columns & {"probabilities", "labels"}:
        raise DataError(
            f"no answers in {path.name}; its columns are {listed(source.columns)}",
            expected="a column `answer` or `probabilities`",
            fix="rename the column that holds the answers",
        )
    return _read_classifier(source, path)


def _read_classifier(source: Source, path: Path) -> SavedClassifier:
    labels: tuple[str, ...] = ()
    predictions: dict[str, Prediction] = {}
    for row in _rows(source):
        labels = _labels(row, labels)
        text, prediction = _text(row), _prediction(row, labels)
        if predictions.setdefault(text, prediction) != prediction:
            raise _bad_row(row, f"other probabilities for {text[:80]!r}", "one answer to a text")
    return SavedClassifier(
        predictions,
        labels,
        path=path,
        fingerprint=hashlib.sha256(path.read_bytes()).hexdigest()[:16],
    )


class _Row(NamedTuple):
    """One line or row; ``place`` names it in messages."""

    place: str
    text: object
    probabilities: object
    labels: object


def _rows(source: Source) -> Iterator[_Row]:
    there = [name for name in _FIELDS if name in source.columns]
    for row in source.read(there):
        fields = dict(zip(there, row.values, strict=True))
        yield _Row(source.place(row), *(fields.get(name) for name in _FIELDS))


def _labels(row: _Row, known: tuple[str, ...]) -> tuple[str, ...]:
    """The labels of the first row; a later row may leave them out or repeat them."""
    if known and not row.labels:
        return known
    if not isinstance(row.labels, list) or not row.labels:
        raise _bad_row(
            row, f"`labels` is {row.labels!r}", "the label names, as a list in the first row"
        )
    labels = tuple(map(str, row.labels))
    if known and labels != known:
        raise _bad_row(row, f"`labels` is {list(labels)}", f"{list(known)}, as in the first row")
    return labels


def _text(row: _Row) -> str:
    if not isinstance(row.text, str):
        raise _bad_row(row, f"`text` is {row.text!r}", "the text as a string")
    return row.text


def _prediction(row: _Row, labels: Sequence[str]) -> Prediction:
    values = row.probabilities
    if (
        not isinstance(values, list)
        or not all(isinstance(value, int | float) and 0 <= value <= 1 for value in values)
        or len(values) != len(labels)
        or abs(sum(values) - 1) > SUMS_TO_ONE
    ):
        raise _bad_row(
            row,
            f"`probabilities` is {str(values)[:100]}",
            f"{len(labels)} numbers from 0 to 1 that sum to 1, one for each of {list(labels)}",
        )
    return Prediction(probabilities=tuple(round(float(value), 6) for value in values))


def _bad_row(row: _Row, found: str, expected: str) -> DataError:
    return DataError(f"{row.place}: {found}", expected=expected, fix="fix the row, or leave it out")
