"""A classifier's predictions that were saved elsewhere, looked up by text."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from scope.data.fields import Fields, UnreadableError, label_of, read_fields, unprinted
from scope.data.sources import Source, UnusableRowError
from scope.errors import DataError, ModelError
from scope.metrics.arrays import is_distribution, normalized
from scope.printing import counted, listed
from scope.progress import remark_once
from scope.records import Prediction, Probabilities

_ANSWER = ("text", "probabilities")
_NAMES = {name: (name,) for name in (*_ANSWER, "labels")}
UNUSABLE = Prediction(probabilities=(), missing="unusable row")


class SavedClassifier:
    """Looks answers up by text; a text without one raises an error with their number."""

    def __init__(
        self, predictions: Mapping[str, Prediction], labels: Sequence[str], path: Path, unread: int
    ) -> None:
        self._predictions = predictions
        self._unread, self._missing = unread, set[str]()
        self._path = path
        self.labels = tuple(labels)
        self.spec = f"predictions:{path}"
        self.fingerprint = fingerprint_of_file(path)

    def classify(self, texts: Sequence[str]) -> list[Prediction]:
        """Look every text up."""
        missing = [text for text in dict.fromkeys(texts) if text not in self._predictions]
        # A row that cannot be used costs a text, though it need not say which.
        self._missing.update(missing)
        if len(self._missing) > self._unread:
            raise MissingPredictionsError(self._path, missing)
        return [self._predictions.get(text, UNUSABLE) for text in texts]


class MissingPredictionsError(ModelError):
    """Texts that a file of saved predictions does not answer; ``texts`` holds them."""

    def __init__(self, path: Path, texts: Sequence[str]) -> None:
        super().__init__(
            f"{path} has no prediction for {len(texts)} texts, such as {texts[0][:80]!r}",
            expected="a row for every requested text",
            fix="run the model on them, add the rows to the file, and run the command again",
        )
        self.texts = tuple(texts)


def read_classifier(source: Source, path: Path) -> SavedClassifier:
    """A file with ``text`` and ``probabilities``, and the ``labels`` in the first row."""
    labels: tuple[str, ...] = ()
    rows = []
    for row in read_fields(source, _NAMES, required=()):
        labels = labels if row.row.unusable else _labels(row, labels)
        # The first row may hold the labels alone.
        if row.row.unusable or any(row.cells.get(name) is not None for name in _ANSWER):
            rows.append(row)

    def shares(row: Fields) -> Probabilities:
        values: Any = unprinted(row.values.get("probabilities"))
        fits = isinstance(values, list) and len(values) == len(labels)
        if fits and any(isinstance(n, float) and not math.isfinite(n) for n in values):
            return ()  # The model's failure costs this text.
        if not fits or not is_distribution(values, len(labels)):
            expected = f"{len(labels)} numbers from 0 to 1 that sum to 1, one for each of {labels}"
            raise row.wrong(f"`probabilities` is {str(values)[:100]}", expected)
        return rounded(values)

    if not rows and set(source.columns) != {"labels"}:
        raise DataError(
            f"no predictions in {path.name}; its columns are {listed(source.columns)}",
            expected="a row for every text, with `text` and `probabilities`",
            fix="add the rows, or rename the columns",
        )
    return _classifier(rows, shares, labels, path)


def _classifier(
    rows: list[Fields], shares: Callable[[Fields], Probabilities], labels: Sequence[str], path: Path
) -> SavedClassifier:
    """What the rows predict for their texts, if more rows can be used than not."""
    predictions: dict[str, Prediction] = {}
    unusable: list[UnusableRowError] = []
    for row in rows:
        try:
            values = shares(row)
            if not isinstance(text := row.values.get("text"), str):
                raise row.wrong(f"`text` is {text!r}", "the text as a string")
        except UnusableRowError as error:
            unusable.append(error)
            continue
        prediction = Prediction(probabilities=values, missing="" if values else "no number")
        if predictions.setdefault(text, prediction) != prediction:
            raise row.wrong(f"other probabilities for {text[:80]!r}", "one answer to a text")
    if len(unusable) > len(predictions):
        raise unusable[0]
    remark_unusable([error.found for error in unusable], path)
    return SavedClassifier(predictions, labels, path, len(unusable))


def remark_unusable(problems: Sequence[str], path: Path) -> None:
    """Write how many rows of a file cannot be used, if any."""
    if problems:
        remark_once(f"{path.name}: {counted(len(problems), 'unusable row')}, such as {problems[0]}")


def read_pipeline(source: Source, path: Path) -> SavedClassifier:
    """The likeliest label of each text, with its score; the other labels share the rest evenly."""
    names = {name: (name,) for name in ("text", "label", "score")}
    rows = list(read_fields(source, names, required=tuple(names)))
    labels = sorted({row.name("label") or "" for row in rows if not row.row.unusable} - {""})

    def shares(row: Fields) -> Probabilities:
        label = row.name("label")
        score: Any = 1.0 if len(labels) == 1 else row.values["score"]
        if label is None or not isinstance(score, float | int) or not 1 / len(labels) <= score <= 1:
            problem = f"the label {label!r} with the score {score!r:.40}"
            raise row.wrong(problem, f"the likeliest of {len(labels)} labels, and its probability")
        rest = (1 - score) / max(1, len(labels) - 1)
        return rounded([score if name == label else rest for name in labels])

    return _classifier(rows, shares, labels, path)


def _labels(row: Fields, known: tuple[str, ...]) -> tuple[str, ...]:
    """The labels of the first row; a later row may leave them out or repeat them."""
    names = row.values.get("labels")
    if known and not names:
        return known
    try:
        labels = tuple(label_of(name) or "" for name in names) if isinstance(names, list) else ()
    except UnreadableError as error:
        raise row.wrong(f"{error.found} among `labels`", error.expected) from error
    if not labels or not all(labels):
        raise row.wrong(f"`labels` is {names!r}", "the label names, as a list in the first row")
    if known and labels != known:
        raise row.wrong(f"`labels` is {list(labels)}", f"{list(known)}, as in the first row")
    return labels


def rounded(values: Sequence[float]) -> Probabilities:
    """Probabilities that sum to 1, with six decimals."""
    return tuple(round(value, 6) for value in normalized(values).tolist())


def fingerprint_of_file(path: Path) -> str:
    """Sixteen hexadecimal digits that change with the content of a file."""
    return hashlib.sha256(path.read_bytes()).hexdigest()[:16]
