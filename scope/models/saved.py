"""``predictions:FILE``: answers that were saved elsewhere; no model is run.

A classifier's file has one row per text, as JSON lines (gzipped or not) or parquet: ``text``;
``probabilities``, a list in the order of ``labels``; ``labels`` in the first row, which may hold
them alone. Or it has ``text``, ``label`` and ``score``, as a pipeline of transformers gives them. A
file with a column ``answer``, or with ``probabilities`` but no ``labels``, holds
answers to the questions of tasks, and a .tsv file those of many models.

Answers are looked up by the question's id or its words: one row per question, in the same formats:
``id``, or ``text`` (the question), or both; ``answer``, null where the model gave none; and where
there are options maybe ``probabilities``, one for each in their order. An answer to choose is the
option's number from 0, its letter, or its text, or a reply that names one as an endpoint's does.
What names no option is no answer, and wrong; a thought before the answer is left out. A row that
cannot be used costs the question it answers, for all models.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from scope.data.fields import (
    Fields,
    is_missing,
    plain_label,
    read_fields,
    storable,
    unambiguous,
    unprinted,
)
from scope.data.formats import open_json, open_parquet
from scope.data.items import option_index
from scope.data.sources import Source, UnusableRowError, guarded_source, reading
from scope.data.specs import require_file
from scope.errors import DataError, ModelError
from scope.metrics.arrays import is_distribution
from scope.models.answer_table import TableColumn, expand_table, load_column, parse_table_name
from scope.models.endpoint.letters import spelled_option, written_letter
from scope.models.options import ModelOptions
from scope.models.replies import unusable_row, without_thought
from scope.models.saved_classifier import (
    SavedClassifier,
    fingerprint_of_file,
    read_classifier,
    read_pipeline,
    remark_unusable,
    rounded,
)
from scope.models.scheme import Scheme
from scope.paths import expanded
from scope.printing import counted, listed
from scope.protocols import Answers
from scope.records import Answer, Probabilities, Question, own_id_of

_NAMES = {name: (name,) for name in ("id", "text", "answer", "probabilities", "labels")}
NO_NUMBER: Final = "no number"
THOUGHT_UNFINISHED = Answer(missing="thought not finished")
_SUFFIXES = (".jsonl", ".jsonl.gz", ".parquet")
_REPLY = 80
"""Most characters that are kept of a reply that names no option."""


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

    def in_words(self, question: Question) -> Answer:
        """The answer as a text."""
        answer = self.answer
        if answer is None:
            return self._unreadable("no `answer`") if self.probabilities else Answer()
        if not isinstance(answer, str | int | float) or isinstance(answer, bool):
            return self._unreadable(answer)
        # A column with gaps holds whole numbers as floats.
        text = without_thought(answer if isinstance(answer, str) else plain_label(str(answer)))
        return THOUGHT_UNFINISHED if text is None else Answer(text=text.strip())

    def among_options(self, question: Question) -> Answer:
        """The answer as one of the question's options; the likeliest if only those are given."""
        answer, values, options = self.answer, self.probabilities, question.options
        if isinstance(answer, str) and (answer := without_thought(answer)) is None:
            return THOUGHT_UNFINISHED
        if self.fault or (values and len(values) != len(options)):
            return self._unreadable(f"probabilities {self.fault or list(values)}")
        choice = values.index(max(values)) if values else None
        if answer is not None:
            try:
                choice = option_index(answer, options)
            except ValueError:
                reply = answer if isinstance(answer, str) else ""
                letter = written_letter(reply, len(options))
                choice = letter.option if letter else spelled_option(reply, options)
            if choice is None:
                return self._unreadable(answer)
            if values and values[choice] < max(values):
                return self._unreadable(f"{answer}, which is not the likeliest of {list(values)}")
        return Answer(choice=choice, probabilities=values)

    def _unreadable(self, content: object) -> Answer:
        if self.fault == NO_NUMBER:
            return Answer(missing=NO_NUMBER)
        return Answer(missing="not readable", reply=" ".join(str(content).split())[:_REPLY])

    def is_of(self, question: Question) -> bool:
        """Whether the row has no text, or that of the question."""
        return self.text in ("", question.text.strip())


_Rows = Mapping[str, SavedRow]


class SavedAnswers:
    """Looks answers up by id, or else by the words of the question; no model is run."""

    def __init__(self, by_id: _Rows, by_text: _Rows, path: Path, unusable: Sequence[str]) -> None:
        self._by_id = by_id
        self._by_text = by_text
        self._unusable = unusable
        self._name = path.name
        self.spec = f"predictions:{path}"
        self.fingerprint = fingerprint_of_file(path)

    def answer(self, questions: Sequence[Question]) -> Answers:
        """The saved answer to each question, or the word for its blank."""
        return self._look_up(questions, SavedRow.in_words)

    fill = answer

    def choose(self, questions: Sequence[Question]) -> Answers:
        """The saved option for each question, and the probabilities if they were saved."""
        return self._look_up(questions, SavedRow.among_options)

    def _look_up(
        self, questions: Sequence[Question], read: Callable[[SavedRow, Question], Answer]
    ) -> Answers:
        rows = list(map(self._row, questions))
        missing = [question for question, row in zip(questions, rows, strict=True) if row is None]
        if len(missing) > len(self._unusable):
            raise self._lacks(missing, questions)
        unusable = iter(self._unusable)  # Each costs a question, though it need not say which.
        for place, (row, question) in enumerate(zip(rows, questions, strict=True)):
            yield place, read(row, question) if row else unusable_row(next(unusable))

    def _row(self, question: Question) -> SavedRow | None:
        own_id, same = own_id_of(question.id), self._by_text.get(question.text.strip())
        row = self._by_id.get(own_id)
        if row is None or (same is not None and not row.is_of(question)):
            return same
        if row.is_of(question):
            return row
        # An id that means another question in another file would give wrong answers silently.
        raise DataError(
            f"{row.place}: `text` is {row.text[:60]!r}, where the data have under the id "
            f"`{own_id}` the question {question.text[:60]!r}",
            expected="answers to the same questions under the same ids",
            fix="choose the file that belongs to the data",
        )

    def _lacks(self, missing: Sequence[Question], questions: Sequence[Question]) -> ModelError:
        """The error of a file without these answers; ids that no question has may show why."""
        texts = {
            text
            for question in questions
            for text in (own_id_of(question.id), question.text.strip())
        }
        others = [id_ for id_, row in self._by_id.items() if not {id_, row.text} & texts]
        rest = f", and {counted(len(others), 'row')} under other ids: {listed(others, 3)}"
        return ModelError(
            f"{self._name} has no answer to {len(missing)} of {len(questions)} questions: "
            f"{listed([question.id for question in missing], 3)} (the first is "
            f"{missing[0].text[:60]!r}){rest * bool(others)}",
            expected="a row for every question that is asked, with its `id` or its `text`",
            fix="add the rows, or check that the file belongs to these data; an `answer` that "
            "is null says that the model gave none",
        )


def read_saved_answers(source: Source, path: Path) -> SavedAnswers:
    """Read all rows of a file of answers; rows without id and text, or without JSON, are unusable.

    An id of two texts identifies neither, and a text of two ids neither of them.

    Raises
    ------
    DataError
        When two rows answer the same question differently.
    """
    rows: dict[tuple[str | None, str], SavedRow] = {}
    unusable: list[str] = []
    for fields in read_fields(source, _NAMES, required=()):
        try:
            row, own_id = _row(fields), fields.id
        except UnusableRowError as error:
            unusable.append(error.found)
            continue
        if rows.setdefault((own_id, row.text), row) != row:
            where = f"to {row.text[:60]!r}" if own_id is None else f"under the id `{own_id}`"
            raise fields.wrong(f"another answer {where}", "one answer to a question")
    remark_unusable(unusable, path)
    by_id = unambiguous((own_id, row) for (own_id, _), row in rows.items() if own_id is not None)
    by_text = unambiguous((text, row) for (_, text), row in rows.items() if text)
    return SavedAnswers(by_id, by_text, path, unusable)


def _value(value: object) -> object:
    return None if is_missing(value) else storable(value) if isinstance(value, str) else value


def _row(fields: Fields) -> SavedRow:
    text = fields.text("text").strip()
    if fields.id is None and not text:
        raise fields.wrong("neither `id` nor `text`", "one of them, to say what is answered")
    answer = fields.read("answer", _value)
    numbers = unprinted(fields.read("probabilities", _value))
    shares: Probabilities = ()
    fault = "" if numbers is None else str(numbers)
    if isinstance(numbers, list) and numbers and all(isinstance(n, int | float) for n in numbers):
        if not all(abs(n) < math.inf for n in numbers):
            fault = NO_NUMBER
        elif is_distribution(numbers, len(numbers)):
            shares, fault = rounded(numbers), ""
    return SavedRow(fields.source.place(fields.row), text, answer, shares, fault)


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
    if {"text", "label", "score"} <= columns:
        return read_pipeline(source, path)
    if not columns & {"probabilities", "labels"}:
        raise DataError(
            f"no answers in {path.name}; its columns are {listed(source.columns)}",
            expected="a column `answer` or `probabilities`, or `text`, `label` and `score` as a "
            "pipeline of transformers gives them",
            fix="rename the column that holds the answers",
        )
    return read_classifier(source, path)


class Predictions(Scheme):
    """Saved predictions and answers."""

    saved = True

    def expand(self, rest: str) -> Iterable[str]:
        """Every model of a table, ``FILE.tsv#*``, or every file of saved answers in a folder."""
        if (folder := expanded(rest)).is_dir():
            return [f"predictions:{file}" for file in prediction_files(folder).values()]
        table = parse_table_name(rest)
        return (table and expand_table(table)) or super().expand(rest)


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
        for suffix in _SUFFIXES
        if path.is_file() and path.name.casefold().endswith(suffix)
    }
    if files:
        return files
    raise DataError(
        f"no saved answers in the folder `{folder}`",
        expected=f"one file a model, its name ending in {', '.join(_SUFFIXES)}",
        fix="name another folder",
    )


SCHEME = Predictions("predictions", load)
