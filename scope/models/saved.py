"""``predictions:FILE``: answers that were saved elsewhere; no model is run.

One row a text, as JSON lines (gzipped or not) or parquet: ``text``; ``probabilities``, a list in
the order of ``labels``; ``labels`` in the first row.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import zlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from scope.errors import DataError, ModelError
from scope.models.options import ModelOptions
from scope.records import Prediction


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
            expected="a row for every text that is asked for",
            mend="have the model answer them, add the rows to the file, and give the command again",
        )
        self.texts = tuple(texts)


def load(rest: str, options: ModelOptions) -> SavedClassifier:
    """Read a file of saved predictions.

    Raises
    ------
    DataError
        When the file is missing, cannot be read, or a row lacks a field or has wrong numbers.
    """
    path = Path(rest).expanduser()
    if not path.is_file():
        raise DataError(
            f"no file {path}",
            expected="JSON lines (.jsonl, .jsonl.gz) or .parquet with saved predictions",
            mend="check the path",
        )
    labels: tuple[str, ...] = ()
    predictions: dict[str, Prediction] = {}
    for number, row in enumerate(_rows(path), 1):
        labels = labels or tuple(map(str, row.get("labels") or ()))
        predictions[_text(row, path, number)] = _prediction(row, labels, path, number)
    if not labels:
        raise _bad_row(path, 1, "no `labels`", "the label names, as a list in the first row")
    return SavedClassifier(
        predictions,
        labels,
        path=path,
        fingerprint=hashlib.sha256(path.read_bytes()).hexdigest()[:16],
    )


def _rows(path: Path) -> Iterator[dict[str, Any]]:
    if path.suffix == ".parquet":
        yield from _parquet_rows(path)
        return
    opener = gzip.open if path.suffix == ".gz" else open
    try:
        with opener(path, "rt", encoding="utf-8") as lines:
            for number, line in enumerate(lines, 1):
                row = json.loads(line)
                if not isinstance(row, dict):
                    raise _bad_row(path, number, f"a {type(row).__name__}", "an object a line")
                yield row
    except (UnicodeDecodeError, json.JSONDecodeError, EOFError, OSError, zlib.error) as error:
        raise DataError(
            f"{path} cannot be read ({error})",
            expected="one JSON object a line, as UTF-8",
            mend="check that the file is complete",
        ) from error


def _parquet_rows(path: Path) -> Iterator[dict[str, Any]]:
    import pyarrow
    import pyarrow.parquet

    try:
        for batch in pyarrow.parquet.ParquetFile(path).iter_batches():
            yield from batch.to_pylist()
    except pyarrow.ArrowException as error:
        raise DataError(
            f"{path} cannot be read ({error})",
            expected="a parquet file",
            mend="check that the file is complete",
        ) from error


def _text(row: Mapping[str, Any], path: Path, number: int) -> str:
    text = row.get("text")
    if not isinstance(text, str):
        raise _bad_row(path, number, f"no `text` among {sorted(row)}", "the text as a string")
    return text


def _prediction(
    row: Mapping[str, Any], labels: Sequence[str], path: Path, number: int
) -> Prediction:
    values = row.get("probabilities")
    if not isinstance(values, list) or not _are_probabilities(values, labels):
        raise _bad_row(
            path,
            number,
            f"`probabilities` is {str(values)[:100]}",
            f"{len(labels) or 'as many'} numbers from 0 to 1 that sum to 1, one for each label",
        )
    return Prediction(probabilities=tuple(round(float(value), 6) for value in values))


def _are_probabilities(values: list[Any], labels: Sequence[str]) -> bool:
    return (
        all(isinstance(value, int | float) and 0 <= value <= 1 for value in values)
        and (not labels or len(values) == len(labels))
        and abs(sum(values) - 1) <= 1e-4
    )


def _bad_row(path: Path, number: int, found: str, expected: str) -> DataError:
    return DataError(
        f"row {number} of {path}: {found}", expected=expected, mend="mend the row, or leave it out"
    )
