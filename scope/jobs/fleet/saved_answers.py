"""Reads the correctness of answers in folders of saved predictions and finished runs.

A folder of predictions has one file per model. A row has ``id`` or ``text`` or both;
``probabilities``, or an ``answer`` that is null where the model gave none; and ``gold``, the right
answer, if known. ``labels``, in the first row or alone before it, are the labels of the
probabilities. Answers and gold are a number from 0, a letter, a label or option, or any text;
``gold`` may be a list of texts that are right. A row may have ``options`` and ``category``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Final, NamedTuple

from scope.data.fields import LETTERS, Fields, is_missing, plain_label, read_fields, unprinted
from scope.data.items import option_index, right_answers
from scope.data.sources import LeftOutRows, UnusableRowError
from scope.data.specs import open_file
from scope.errors import DataError, RunError
from scope.jobs.fleet import long_tables
from scope.jobs.fleet.long_tables import NONE, AnswerKey, AnswerKeys, LongTable, options_of
from scope.jobs.left_out import notes_on
from scope.metrics import best_against_gold, exact_match_values
from scope.models.replies import without_thought
from scope.models.saved import prediction_files
from scope.models.scheme import scheme_of
from scope.printing import counted
from scope.records import Answer, CompareResult, Item, TaskAnswers
from scope.store import RunFolder

_COLUMNS: Final[Mapping[str, Sequence[str]]] = {
    **{name: (name,) for name in ("id", "answer", "probabilities", "labels", "gold")},
    "text": ("text", "question"),
    "options": ("options", "choices"),
    "category": ("category", "benchmark", "subject"),
}


class ModelAnswer(NamedTuple):
    """A row in long format: whether a model's answer to a question is right, None if unknown."""

    model: str
    id: str
    text: str | None
    category: str | None
    correct: int | None


def _long_table(
    rows: Sequence[ModelAnswer], without_gold: int, notes: Sequence[str] = ()
) -> LongTable:
    import pandas

    note = f"{counted(without_gold, 'row')} left out, for no right answer is known"
    frame = pandas.DataFrame(rows, columns=list(long_tables.COLUMNS), dtype=object)
    return LongTable(frame, (*notes, *([note] if without_gold else [])))


def read_predictions(
    folder: Path, columns: Mapping[str, str], keys: AnswerKeys, most: float, *, answers: bool
) -> LongTable:
    """Read all files of a folder; a model is named by its file, without the ending.

    An answer is right if it equals a gold answer: of probabilities the greatest counts, and texts
    that are neither labels nor options need the same words. A missing answer is wrong, and so is
    one that names no label or option. Rows without gold are left out and counted if ``answers`` are
    wanted, otherwise their answers are unknown; rows that cannot be used are left out and counted.
    Questions are the same by ``id``, or else by ``text``.

    Parameters
    ----------
    columns
        Columns by role, for files without the usual names.
    keys
        The right answers of rows without gold, by the question's id or text.

    Raises
    ------
    DataError
        When the folder holds no such file, or a larger share than ``most`` of the rows of one is
        unusable.
    """
    named = long_tables.as_fields(long_tables.by_role(columns))
    rows: list[ModelAnswer] = []
    notes: list[str] = []
    for model, path in prediction_files(folder).items():
        source = open_file(path)
        there = {role: (name,) for role, name in named.items() if name in (*source.columns, NONE)}
        required = ("gold",) if answers and not keys else ()
        fields = read_fields(source, {**_COLUMNS, **there}, required=required)
        left_out, before = LeftOutRows(), len(rows)
        rows += _rows(fields, model, keys, left_out)
        notes += notes_on(left_out, len(rows) - before + left_out.total(), path.name, most)
    ids = _ids_by_text(rows)
    kept = [
        row._replace(id=row.id or ids.get(row.text or "") or row.text or "")
        for row in rows
        if row.correct is not None or not answers
    ]
    return _long_table(kept, len(rows) - len(kept), notes)


def _ids_by_text(rows: Sequence[ModelAnswer]) -> dict[str, str]:
    """The id of each text that has one in some file, for files without ids."""
    ids: dict[str, str] = {}
    without_id = {row.text for row in rows if not row.id}
    for row in rows:
        if not row.id or row.text not in without_id:
            continue
        if ids.setdefault(row.text or "", row.id) != row.id:
            raise DataError(
                f"the text {row.text!r:.80} under two ids, `{ids[row.text or '']}` and "
                f"`{row.id}`, and without an id in another file",
                expected="an id in every file where questions of the same text differ",
                fix="add the ids to all files",
            )
    return ids


def _rows(
    rows: Iterator[Fields], model: str, keys: AnswerKeys, left_out: LeftOutRows
) -> Iterator[ModelAnswer]:
    """The answers of a file; the id is empty where a row has none."""
    labels: tuple[str, ...] = ()
    for fields in rows:
        try:
            labels = fields.read("labels", lambda names: options_of(names)[0]) or labels
            there = {name for name, value in fields.values.items() if not is_missing(value)}
            if there != {"labels"}:
                yield _answer_of(fields, model, labels, keys)
        except UnusableRowError as error:
            left_out.add(error.reason, error.found)


def _answer_of(fields: Fields, model: str, labels: Sequence[str], keys: AnswerKeys) -> ModelAnswer:
    row_id, text = fields.id, fields.text("text") or None
    if row_id is None and text is None:
        raise fields.wrong("neither `id` nor `text`", "one of them, to say what is answered")
    key = keys.get((text or "").strip()) or keys.get(row_id or "") or AnswerKey()
    options, names = fields.read("options", options_of) or ((), ())
    if not options:
        options, names = key.options, key.labels
    gold = right_answers(fields.values.get("gold")) or key.gold
    correct = _is_right(fields, options, names or labels, gold) if gold else None
    whole = long_tables.whole_text(text, None, options)
    return ModelAnswer(model, row_id or "", whole, fields.name("category"), correct)


def _is_right(
    fields: Fields, options: Sequence[str], labels: Sequence[str], gold: Sequence[object]
) -> int:
    """Whether the answer is the same label, option or words as one of the gold answers."""
    if not fields.columns.keys() & {"answer", "probabilities"}:
        raise fields.wrong("neither `answer` nor `probabilities`", "one of them")
    names = options or labels
    answer, probabilities = (fields.values.get(name) for name in ("answer", "probabilities"))
    if is_missing(answer) and probabilities is not None:
        answer = _greatest(fields, unprinted(probabilities), len(names))
    if isinstance(answer, str):
        answer = without_thought(answer)
    if is_missing(answer):
        return 0

    def place(value: object) -> int | None:
        try:
            # Numbers may be of another type in one of the files.
            if not names and (number := plain_label(str(value))).lstrip("-").isdecimal():
                return int(number)
            return option_index(value, names or LETTERS, labels)
        except ValueError:
            return None

    def same(right: object) -> bool:
        if not names and isinstance(answer, str) and isinstance(right, str):
            return bool(exact_match_values([answer], [right])[0])
        if (right_place := place(right)) is None:
            problem = f"the right answer {right!r:.60}, which is no label or option"
            raise fields.wrong(problem, "one of them", "a right answer that is no label or option")
        return place(answer) == right_place

    return int(any(map(same, gold)))


def _greatest(fields: Fields, values: object, choices: int) -> int | None:
    """The index of the greatest, the first of equals; None where the model gave no numbers.

    ``choices`` is 0 if unknown.
    """
    if not isinstance(values, list) or not values or choices not in (0, len(values)):
        raise fields.wrong(
            f"`probabilities` is {str(values)[:100]}",
            f"{choices or 'some'} numbers from 0 to 1, one for each label or option",
            "`probabilities` that are not one for each label or option",
        )
    if not all(isinstance(value, int | float) and 0 <= value <= 1 for value in values):
        return None
    return values.index(max(values))


def is_run(path: Path) -> bool:
    """Whether the folder is that of a run, finished or not."""
    files = RunFolder(path)
    return files.manifest_path.is_file() or files.result_path.is_file()


def read_runs(paths: Sequence[Path], *, answers: bool) -> LongTable:
    """Read runs, joined by the ids of their questions and the names of their models.

    An answer is right if it is the right option, or a text with the same words as one of the right
    answers, as in the metrics ``accuracy`` and ``exact_match``, or one that an evaluation tool
    scored 1; a score between 0 and 1 is unknown. A missing answer to a question that
    was asked is wrong; the answer to a question that was not asked is unknown; a question without a
    known right answer is left out if ``answers`` are wanted. With more than one task or data set,
    ids begin with its name.

    Raises
    ------
    RunError
        When a run is not finished, or damaged.
    DataError
        When a run compares no answers, or two questions have the same id.
    """
    results = [_result(path) for path in paths]
    _require_one_model_a_name(results)
    tasks = [(result, task) for result in results for task in result.tasks]
    names = _names(sorted({(task.task, _data(result, task)) for result, task in tasks}))
    rows: list[ModelAnswer] = []
    without_gold = 0
    for result, task in tasks:
        name = names[task.task, _data(result, task)]
        normalize = bool(result.manifest.settings.get("normalize", False))
        for place, item in enumerate(task.items):
            if answers and not _has_gold(item):
                without_gold += 1
                continue
            question, category = item.question, item.category or name
            row_id = question.id if len(names) == 1 else f"{name}/{question.id}"
            text = long_tables.whole_text(question.text, question.context, question.options)
            for model, responses in zip(result.manifest.models, task.answers, strict=True):
                correct = _correct(responses[place], item, normalize)
                rows.append(ModelAnswer(model.name, row_id, text, category, correct))
    return _long_table(rows, without_gold)


def _require_one_model_a_name(results: Sequence[CompareResult]) -> None:
    specs: dict[str, str] = {}
    for model in (card for result in results for card in result.manifest.models):
        # Saved answers have a file for each task.
        saved = scheme_of(model.spec).saved
        if not saved and specs.setdefault(model.name, model.spec) != model.spec:
            raise DataError(
                f"two models called `{model.name}` in the runs: `{specs[model.name]}` and "
                f"`{model.spec}`",
                expected="runs in which a name means one model",
                fix="give the runs' commands again with specs that are alike, or name fewer runs",
            )


def _result(path: Path) -> CompareResult:
    result = RunFolder(path).read_result()
    if result is None:
        raise RunError(
            f"the run `{path}` is not finished",
            expected="a finished run, with its result.json",
            fix="give the run's command again, which goes on where it was",
        )
    if not isinstance(result, CompareResult) or not result.tasks:
        raise DataError(
            f"the run `{path}` is one of `scope {result.manifest.job}` and holds no answers to "
            "questions",
            expected="a run of `scope compare`",
            fix="name another run, or a table with the columns model, item and correct",
        )
    return result


def _data(result: CompareResult, task: TaskAnswers) -> str:
    """The spec of the task's data."""
    cards = result.manifest.data
    return next((card.spec for card in cards if card.capability == task.task), "")


def _names(keys: Sequence[tuple[str, str]]) -> dict[tuple[str, str], str]:
    """A name of each task and data: the task if that is unique, else the data's file, or both."""
    for name in (lambda key: key[0], lambda key: Path(key[1]).name.split(".")[0], "/".join):
        names = {key: name(key) for key in keys}
        if len(set(names.values())) == len(keys):
            break
    return names


def _has_gold(item: Item) -> bool:
    return item.right is not None if item.question.options else bool(item.gold)


def _correct(answer: Answer, item: Item, normalize: bool) -> int | None:
    if answer.score is not None:
        return int(answer.score) if answer.score in (0, 1) else None
    if not answer.asked or answer.leaves_out or not _has_gold(item):
        return None
    if item.question.options:
        return int(answer.choice == item.right)
    if answer.text is None:
        return 0
    same_words = partial(exact_match_values, normalize=normalize)
    return int(best_against_gold(same_words, [answer.text], [item.gold])[0])
