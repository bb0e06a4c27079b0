"""Reads whether the answers of many models are right: from tables, saved predictions and runs.

A table has one row per answer, or one row per question and no answers. A column is detected by its
usual names, of which the first match counts, or named as ``ROLE=NAME``. So the files of EmbedLLM,
with ``prompt_id, model_id, category_id, label, prompt, model_name, category``, need no options.

A folder of predictions has one file per model. A row has ``id`` or ``text`` or both;
``probabilities``, or an ``answer`` that is null where the model gave none; and ``gold``, the right
answer, if known. ``labels``, in the first row or alone before it, are the labels of the
probabilities. Answers and gold are a number from 0, a letter, a label or option, or any text; an
answer may be a reply that names one (`scope.models.saved`), and ``gold`` a list of texts that are
right. A row may have ``options`` and ``category``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from scope.data.fields import (
    LETTERS,
    NONE,
    Fields,
    UnreadableError,
    WantedColumn,
    column_names,
    columns_by_role,
    is_missing,
    label_of,
    plain_label,
    read_columns,
    read_fields,
    read_rows,
    storable,
    unambiguous,
    unprinted,
)
from scope.data.items import CHOICE_NAMES, options_in, right_answers
from scope.data.sources import LeftOutRows, Source, SourceRow, UnusableRowError, data_spec
from scope.data.specs import open_file, open_source
from scope.errors import DataError, RunError, SpecError, counted, did_you_mean, listed
from scope.jobs.answering_models import notes_on
from scope.metrics.agreement import exact_match_values
from scope.models.replies import option_of
from scope.models.saved import SAVED_NAMES, SavedRow, named_option, prediction_files, saved_row
from scope.models.scheme import scheme_of
from scope.paths import expanded
from scope.records import Answer, CompareResult, Item, TaskAnswers
from scope.store.folder import RunFolder

if TYPE_CHECKING:
    import pandas


NAMES = {
    **column_names(
        model="model model_name model_id",
        item="item id item_id question_id prompt_id sample_id",
        text="text question prompt",
        category="category benchmark subject dataset category_id eval_name",
        correct="correct is_correct right label score",
        gold="gold answer answerkey",
    ),
    **{role: CHOICE_NAMES[role] for role in ("context", "options")},
}
"""The usual column names of each role, in any case."""

ABOVE = "correct above"
"""In place of a role: the score above which an answer is right."""

COLUMNS = ("model", "id", "text", "category", "correct")
"""The columns of every data frame of answers."""

_RIGHT: Final[Mapping[str, int | None]] = (
    dict.fromkeys(("1", "true", "right", "correct", "yes"), 1)
    | dict.fromkeys(("0", "false", "wrong", "incorrect", "no"), 0)
    | dict.fromkeys(("", "nan", "na", "n/a", "<na>", "none", "null"))
)


class LongTable(NamedTuple):
    """Answers in long format with the columns `COLUMNS`, and remarks on what was left out."""

    rows: pandas.DataFrame
    notes: tuple[str, ...] = ()


class AnswerKey(NamedTuple):
    """The right answers of a question, empty if unknown; its options, and their labels."""

    gold: tuple[object, ...] = ()
    options: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()


AnswerKeys = Mapping[str, AnswerKey]
"""By the question's id or text."""


def read_sources(
    specs: Sequence[str | Path], columns: Mapping[str, str], most: float, *, answers: bool
) -> tuple[list[pandas.DataFrame], tuple[str, ...]]:
    """A data frame for each source, and remarks on what was left out."""
    folders = {source: expanded(source) for source in map(data_spec, specs)}
    runs = [path for path in folders.values() if path.is_dir() and is_run(path)]
    read = [read_runs(runs, answers=answers)] if runs else []
    tables = [source for source, path in folders.items() if not path.is_dir()]
    keys = answer_keys(tables, columns) if len(tables) + len(runs) < len(folders) else {}
    for source, path in folders.items():
        if source in tables:
            alone = len(folders) == 1
            read.append(read_long(source, columns, most, answers=answers, alone=alone))
        elif path not in runs:
            read.append(read_predictions(path, columns, keys, most, answers=answers))
    return [source.rows for source in read], tuple(note for source in read for note in source.notes)


def read_long(
    spec: str, named: Mapping[str, str], most: float, *, answers: bool, alone: bool
) -> LongTable:
    """Read a table; ``answers`` requires answers, unless it has none and is not ``alone``.

    Raises
    ------
    DataError
        When a column is missing, a score is neither 0 nor 1 and no limit is named, or a larger
        share than ``most`` of the rows is unusable.
    """
    source, named = _opened(spec, named)
    columns = choose_matrix_columns(source, named)
    if not {"model", "correct"} <= columns.keys():
        if answers and (alone or {"model", "correct"} & columns.keys()):
            role = "correct" if "model" in columns else "model"
            raise missing_column(role, source)
        columns = {role: name for role, name in columns.items() if role not in ("model", "correct")}
    rows, left_out = _frame(source, columns, named.get(ABOVE))
    unusable = notes_on(left_out, len(rows) + left_out.total(), source.name, most)
    nobody = rows["model"].isna() & rows["correct"].notna()
    unknown = rows["model"].notna() & rows["correct"].isna()
    notes = (
        f"{counted(int(mask.sum()), 'row')} of {source.name} left out, {why}"
        for mask, why in (
            (nobody, "an answer without the name of a model"),
            (unknown, "for whether the answer is right is not said"),
        )
        if mask.any()
    )
    return LongTable(rows[~nobody], (*source.notes, *unusable, *notes))


def _opened(spec: str, named: Mapping[str, str]) -> tuple[Source, Mapping[str, str]]:
    """A source with one row per answer, also of a table with a column per model."""
    source = open_source(spec)
    models = named.get("model", "").split(",")
    if len(models) < 2 or not set(models) <= set(source.columns):
        return source, named
    kept = [column for column in source.columns if column not in (*models, "model", "correct")]

    def read(asked: Sequence[str]) -> Iterator[SourceRow]:
        for row in source.read([*kept, *models]):
            values = dict(zip([*kept, *models], row.values, strict=False))
            for model in models[: 1 if row.unusable else None]:
                cells = {**values, "model": model, "correct": values.get(model)}
                yield row._replace(values=tuple(map(cells.get, asked)))

    long = replace(source, columns=(*kept, "model", "correct"), read=read, batches=None)
    return long, {role: name for role, name in named.items() if role not in ("model", "correct")}


def _frame(
    source: Source, columns: Mapping[str, str], above: str | None
) -> tuple[pandas.DataFrame, LeftOutRows]:
    """The columns of the roles; the text includes those of context and options."""
    names = source.class_names.get(columns.get("category", ""), ())
    readers: dict[str, Callable[[Any], object]] = {
        "model": label_of,
        "item": label_of,
        "category": partial(label_of, names=names),
        "correct": partial(correct_of, above=None if above is None else float(above)),
    }
    wanted = {
        role: WantedColumn((columns[role],), read, required=role == "item")
        for role, read in readers.items()
        if role in columns
    }
    roles = [role for role in ("text", "context", "options") if role in columns]

    def read_text(*values: object) -> str | None:
        content = dict(zip(roles, values, strict=True))
        options, _ = options_of(content.get("options"))
        return whole_text(written_of(content["text"]), written_of(content.get("context")), options)

    if "text" in columns:
        several = tuple(columns[role] for role in roles)
        wanted["text"] = WantedColumn(several, read_text, required="item" not in columns)
    rows, left_out = read_columns(source, wanted)
    rows["id"] = rows["item" if "item" in rows else "text"]
    rows = rows.reindex(columns=list(COLUMNS))
    return rows.assign(correct=rows["correct"].astype("float32")), left_out


def choose_matrix_columns(source: Source, named: Mapping[str, str]) -> dict[str, str]:
    """The column of each role: the named one, otherwise the first with a usual name.

    Raises
    ------
    SpecError
        When a role is unknown.
    DataError
        When a named column is missing, or no column identifies a question.
    """
    fix = "name another column: --column {}=NAME"
    chosen = columns_by_role(source, NAMES, by_role(named), fix)
    if not {"item", "text"} & chosen.keys():
        raise missing_column("item", source, "or the question's text")
    return chosen


def missing_column(role: str, source: Source, rest: str = "") -> DataError:
    """The error for a table without a column of a role that is needed."""
    usual = ", ".join((*NAMES[role], *([rest] if rest else [])))
    return DataError(
        f"no column for {role} in {source.name}; its columns are {listed(source.columns)}",
        expected=f"one of the names {usual}",
        fix=f"name the column: --column {role}=NAME"
        + "; or the column of each model: --column model=NAME,NAME" * (role == "model"),
    )


def by_role(named: Mapping[str, str]) -> dict[str, str]:
    """Columns by the role's own name; ``question`` is another name of ``text``."""
    columns: dict[str, str] = {}
    for name, column in named.items():
        if name == ABOVE:
            continue
        role = "text" if name == "question" else name
        if role not in NAMES:
            raise SpecError(
                f"no column has the role `{name}`",
                expected=f"one of the roles {', '.join((*NAMES, 'question'))}",
                fix=did_you_mean(name, (*NAMES, "question"), "use one of them"),
            )
        if role in columns:
            raise SpecError(
                f"two columns for {role}: `{columns[role]}` and `{column}`",
                expected="one column a role",
                fix="leave one of them out",
            )
        columns[role] = column
    return columns


def as_fields(columns: Mapping[str, str]) -> dict[str, str]:
    """The columns by the meanings of `Fields`, where the name of a question is its id."""
    return {"id" if role == "item" else role: column for role, column in columns.items()}


def answer_keys(specs: Iterable[str], named: Mapping[str, str]) -> dict[str, AnswerKey]:
    """The right answers by question id and by text, from tables with one row per question.

    An id or text of two questions with other right answers or options identifies neither.
    """
    keys: list[tuple[str, AnswerKey]] = []
    for spec in specs:
        source, roles = _opened(spec, named)
        columns = choose_matrix_columns(source, roles)
        if "gold" not in columns or {"model", "correct"} & columns.keys():
            continue
        for row in read_rows(source, as_fields(columns)):
            with suppress(UnusableRowError):
                keys += _keys(row)
    return unambiguous(keys)


def _keys(row: Fields) -> list[tuple[str, AnswerKey]]:
    options = row.read("options", options_of) or ()
    key = AnswerKey(tuple(right_answers(row.values["gold"]) or ()), *options)
    return [(name.strip(), key) for name in (row.id, row.text("text")) if name]


def written_of(value: object) -> str | None:
    """The value as a text; None if missing or blank.

    Raises
    ------
    UnreadableError
        When it is no text.
    """
    if is_missing(value):
        return None
    if not isinstance(value, str | int | float):
        raise UnreadableError(f"{value!r:.60}", "a text")
    return storable(str(value)) if str(value).strip() else None


def correct_of(value: object, above: float | None = None) -> int | None:
    """Whether an answer is right: 1 or 0, or None if unknown.

    A number is right where it is greater than ``above``.

    Raises
    ------
    UnreadableError
        When it is neither 0 or 1, nor true or false, nor right or wrong.
    DataError
        When it is another number, and there is no ``above``.

    Examples
    --------
    >>> correct_of("Right"), correct_of(False), correct_of(1.0), correct_of(None), correct_of("NaN")
    (1, 0, 1, None, None)
    """
    spelling = "" if is_missing(value) else plain_label(str(value)).casefold()
    try:
        score = float(spelling)
    except ValueError:
        score = math.nan
    if above is not None and math.isfinite(score):
        return int(score > above)
    if spelling in _RIGHT:
        return _RIGHT[spelling]
    if math.isfinite(score):
        raise DataError(
            f"{value!r:.60} for whether an answer is right",
            expected="0 or 1, or the score above which an answer is right",
            fix="say which scores are right, such as --correct-above 0.5; or name another "
            "column: --column correct=NAME",
        )
    raise UnreadableError(
        f"{value!r:.60} for whether the answer is right",
        "0 or 1, true or false, right or wrong, or nothing where it is not known",
    )


def options_of(value: object) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The options of a question, in any form that benchmarks have or in one text; and their labels.

    Raises
    ------
    UnreadableError
        When it is none of these.

    Examples
    --------
    >>> options_of(["Ann", "Bob"]), options_of("A) Ann"), options_of(None)
    ((('Ann', 'Bob'), ()), (('A) Ann',), ()), ((), ()))
    """
    if is_missing(value) or isinstance(unprinted(value), str):
        text = written_of(value)
        return ((), ()) if text is None else ((text,), ())
    return options_in(value)


def whole_text(question: str | None, context: str | None, options: Sequence[str]) -> str | None:
    """A question with its context and options on separate lines.

    Examples
    --------
    >>> whole_text("Who?", None, ("Ann", "Bob"))
    'Who?\\nAnn\\nBob'
    """
    if question is None:
        return None
    return "\n".join([question, *([context] if context else []), *options])


_COLUMNS: Final[Mapping[str, Sequence[str]]] = {
    **{name: (name,) for name in (*SAVED_NAMES, "gold")},
    **{role: NAMES[role] for role in ("text", "options", "category")},
}
"""The column names of files of predictions."""


class ModelAnswer(NamedTuple):
    """A row in long format: whether a model's answer to a question is right, None if unknown.

    ``unread`` is an answer that names none of the options, and therefore is wrong.
    """

    model: str
    id: str
    text: str | None
    category: str | None
    correct: int | None
    unread: str = ""


def _long_table(
    rows: Sequence[ModelAnswer], without_gold: int, notes: Sequence[str] = ()
) -> LongTable:
    import pandas

    note = f"{counted(without_gold, 'row')} left out, for no right answer is known"
    frame = pandas.DataFrame([row[: len(COLUMNS)] for row in rows], columns=COLUMNS, dtype=object)
    return LongTable(frame, (*notes, *([note] if without_gold else [])))


def read_predictions(
    folder: Path, columns: Mapping[str, str], keys: AnswerKeys, most: float, *, answers: bool
) -> LongTable:
    """Read all files of a folder; a model is named by its file, without the ending.

    Answers are read as `scope.models.saved` reads them for a comparison. One is right if it equals
    a gold answer; texts that are neither labels nor options need the same words. A missing answer
    is wrong, and so is one that names no label or option, which is counted in the remarks. Rows
    without gold are left out and counted if ``answers`` are wanted, otherwise their answers are
    unknown; rows that cannot be used are left out and counted. Questions are the same by ``id``, or
    else by ``text``.

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
    named = as_fields(by_role(columns))
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
        if unread := [row.unread for row in rows[before:] if row.unread]:
            wrong = f"{counted(len(unread), 'answer')} of {path.name} counted as wrong"
            notes.append(f"{wrong}, for no option is named: {'; '.join(unread[:3])}")
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
            left_out.add(error)


def _answer_of(fields: Fields, model: str, labels: Sequence[str], keys: AnswerKeys) -> ModelAnswer:
    row, row_id, text = saved_row(fields), fields.id, fields.text("text") or None
    key = keys.get(row.text) or keys.get(row_id or "") or AnswerKey()
    options, names = fields.read("options", options_of) or ((), ())
    if not options:
        options, names = key.options, key.labels
    gold = tuple(right_answers(fields.values.get("gold")) or key.gold)
    whole, category = whole_text(text, None, options), fields.name("category")
    if not gold:
        return ModelAnswer(model, row_id or "", whole, category, None)
    if not fields.columns.keys() & {"answer", "probabilities"}:
        raise fields.wrong("neither `answer` nor `probabilities`", "one of them")
    key = AnswerKey(gold, options or tuple(labels), names or tuple(labels))
    if key.options or row.answer is None:
        answer = row.among_options(key.options or ("",) * len(row.probabilities), key.labels)
    else:
        answer = row.in_words()
    correct = _is_right(answer, row, key, fields)
    return ModelAnswer(model, row_id or "", whole, category, correct, answer.reply)


def _is_right(answer: Answer, row: SavedRow, key: AnswerKey, fields: Fields) -> int:
    """Whether the answer is the same label, option or words as one of the gold answers."""

    def place(value: object) -> int | None:
        # Numbers may be of another type in one of the files.
        if not key.options and (number := plain_label(str(value))).lstrip("-").isdecimal():
            return int(number)
        return named_option(value, key.options or LETTERS, key.labels)

    if answer.choice is None and answer.text is None:
        return 0
    choice = answer.choice if answer.text is None else place(answer.text)
    for right in key.gold:
        if not key.options and isinstance(row.answer, str) and isinstance(right, str):
            same = bool(exact_match_values([answer.text or ""], [right])[0])
            # A single capital is the letter of an option, listed or not.
            same |= choice is not None and choice == option_of(right, len(LETTERS))
        elif (right_place := place(right)) is not None:
            same = choice == right_place
        else:
            problem = f"the right answer {right!r:.60}, which is no label or option"
            raise fields.wrong(problem, "one of them", "a right answer that is no label or option")
        if same:
            return 1
    return 0


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
        for item, responses in zip(task.items, zip(*task.answers, strict=True), strict=True):
            if answers and not _has_gold(item):
                without_gold += 1
                continue
            question = item.question
            row_id = question.id if len(names) == 1 else f"{name}/{question.id}"
            text = whole_text(question.text, question.context, question.options)
            for model, answer in zip(result.manifest.models, responses, strict=True):
                correct = _correct(answer, item, normalize)
                rows.append(ModelAnswer(model.name, row_id, text, item.category or name, correct))
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
    texts = [answer.text] * len(item.gold)
    return int(exact_match_values(texts, item.gold, normalize=normalize).max())
