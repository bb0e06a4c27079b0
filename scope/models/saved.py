"""``predictions:FILE``: answers that were saved elsewhere; no model is run.

A classifier's file has one row per text, as JSON lines (gzipped or not) or parquet: ``text``;
``probabilities``, a list in the order of ``labels``; ``labels`` in the first row, which may hold
them alone. A file with a column ``answer``, or with ``probabilities`` but no ``labels``, holds
answers to the questions of tasks, and a .tsv file those of many models.

Answers are looked up by the question's id or its words: one row per question, in the same formats:
``id``, or ``text`` (the question), or both; ``answer``, null where the model gave none; and where
there are options maybe ``probabilities``, one for each in their order. An answer to choose is the
option's number from 0, its letter, or its text.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType

from scope.data.fields import Fields, UnreadableError, label_of, read_fields
from scope.data.formats import open_json, open_parquet
from scope.data.items import option_index
from scope.data.sources import Source, guarded_source, reading
from scope.data.specs import require_file
from scope.errors import DataError, ModelError
from scope.metrics.arrays import is_distribution, normalized
from scope.models.answer_table import TableColumn, expand_table, load_column, parse_table_name
from scope.models.options import ModelOptions
from scope.models.scheme import Scheme
from scope.paths import expanded
from scope.printing import counted, listed
from scope.protocols import Answers
from scope.records import Answer, Prediction, Probabilities, Question

_NAMES: Mapping[str, Sequence[str]] = MappingProxyType(
    {name: (name,) for name in ("id", "text", "answer", "probabilities", "labels")}
)


def _first(ids: Sequence[str]) -> str:
    """A few of the ids."""
    return ", ".join(f"`{id_}`" for id_ in ids[:3]) + (", …" if len(ids) > 3 else "")


@dataclass(frozen=True, slots=True)
class SavedRow:
    """A row's content, not yet compared with the question's options; ``place`` is for messages."""

    place: str = field(compare=False)
    text: str
    answer: object
    probabilities: Probabilities

    def in_words(self, question: Question) -> Answer:
        """The answer as a text."""
        self._require_same(question)
        if self.answer is None and self.probabilities:
            raise self.wrong("probabilities without an `answer`", "a text as the answer")
        if self.answer is not None and not isinstance(self.answer, str):
            raise self.wrong(f"the answer {self.answer!r:.60}", "a text, or null for none")
        return Answer(text=None if self.answer is None else self.answer.strip())

    def among_options(self, question: Question) -> Answer:
        """The answer as one of the question's options; the likeliest if only those are given."""
        self._require_same(question)
        values, options = self.probabilities, question.options
        if values and len(values) != len(options):
            raise self.wrong(
                f"{len(values)} probabilities", f"one for each of {len(options)} options"
            )
        if self.answer is None:
            choice = max(range(len(values)), key=values.__getitem__) if values else None
            return Answer(choice=choice, probabilities=values)
        choice = self._chosen(options)
        if values and values[choice] < max(values):
            raise self.wrong(
                f"the answer is the option {choice}, counted from 0, where `probabilities` is "
                f"{str(list(values))[:100]}",
                "the likeliest option as the answer, or one of them without the other",
            )
        return Answer(choice=choice, probabilities=values)

    def _chosen(self, options: Sequence[str]) -> int:
        try:
            return option_index(self.answer, options)
        except ValueError as error:
            raise self.wrong(
                f"the answer is {error}",
                f"one of the {len(options)} options by number from 0, letter or text, or null",
            ) from error

    def _require_same(self, question: Question) -> None:
        """An id that means another question in another file would give wrong answers silently."""
        if self.text.strip() not in ("", question.text.strip()):
            raise self.wrong(
                f"`text` is {self.text[:60]!r}, where the data have under the id `{question.id}` "
                f"the question {question.text[:60]!r}",
                "answers to the same questions under the same ids",
            )

    def wrong(self, problem: str, expected: str) -> DataError:
        """The error of a row that cannot be the answer."""
        return DataError(
            f"{self.place}: {problem}", expected=expected, fix="fix the row, or leave it out"
        )


class SavedAnswers:
    """Looks answers up by id, or else by the words of the question; no model is run."""

    def __init__(
        self,
        by_id: Mapping[str, SavedRow],
        by_text: Mapping[str, SavedRow],
        path: Path,
        fingerprint: str,
    ) -> None:
        self._by_id = by_id
        self._by_text = by_text
        self._name = path.name
        self.spec = f"predictions:{path}"
        self.fingerprint = fingerprint

    def fill(self, questions: Sequence[Question]) -> Answers:
        """The saved word for each blank."""
        return self._look_up(questions, SavedRow.in_words)

    def answer(self, questions: Sequence[Question]) -> Answers:
        """The saved answer to each question."""
        return self._look_up(questions, SavedRow.in_words)

    def choose(self, questions: Sequence[Question]) -> Answers:
        """The saved option for each question, and the probabilities if they were saved."""
        return self._look_up(questions, SavedRow.among_options)

    def _look_up(
        self, questions: Sequence[Question], read: Callable[[SavedRow, Question], Answer]
    ) -> Answers:
        rows = [
            self._by_id.get(question.id) or self._by_text.get(question.text.strip())
            for question in questions
        ]
        missing = [question for question, row in zip(questions, rows, strict=True) if row is None]
        if missing:
            raise self._lacks(missing, questions)
        for place, row in enumerate(rows):
            if row is not None:
                yield place, read(row, questions[place])

    def _lacks(self, missing: Sequence[Question], questions: Sequence[Question]) -> ModelError:
        """The error of a file without these answers; ids that no question has may show why."""
        others = self._others(questions)
        rest = f", and {counted(len(others), 'row')} under other ids: {_first(others)}"
        return ModelError(
            f"{self._name} has no answer to {len(missing)} of {len(questions)} questions: "
            f"{_first([question.id for question in missing])} "
            f"(the first is {missing[0].text[:60]!r}){rest if others else ''}",
            expected="a row for every question that is asked, with its `id` or its `text`",
            fix="add the rows, or check that the file belongs to these data; an `answer` that "
            "is null says that the model gave none",
        )

    def _others(self, questions: Sequence[Question]) -> list[str]:
        """The ids of rows that match no question, neither by id nor by words."""
        ids = {question.id for question in questions}
        texts = {question.text.strip() for question in questions}
        return [
            own_id
            for own_id, row in self._by_id.items()
            if own_id not in ids and row.text.strip() not in texts
        ]


def read_saved_answers(source: Source, path: Path) -> SavedAnswers:
    """Read all rows of a file of answers.

    Raises
    ------
    DataError
        When a row has neither id nor text, wrong probabilities, or another answer than an earlier
        row for the same question.
    """
    by_id: dict[str, SavedRow] = {}
    by_text: dict[str, SavedRow] = {}
    unclear: set[str] = set()
    for fields in read_fields(source, _NAMES, required=()):
        row = _row(fields)
        own_id, text = fields.id, row.text.strip()
        if own_id is None and not text:
            raise row.wrong("neither `id` nor `text`", "one of them, to say what is answered")
        if own_id is not None and by_id.setdefault(own_id, row) != row:
            raise row.wrong(f"another answer under the id `{own_id}`", "one answer to a question")
        if text and by_text.setdefault(text, row) != row:
            if own_id is None:
                raise row.wrong(f"another answer to {text[:60]!r}", "one answer to a question")
            # Two questions with the same words, distinguished only by their ids.
            unclear.add(text)
    return SavedAnswers(
        by_id,
        {text: row for text, row in by_text.items() if text not in unclear},
        path,
        hashlib.sha256(path.read_bytes()).hexdigest()[:16],
    )


def _row(fields: Fields) -> SavedRow:
    answer, probabilities = (fields.values.get(name) for name in ("answer", "probabilities"))
    if isinstance(answer, float) and math.isnan(answer):
        answer = None
    shares = () if probabilities is None else _shares(fields, "numbers", "option")
    return SavedRow(fields.source.place(fields.row), fields.text("text"), answer, shares)


def _shares(row: Fields, numbers: str, each: str, count: int | None = None) -> Probabilities:
    """The row's probabilities, rounded; of any number where ``count`` is None."""
    values = row.values.get("probabilities")
    if isinstance(values, list) and is_distribution(
        values, len(values) if count is None else count
    ):
        return tuple(round(value, 6) for value in normalized(values).tolist())
    raise row.wrong(
        f"`probabilities` is {str(values)[:100]}",
        f"{numbers} from 0 to 1 that sum to 1, one for each {each}",
    )


class SavedClassifier:
    """Looks answers up by text; a text without one raises an error with their number."""

    def __init__(
        self,
        predictions: Mapping[str, Prediction],
        labels: Sequence[str],
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
    require_file(
        path,
        "JSON lines (.jsonl, .jsonl.gz) or .parquet with saved predictions, or FILE.tsv#MODEL with "
        "a table of answers",
    )
    with reading(path.name):
        source = guarded_source(
            open_parquet(path) if path.suffix == ".parquet" else open_json(path)
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
    for row in read_fields(source, _NAMES, required=()):
        labels = _labels(row, labels)
        there = {name for name, value in row.values.items() if value is not None}
        if "labels" in there and not there & {"text", "probabilities"}:
            continue
        if not isinstance(text := row.values.get("text"), str):
            raise row.wrong(f"`text` is {text!r}", "the text as a string")
        shares = _shares(row, f"{len(labels)} numbers", f"of {list(labels)}", len(labels))
        prediction = Prediction(probabilities=shares)
        if predictions.setdefault(text, prediction) != prediction:
            raise row.wrong(f"other probabilities for {text[:80]!r}", "one answer to a text")
    if not predictions and set(source.columns) != {"labels"}:
        raise DataError(
            f"no predictions in {path.name}; its columns are {listed(source.columns)}",
            expected="a row for every text, with `text` and `probabilities`",
            fix="add the rows, or rename the columns",
        )
    fingerprint = hashlib.sha256(path.read_bytes()).hexdigest()[:16]
    return SavedClassifier(predictions, labels, path, fingerprint)


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


class Predictions(Scheme):
    """Saved predictions and answers."""

    saved = True

    def expand(self, rest: str) -> Iterable[str]:
        """Every model of a table, ``FILE.tsv#*``, or every file of saved answers in a folder."""
        if (folder := expanded(rest)).is_dir():
            return [f"predictions:{file}" for file in _files_of(folder)]
        table = parse_table_name(rest)
        return (table and expand_table(table)) or super().expand(rest)


def _files_of(folder: Path) -> list[Path]:
    endings = (".jsonl", ".jsonl.gz", ".parquet")
    if not (files := sorted(path for path in folder.iterdir() if path.name.endswith(endings))):
        raise DataError(
            f"no saved answers in the folder {folder}",
            expected=f"one file per model, with one of the endings {', '.join(endings)}",
            fix="check the path",
        )
    return files


SCHEME = Predictions("predictions", load)
