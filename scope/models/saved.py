"""``predictions:FILE``: answers that were saved elsewhere; no model is run.

A classifier's file has one row per text, as JSON lines (gzipped or not) or parquet: ``text``;
``probabilities``, a list in the order of ``labels``; ``labels`` in the first row, which may hold
them alone. A text of several parts is a list, or has a column for each part, named as in the data.
Or it has ``text``, ``label`` and ``score``, as a pipeline of transformers gives them. A
file with a column ``answer``, or with ``probabilities`` but no ``labels``, holds
answers to the questions of tasks. In a folder, each model has a file of its own.

Answers are looked up by the question's id or its words: one row per question, in the same formats:
``id``, or ``text`` (the question), or both; ``answer``, null where the model gave none; and where
there are options maybe ``probabilities``, one for each in their order. An answer to choose is the
option's number from 0, its letter, or its text, or a reply that names one as an endpoint's does.
What names no option is no answer, and wrong; a thought before the answer is left out. A row that
cannot be used costs the question it answers, for all models.

``predictions:FILE.tsv#MODEL`` holds the options that many models chose, one line per model: its
name, a tab, and one character for each row of the data: the letter of the option, ``.`` where no
answer could be found in what the model said, ``-`` where it was not asked. A letter beyond the
question's options is what the model said, but none of them: no answer either.
"""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from scope.data.fields import (
    LETTERS,
    Fields,
    UnreadableError,
    is_missing,
    label_of,
    plain_label,
    read_fields,
    storable,
    unambiguous,
    unprinted,
)
from scope.data.formats import open_json, open_parquet
from scope.data.items import option_index
from scope.data.sources import Source, UnusableRowError, read_lines, reading
from scope.data.specs import require_file
from scope.errors import DataError, ModelError, counted, did_you_mean, listed
from scope.metrics.arrays import is_distribution
from scope.models.options import ModelOptions
from scope.models.replies import (
    MOST_SHOWN,
    UNFINISHED,
    shares_of,
    spelled_option,
    unusable_row,
    without_thought,
    written_letter,
)
from scope.models.scheme import Scheme
from scope.paths import expanded, sha256_of
from scope.progress import remark_once
from scope.protocols import Answers
from scope.records import Answer, Prediction, Probabilities, Question, own_id_of
from scope.records.text_parts import joined, readable

SAVED_NAMES = ("id", "text", "answer", "probabilities", "labels")
"""The columns of saved answers."""

_ANSWER = ("text", "probabilities")


def _columns(names: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """Columns that are called as what they mean, in any case."""
    return {name: (name.casefold(),) for name in names}


_OF_ONE_MODEL = (".jsonl", ".jsonl.gz", ".parquet")
"""The endings of files with the answers of one model."""

ALL = "*"
"""Stands for every model of a table, or of the logs of a tool."""


@dataclass(frozen=True, slots=True)
class SavedRow:
    """A row's content, not yet compared with the question's options.

    ``fault`` holds probabilities that are none; ``place`` is for messages.
    """

    place: str = field(compare=False)
    text: str
    answer: object
    probabilities: Probabilities
    fault: str = ""

    def in_words(self) -> Answer:
        """The answer as a text."""
        answer = self.answer
        if answer is None:
            return self._unreadable("no `answer`") if self.probabilities else Answer()
        if not isinstance(answer, str | int | float) or isinstance(answer, bool):
            return self._unreadable(answer)
        # A column with gaps holds whole numbers as floats.
        text = without_thought(answer if isinstance(answer, str) else plain_label(str(answer)))
        return UNFINISHED if text is None else Answer(text=text.strip())

    def among_options(self, options: Sequence[str], labels: Sequence[str] = ()) -> Answer:
        """The answer as one of the options; the likeliest if only probabilities are given."""
        answer, values = self.answer, self.probabilities
        if isinstance(answer, str) and (answer := without_thought(answer)) is None:
            return UNFINISHED
        if self.fault or (values and len(values) != len(options)):
            return self._unreadable(f"probabilities {self.fault or list(values)}")
        if answer is None:
            choice = values.index(max(values)) if values else None
        elif (choice := named_option(answer, options, labels)) is None:
            return self._unreadable(answer)
        elif values and values[choice] < max(values):
            return self._unreadable(f"{answer}, which is not the likeliest of {list(values)}")
        return Answer(choice=choice, probabilities=values)

    def _unreadable(self, content: object) -> Answer:
        if self.fault == "no number":
            return Answer(missing="no number")
        words = " ".join(str(content).split())[:MOST_SHOWN]
        return Answer(missing="not readable" if words else "empty", reply=words)


def named_option(answer: object, options: Sequence[str], labels: Sequence[str] = ()) -> int | None:
    """The option that an answer names, as a benchmark or a reply would; None if it names none.

    Examples
    --------
    >>> named_option("The answer is B.", ("Ann", "Bob")), named_option("bob.", ("Ann", "Bob"))
    (1, 1)
    """
    try:
        return option_index(answer, options, labels)
    except ValueError:
        reply = answer if isinstance(answer, str) else ""
        letter = written_letter(reply, len(options))
        return letter.option if letter else spelled_option(reply, options)


def saved_row(fields: Fields) -> SavedRow:
    """The answer in a row of a file.

    Raises
    ------
    UnusableRowError
        When the row does not say what is answered, or holds what cannot be written.
    """
    text = fields.text("text").strip()
    if fields.id is None and not text:
        raise fields.wrong("neither `id` nor `text`", "one of them, to say what is answered")
    answer, numbers = fields.read("answer", _value), unprinted(fields.read("probabilities", _value))
    shares = _shares(numbers)
    fault = "" if numbers is None or shares else "no number" if shares == () else str(numbers)
    return SavedRow(fields.source.place(fields.row), text, answer, shares or (), fault)


def _value(value: object) -> object:
    return None if is_missing(value) else storable(value) if isinstance(value, str) else value


def _shares(numbers: object) -> Probabilities | None:
    """Probabilities that sum to 1; empty if one is not finite, None if they are something else."""
    if not isinstance(numbers, list) or not numbers:
        return None
    if not all(isinstance(number, int | float) for number in numbers):
        return None
    if not all(abs(number) < math.inf for number in numbers):
        return ()
    return shares_of(numbers) if is_distribution(numbers, len(numbers)) else None


class SavedAnswers:
    """Looks answers up by id, or else by the words of the question; no model is run.

    Rows without id and text, or without JSON, are unusable. An id of two texts identifies neither,
    and a text of two ids neither of them.

    Raises
    ------
    DataError
        When two rows answer the same question differently.
    """

    def __init__(self, source: Source, path: Path) -> None:
        rows: dict[tuple[str | None, str], SavedRow] = {}
        self._unusable: list[str] = []
        for fields in read_fields(source, _columns(SAVED_NAMES), required=()):
            try:
                row, own_id = saved_row(fields), fields.id
            except UnusableRowError as error:
                self._unusable.append(error.found)
                continue
            if rows.setdefault((own_id, row.text), row) != row:
                where = f"to {row.text[:60]!r}" if own_id is None else f"under the id `{own_id}`"
                raise fields.wrong(f"another answer {where}", "one answer to a question")
        remark_unusable(self._unusable, path)
        self._by_id = unambiguous((own_id, row) for (own_id, _), row in rows.items() if own_id)
        self._by_text = unambiguous((text, row) for (_, text), row in rows.items() if text)
        self._name = path.name
        self.spec = f"predictions:{path}"
        self.fingerprint = sha256_of(path)[:16]

    def answer(self, questions: Sequence[Question]) -> Answers:
        """The saved answer to each question, or the word for its blank."""
        return self._look_up(questions, lambda row, _: row.in_words())

    fill = answer

    def choose(self, questions: Sequence[Question]) -> Answers:
        """The saved option for each question, and the probabilities if they were saved."""
        return self._look_up(questions, lambda row, q: row.among_options(q.options, q.labels))

    def _look_up(
        self, questions: Sequence[Question], read: Callable[[SavedRow, Question], Answer]
    ) -> Answers:
        rows = list(map(self._row, questions))
        missing = [question for question, row in zip(questions, rows, strict=True) if row is None]
        if len(missing) > len(self._unusable):
            # Ids that no question has may show why.
            texts = {text for asked in questions for text in (asked.id, asked.text.strip())}
            others = [id_ for id_, row in self._by_id.items() if not {id_, row.text} & texts]
            rest = f", and {counted(len(others), 'row')} under other ids: {listed(others, 3)}"
            raise ModelError(
                f"{self._name} has no answer to {len(missing)} of {len(questions)} questions: "
                f"{listed([question.id for question in missing], 3)} (the first is "
                f"{missing[0].text[:60]!r}){rest * bool(others)}",
                expected="a row for every question that is asked, with its `id` or its `text`",
                fix="add the rows, or check that the file belongs to these data; an `answer` that "
                "is null says that the model gave none",
            )
        unusable = iter(self._unusable)  # Each costs a question, though it need not say which.
        for place, (row, question) in enumerate(zip(rows, questions, strict=True)):
            yield place, read(row, question) if row else unusable_row(next(unusable))

    def _row(self, question: Question) -> SavedRow | None:
        own_id, words = own_id_of(question.id), question.text.strip()
        row, same = self._by_id.get(own_id), self._by_text.get(words)
        if row is not None and row.text in ("", words):
            return row
        if row is None or same is not None:
            return same
        # An id that means another question in another file would give wrong answers silently.
        raise DataError(
            f"{row.place}: `text` is {row.text[:60]!r}, where the data have under the id "
            f"`{own_id}` the question {question.text[:60]!r}",
            expected="answers to the same questions under the same ids",
            fix="choose the file that belongs to the data",
        )


class SavedClassifier:
    """Looks answers up by text; a text without one raises an error with their number.

    ``rows`` are read by ``shares``, and those that cannot be used are left out. ``parts`` are the
    columns of a text of several parts; without them they are a list in ``text``.

    Raises
    ------
    DataError
        When more rows cannot be used than can, or two give a text other probabilities.
    """

    def __init__(
        self,
        rows: Iterable[Fields],
        shares: Callable[[Fields], Probabilities],
        labels: Sequence[str],
        path: Path,
        parts: Sequence[str] = (),
    ) -> None:
        self._predictions: dict[str, Prediction] = {}
        unusable: list[UnusableRowError] = []
        for row in rows:
            try:
                values = shares(row)
                text = _text_of(row, parts)
            except UnusableRowError as error:
                unusable.append(error)
                continue
            prediction = Prediction(probabilities=values, missing="" if values else "no number")
            if self._predictions.setdefault(text, prediction) != prediction:
                raise row.wrong(f"other probabilities for {text[:80]!r}", "one answer to a text")
        if len(unusable) > len(self._predictions):
            raise unusable[0]
        remark_unusable([error.found for error in unusable], path)
        self._unusable, self._missing = len(unusable), set[str]()
        self._path = path
        self.labels = tuple(labels)
        self.spec = f"predictions:{path}"
        self.fingerprint = sha256_of(path)[:16]

    def classify(self, texts: Sequence[str]) -> list[Prediction]:
        """Look every text up."""
        missing = [text for text in dict.fromkeys(texts) if text not in self._predictions]
        # A row that cannot be used costs a text, though it need not say which.
        self._missing.update(missing)
        if len(self._missing) > self._unusable:
            raise MissingPredictionsError(self._path, missing)
        unusable = Prediction(probabilities=(), missing="unusable row")
        return [self._predictions.get(text, unusable) for text in texts]

    def stream(self, texts: Sequence[str]) -> Iterable[tuple[int, Prediction]]:
        """The same; in portions not all missing texts would be named at once."""
        return enumerate(self.classify(texts))


def _text_of(row: Fields, parts: Sequence[str]) -> str:
    """The text of a row: of columns of these names, or else `text`, a string or a list of them."""
    columns = parts if parts and set(parts) <= set(row.columns) else ("text",)
    cells = [row.values.get(name) for name in columns]
    texts = cells[0] if isinstance(cells[0], list) and not cells[1:] else cells
    strings = [text for text in texts if isinstance(text, str)]
    if not strings or strings != texts:
        raise row.wrong(f"`{columns[0]}` is {cells[0]!r}", "the text as a string")
    return joined(strings)


class MissingPredictionsError(ModelError):
    """Texts that a file of saved predictions does not answer; ``texts`` holds them."""

    def __init__(self, path: Path, texts: Sequence[str]) -> None:
        super().__init__(
            f"{path} has no prediction for {len(texts)} texts, such as {readable(texts[0])[:80]!r}",
            expected="a row for every requested text",
            fix="run the model on them, add the rows to the file, and run the command again",
        )
        self.texts = tuple(texts)


def remark_unusable(problems: Sequence[str], path: Path) -> None:
    """Write how many rows of a file cannot be used, if any."""
    if problems:
        remark_once(f"{path.name}: {counted(len(problems), 'unusable row')}, such as {problems[0]}")


def _read_classifier(source: Source, path: Path, parts: Sequence[str]) -> SavedClassifier:
    """A file with ``text`` and ``probabilities``, and the ``labels`` in the first row."""
    labels: tuple[str, ...] = ()
    rows = []
    for row in read_fields(source, _columns((*SAVED_NAMES, *parts)), required=()):
        labels = labels if row.row.unusable else _labels(row, labels)
        # The first row may hold the labels alone.
        if row.row.unusable or any(row.cells.get(name) is not None for name in _ANSWER):
            rows.append(row)

    def shares(row: Fields) -> Probabilities:
        numbers = unprinted(row.values.get("probabilities"))
        values = _shares(numbers)
        if values is None or len(values or labels) != len(labels):
            expected = f"{len(labels)} numbers from 0 to 1 that sum to 1, one for each of {labels}"
            raise row.wrong(f"`probabilities` is {str(numbers)[:100]}", expected)
        return values

    if not rows and set(source.columns) != {"labels"}:
        raise DataError(
            f"no predictions in {path.name}; its columns are {listed(source.columns)}",
            expected="a row for every text, with `text` and `probabilities`",
            fix="add the rows, or rename the columns",
        )
    return SavedClassifier(rows, shares, labels, path, parts)


def _read_pipeline(source: Source, path: Path, parts: Sequence[str]) -> SavedClassifier:
    """The likeliest label of each text, with its score; the other labels share the rest evenly."""
    names = _columns(("text", "label", "score", *parts))
    rows = list(read_fields(source, names, required=("label", "score")))
    labels = sorted({row.name("label") or "" for row in rows if not row.row.unusable} - {""})

    def shares(row: Fields) -> Probabilities:
        label = row.name("label")
        score: Any = 1.0 if len(labels) == 1 else row.values["score"]
        if label is None or not isinstance(score, float | int) or not 1 / len(labels) <= score <= 1:
            problem = f"the label {label!r} with the score {score!r:.40}"
            raise row.wrong(problem, f"the likeliest of {len(labels)} labels, and its probability")
        rest = (1 - score) / max(1, len(labels) - 1)
        return shares_of([score if name == label else rest for name in labels])

    return SavedClassifier(rows, shares, labels, path, parts)


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


_TABLE = re.compile(r"(?P<path>.+\.tsv(?:\.gz)?)(?:#(?P<model>.*))?", re.IGNORECASE | re.DOTALL)
NOT_GIVEN, NOT_ASKED = ".", "-"
"""The characters in place of a letter."""

_BY_ID = "save the answers as .jsonl, with an `id` each"


class TableName(NamedTuple):
    """A table's file and the name of one of its models; None where none is named."""

    path: Path
    model: str | None


def parse_table_name(rest: str) -> TableName | None:
    """Split the part of a spec after ``predictions:``, if it names a table.

    Examples
    --------
    >>> parse_table_name("answers.jsonl") is None
    True
    >>> parse_table_name("answers.tsv.gz#yi-6b").model
    'yi-6b'
    """
    match = _TABLE.fullmatch(rest)
    return TableName(expanded(match["path"]), match["model"] or None) if match else None


class TableColumn:
    """One model of a table, in the role of choice scorer; questions are known by their row.

    Raises
    ------
    DataError
        When the table cannot be read, no model or an unknown one is named, or its answers hold a
        character that means nothing.
    """

    def __init__(self, table: TableName) -> None:
        path, model = table
        lines = _read_table(path)
        if model is None or model not in lines:
            raise _unknown_model(table, list(lines))
        self._letters = lines[model]
        if strange := re.search(f"[^{LETTERS}{NOT_GIVEN}{NOT_ASKED}]", self._letters):
            raise DataError(
                f"{strange[0]!r} as answer {strange.start()} of `{model}` in {path.name} "
                "(the first is 0)",
                expected="a letter from A to Z, `.` for no answer, `-` for not asked",
                fix="fix the line of the model",
            )
        self._name = path.name
        self.spec = f"predictions:{path}#{model}"
        content = path.read_bytes() + b"\n" + model.encode()
        self.fingerprint = hashlib.sha256(content).hexdigest()[:16]

    def choose(self, questions: Sequence[Question]) -> Answers:
        """Look up every question by its row of the data.

        Raises
        ------
        ModelError
            When a question has no row number, or one that the table lacks.
        """
        for place, question in enumerate(questions):
            if question.row is None or not 0 <= question.row < len(self._letters):
                row = "no known row" if question.row is None else f"row {question.row}"
                raise ModelError(
                    f"the question `{question.id}` of {row}, and {self._name} with "
                    f"{len(self._letters)} answers a model, by row from 0",
                    expected="questions that are made of the rows of the table's data",
                    fix=f"choose the data that the table was made for, or {_BY_ID}",
                )
            letter = self._letters[question.row]
            choice = LETTERS.find(letter)
            is_option = 0 <= choice < len(question.options)
            yield place, Answer(choice=choice if is_option else None, asked=letter != NOT_ASKED)

    def require_rows(self, rows: int, data: str) -> None:
        """Check that the table is as long as the data.

        Raises
        ------
        ModelError
            When the data have more rows or fewer: the letters would belong to other rows.
        """
        if rows != len(self._letters):
            raise ModelError(
                f"{rows} rows in {data}, and {self._name} with {len(self._letters)} answers a "
                "model, by row",
                expected="one character for each row of the data, in their order",
                fix=f"choose the data that the table was made for, or {_BY_ID}",
            )


def _read_table(path: Path) -> Mapping[str, str]:
    require_file(path, "a table of answers: a model's name, a tab, one character per question")
    lines: dict[str, str] = {}
    for number, line in enumerate(read_lines(path), start=1):
        name, tab, letters = line.rstrip("\r\n").partition("\t")
        if not name.strip() or not tab or not letters or name in lines:
            raise DataError(
                f"line {number} of {path.name}: {line.strip()[:60]!r}"
                f"{', a model that is listed twice' if name in lines else ''}",
                expected="a model's name, each once, a tab, and one character per question",
                fix="fix the line",
            )
        lines[name] = letters
        first = next(iter(lines))
        if len(letters) != len(lines[first]):
            raise DataError(
                f"{len(lines[first])} answers of `{first}` and {len(letters)} of `{name}` in "
                f"{path.name}",
                expected="as many characters for each model as there are questions",
                fix="fill the gaps with `-`",
            )
    return lines


def _unknown_model(table: TableName, models: Sequence[str]) -> DataError:
    name = table.path.name
    shown = ", ".join(models[:40]) + (", …" if len(models) > 40 else "")
    if table.model is None:
        return DataError(
            f"{name}, a table of answers, without the name of a model",
            expected=f"predictions:{name}#MODEL with one of {len(models)}: {shown or '(none)'}",
            fix=f"add #MODEL, or #{ALL} for all of them",
        )
    return DataError(
        f"no model `{table.model}` in {name}",
        expected=f"one of {len(models)}: {shown or '(none)'}",
        fix=did_you_mean(table.model, models, f"check the name, or write #{ALL} for all", most=3),
    )


def prediction_files(folder: Path) -> dict[str, Path]:
    """The files of saved predictions in a folder, by the names of their models.

    Raises
    ------
    DataError
        When there is none.
    """
    files = {
        path.name[: -len(suffix)]: path
        for path in sorted(folder.iterdir())
        for suffix in _OF_ONE_MODEL
        if path.is_file() and path.name.casefold().endswith(suffix)
    }
    if files:
        return files
    raise DataError(
        f"no saved answers in the folder `{folder}`",
        expected=f"one file a model, its name ending in {', '.join(_OF_ONE_MODEL)}",
        fix="name another folder",
    )


def load(rest: str, options: ModelOptions) -> SavedClassifier | SavedAnswers | TableColumn:
    """Read a file of saved predictions or answers.

    Raises
    ------
    DataError
        When the file is missing, cannot be read, or a row lacks a field or has wrong numbers.
    """
    if table := parse_table_name(rest):
        return TableColumn(table)
    path = expanded(rest)
    require_file(
        path,
        "JSON lines (.jsonl, .jsonl.gz) or .parquet with saved predictions, or FILE.tsv#MODEL with "
        "a table of answers",
    )
    with reading(path.name):
        opened = open_parquet if path.suffix == ".parquet" else open_json
        source = opened(path)
    columns = set(source.columns)
    if "answer" in columns or ("probabilities" in columns and "labels" not in columns):
        return SavedAnswers(source, path)
    texts = columns & {"text", *options.parts}
    if {"label", "score"} <= columns and texts:
        return _read_pipeline(source, path, options.parts)
    if not columns & {"probabilities", "labels"}:
        raise DataError(
            f"no answers in {path.name}; its columns are {listed(source.columns)}",
            expected="a column `answer` or `probabilities`, or `text`, `label` and `score` as a "
            "pipeline of transformers gives them",
            fix="rename the column that holds the answers",
        )
    return _read_classifier(source, path, options.parts)


class Predictions(Scheme):
    """Saved predictions and answers."""

    saved = True

    def expand(self, rest: str) -> Iterable[str]:
        """Every model of a table, ``FILE.tsv#*``, or every file of saved answers in a folder."""
        if (folder := expanded(rest)).is_dir():
            return [f"predictions:{file}" for file in prediction_files(folder).values()]
        table = parse_table_name(rest)
        if table is None or table.model not in (None, ALL):
            return super().expand(rest)
        models = list(_read_table(table.path))
        if table.model is None:
            raise _unknown_model(table, models)
        return [f"predictions:{table.path}#{model}" for model in models]


SCHEME = Predictions("predictions", load)
