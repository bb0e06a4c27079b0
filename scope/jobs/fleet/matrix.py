"""Which model answers which question correctly: the matrix that a fleet is learned from.

It is read from tables, saved predictions and runs. Each source becomes a data frame in long format,
with one row per model and question and the columns ``model``, ``id``, ``text``, ``category`` and
``correct``. Any value except the id may be missing in a row.

The costs and communities of its models are read here, too.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Self

import numpy as np
from numpy.typing import NDArray

from scope.data.fields import Fields, read_fields
from scope.data.specs import open_file
from scope.errors import DataError, SpecError, counted, did_you_mean, listed
from scope.jobs.configuration import MOST_UNUSABLE
from scope.jobs.fleet.correctness import read_sources
from scope.jobs.fleet.questions import SHOWN, Answers, text_names
from scope.jobs.fleet.requests import FleetRequest
from scope.paths import expanded
from scope.records import DataCard

if TYPE_CHECKING:
    import pandas


CONFLICT_RULE = "where answers to the same question differ, the majority counts, and none at a tie"
REPEAT_RULE = "an answer that is given more than once counts once"


@dataclass(frozen=True, kw_only=True, eq=False)
class CorrectnessMatrix:
    """The correctness of each model's answer to each question, with the questions' metadata.

    Parameters
    ----------
    models, ids
        Unique names of the models, and of the questions.
    texts
        Each question's text, options included; empty if unknown.
    categories
        The benchmark or subject of each question; None if unknown.
    correct
        Shape (questions, models): 1 right, 0 wrong, NaN unknown.
    conflicts, repeated
        Number of cells with several answers: with different ones, and with equal ones.
    left_out
        Remarks on what the reader left out.

    Examples
    --------
    >>> matrix = CorrectnessMatrix(
    ...     models=("a", "b"),
    ...     ids=("1", "2"),
    ...     texts=("2 + 2?", "Who?"),
    ...     categories=("sums", None),
    ...     correct=np.array([[1, 0], [np.nan, 1]]),
    ... )
    >>> matrix.n_answers, matrix.take([1]).ids
    (3, ('2',))
    """

    models: tuple[str, ...]
    ids: tuple[str, ...]
    texts: tuple[str, ...]
    categories: tuple[str | None, ...]
    correct: Answers
    conflicts: int = 0
    repeated: int = 0
    left_out: tuple[str, ...] = ()

    @property
    def n_answers(self) -> int:
        """Number of known answers."""
        return int(np.count_nonzero(~np.isnan(self.correct)))

    @property
    def text_names(self) -> tuple[str, ...]:
        """A name for each question, shared by questions of the same words."""
        return text_names(self.ids, self.texts)

    @cached_property
    def fingerprint(self) -> str:
        """A hash of the whole matrix, in hexadecimal digits."""
        labels = [self.models, self.ids, self.texts, self.categories, self.conflicts, self.repeated]
        digest = hashlib.sha256(json.dumps(labels).encode())
        # NaN has many bit patterns, -1 has one.
        digest.update(np.nan_to_num(self.correct, nan=-1).astype(np.int8).tobytes())
        return digest.hexdigest()

    @property
    def notes(self) -> tuple[str, ...]:
        """Remarks on the rules that the reader applied, and on what it left out."""
        rules = (
            (self.repeated, "more than once alike", REPEAT_RULE),
            (self.conflicts, "more than once and differently", CONFLICT_RULE),
        )
        applied = (
            f"{counted(count, 'answer')} {'was' if count == 1 else 'were'} given {how}: {rule}"
            for count, how, rule in rules
            if count
        )
        return (*applied, *self.left_out)

    def take(self, rows: Sequence[int] | NDArray[Any]) -> Self:
        """The questions in these rows, in this order; ``rows`` are numbers or a mask."""
        places = np.arange(len(self.ids))[np.asarray(rows)].tolist()
        return type(self)(
            models=self.models,
            ids=tuple(self.ids[place] for place in places),
            texts=tuple(self.texts[place] for place in places),
            categories=tuple(self.categories[place] for place in places),
            correct=self.correct[places],
        )

    def checked(self) -> Self:
        """The matrix itself, if a fleet can be fitted to it.

        Raises
        ------
        DataError
            When all answers are right, or wrong, or a model or question has no answer.
        """
        require_right_and_wrong(self.correct)
        known = ~np.isnan(self.correct)
        for kind, word, names, answered in (
            ("model", "of", self.models, known.any(axis=0)),
            ("question", "to", self.ids, known.any(axis=1)),
        ):
            if without := [names[place] for place in np.flatnonzero(~answered).tolist()]:
                raise DataError(
                    f"no answer {word} {len(without)} of {len(names)} {kind}s: "
                    f"{listed(without, SHOWN)}",
                    expected=f"an answer or more {word} every {kind}",
                    fix=f"leave the {kind} out, or add answers {word} it",
                )
        return self


def require_right_and_wrong(answers: Answers) -> None:
    """Check that both right and wrong answers are known, and nothing else.

    Raises
    ------
    DataError
        When one kind is missing, or a value is none of 0, 1 and NaN.
    """
    known = answers[~np.isnan(answers)]
    values = np.unique(known)
    if not np.isin(values, (0, 1)).all():
        raise DataError(
            f"the values {listed(map(str, values), SHOWN)} among the answers",
            expected="1 for right, 0 for wrong, NaN for unknown",
            fix="make each answer right or wrong",
        )
    if len(values) < 2:
        kind = "right" if values.any() else "wrong"
        raise DataError(
            f"all {len(known)} answers are {kind}" if len(known) else "no known answer",
            expected="right and wrong answers: there is nothing to learn otherwise",
            fix="add models or questions, or name the column: --column correct=NAME",
        )


Sources = str | Path | Sequence[str | Path]
Roles = Mapping[str, str]

_AS_FOUND: Final[Mapping[str, str]] = {}

MOST_CELLS = 100_000_000
"""A matrix of this size takes some four gigabytes; a larger one is most often a wrong column."""

_DIGITS = re.compile(r"\d+", re.ASCII)


def read_matrix(
    spec: Sources, *, columns: Roles = _AS_FOUND, most_unusable: float = MOST_UNUSABLE
) -> CorrectnessMatrix:
    """Read a matrix of the correctness of answers, sorted by the names of models and questions.

    Parameters
    ----------
    spec
        A table with one row per answer, as a data spec (`scope.data`) such as the path of a CSV,
        TSV, JSONL or parquet file; a folder of saved predictions; or the folder of a finished run
        of ``scope compare``. Several are joined by the names of their models and questions; one
        table of several may have one row per question, with its text, its category and, for folders
        of saved predictions, the right answer.
    columns
        Columns of tables by role, if they do not have the usual names; see
        `scope.jobs.fleet.correctness`. ``model`` may name several, each with the answers of its
        model; ``correct above`` is the score above which an answer is right.
    most_unusable
        The greatest share of the rows of a table, or of a model's file, that may be left out.

    Raises
    ------
    DataError
        When a source cannot be read, or no fleet can be fitted to the matrix.
    RunError
        When a run is not finished, or damaged.
    SpecError
        When the role of a column is unknown.
    """
    specs = [spec] if isinstance(spec, str | Path) else spec
    sources, left_out = read_sources(specs, columns, most_unusable, answers=True)
    answering = [source for source in sources if source["model"].notna().any()]
    if not any(source["correct"].notna().any() for source in answering):
        raise DataError(
            "; ".join((f"no answer in {', '.join(map(str, specs))}", *left_out)),
            expected="a table, folder or run with answers of models among them",
            fix="add one with --data, or name its columns: --column model=NAME",
        )
    asked = set().union(*(source["id"].unique() for source in answering))
    others = (source for source in sources if source["model"].isna().all())
    about = [source[source["id"].isin(asked)] for source in others]
    matrix = matrix_of([*answering, *about])
    return replace(matrix, left_out=(*left_out, *matrix.left_out)).checked()


def read_questions(
    spec: Sources, *, columns: Roles = _AS_FOUND, most_unusable: float = MOST_UNUSABLE
) -> CorrectnessMatrix:
    """Read questions, answered or not; all else is as in `read_matrix`.

    A table may have one row per question, without models and answers.
    """
    specs = [spec] if isinstance(spec, str | Path) else spec
    sources, left_out = read_sources(specs, columns, most_unusable, answers=False)
    matrix = matrix_of(sources, part=True)
    if not matrix.ids:
        raise DataError(
            f"no question in {', '.join(map(str, specs))}",
            expected="one question or more",
            fix="look at what wrote the file",
        )
    matrix = replace(matrix, left_out=(*left_out, *matrix.left_out))
    nobody = np.zeros((len(matrix.ids), 0), dtype=np.float32)
    return matrix if matrix.n_answers else replace(matrix, models=(), correct=nobody)


def matrix_of(sources: Sequence[pandas.DataFrame], *, part: bool = False) -> CorrectnessMatrix:
    """Sort models and questions by name in natural order, and fill each cell once.

    The matrix does not depend on the order of the rows. If a cell has several answers, the majority
    counts, and a tie is unknown; a question or model with nothing but ties is left out, unless
    ``part`` is true.

    Raises
    ------
    DataError
        When there are too many cells, or two texts or categories of a question.

    Examples
    --------
    >>> import pandas
    >>> rows = [("m10", "q", 0), ("m9", "q", 1), ("m9", "q", 1), ("m9", "q", 0)]
    >>> answers = pandas.DataFrame(rows, columns=["model", "id", "correct"])
    >>> matrix = matrix_of([answers.assign(text="Who?", category=None)])
    >>> matrix.models, matrix.correct.tolist(), matrix.conflicts
    (('m9', 'm10'), [[1.0, 0.0]], 1)
    """
    import pandas

    answers = sources[0]
    if len(sources) > 1:
        answers = pandas.concat([source.astype(object) for source in sources])
    answers, note = _with_own_ids(answers)
    models, ids = (
        np.array(natural_order(answers[role].dropna().unique()), dtype=object)
        for role in ("model", "id")
    )
    if len(models) * len(ids) > MOST_CELLS:
        raise DataError(
            f"{len(models)} models and {len(ids)} questions, which are more than "
            f"{MOST_CELLS} cells; the first models are {listed(models, SHOWN)}",
            expected="a model and a question in many rows each",
            fix="look whether the right columns were read: --column model=NAME",
        )
    texts, categories = _value_by_question(answers, "text"), _value_by_question(answers, "category")
    votes, right = _votes(answers, ids, models)
    decided, differ = 2 * right != votes, (right > 0) & (right < votes)
    correct = np.where(decided, (2 * right > votes).astype(np.float32), np.float32(np.nan))
    # A row or column without any answer is no tie.
    rows, columns = (part | decided.any(axis=n) | ~votes.any(axis=n) for n in (1, 0))
    kept_ids = ids[rows].tolist()
    left_out = (("question", ids[~rows].tolist()), ("model", models[~columns].tolist()))
    return CorrectnessMatrix(
        models=tuple(models[columns].tolist()),
        ids=tuple(kept_ids),
        texts=tuple(texts.get(name, "") for name in kept_ids),
        categories=tuple(categories.get(name) for name in kept_ids),
        correct=correct[rows][:, columns],
        conflicts=int(np.count_nonzero(differ)),
        repeated=int(np.count_nonzero((votes > 1) & ~differ)),
        left_out=note
        + tuple(
            f"{counted(len(names), kind)} left out, for nothing but ties is known of them: "
            f"{listed(names, SHOWN)}"
            for kind, names in left_out
            if names
        ),
    )


def _with_own_ids(answers: pandas.DataFrame) -> tuple[pandas.DataFrame, tuple[str, ...]]:
    """The answers, with the category before an id if an id has several; and a note on it."""
    known = answers[["id", "category"]].drop_duplicates()
    repeated = int(known["id"].duplicated().sum())
    if known["category"].isna().any() or not repeated:
        return answers, ()
    ids = answers["category"].astype(str) + "/" + answers["id"].astype(str)
    note = f"{counted(repeated, 'id')} in several categories: questions are named CATEGORY/ID"
    return answers.assign(id=ids), (note,)


def _votes(
    answers: pandas.DataFrame, ids: NDArray[np.object_], models: NDArray[np.object_]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Number of answers and of right answers in each cell: shape (questions, models) each."""
    import pandas

    known = answers[answers["correct"].notna()]
    row = pandas.Index(ids).get_indexer(pandas.Index(known["id"]))
    column = pandas.Index(models).get_indexer(pandas.Index(known["model"]))
    place, shape = row * len(models) + column, (len(ids), len(models))
    size = len(ids) * len(models)
    votes = np.bincount(place, minlength=size).reshape(shape)
    right = np.bincount(place[known["correct"] == 1], minlength=size).reshape(shape)
    return votes, right


def _value_by_question(answers: pandas.DataFrame, role: str) -> dict[str, str]:
    """The text or category of each question that has one."""
    pairs = answers[["id", role]].dropna().drop_duplicates()
    values: dict[str, str] = {}
    for name, value in zip(pairs["id"], pairs[role], strict=True):
        if values.setdefault(name, value) != value:
            plural = {"text": "texts", "category": "categories"}[role]
            raise DataError(
                f"two {plural} for the question `{name:.60}`: {values[name]!r:.80} and "
                f"{value!r:.80}",
                expected=f"an id of its own for each question, and one {role} in all of its rows",
                fix=f"fix the ids, or name another column: --column item=NAME, "
                f"--column {role}=none",
            )
    return values


def natural_order(names: Iterable[str]) -> list[str]:
    """The names, sorted with the numbers in them by value.

    Examples
    --------
    >>> natural_order(["q10", "q9", "a"])
    ['a', 'q9', 'q10']
    """
    # Digits sort by their value, and before any other character.
    return sorted(names, key=lambda name: (_DIGITS.sub(lambda x: f"\0{x[0]:0>20}", name), name))


def load_answers(specs: Sequence[str], request: FleetRequest) -> tuple[CorrectnessMatrix, DataCard]:
    """The joined matrix of several sources, and its data card."""
    matrix = read_matrix(specs, columns=request.roles, most_unusable=request.most_unusable)
    return matrix, _card(", ".join(specs), matrix)


def load_questions(spec: str, request: FleetRequest) -> tuple[CorrectnessMatrix, DataCard]:
    """Questions, with the models' answers if the file has any, and their data card."""
    matrix = read_questions(spec, columns=request.roles, most_unusable=request.most_unusable)
    return matrix, _card(spec, matrix)


def benchmarks_of(matrix: CorrectnessMatrix, purpose: str) -> tuple[str, ...]:
    """The benchmarks, that is the questions' categories; two or more are required.

    Raises
    ------
    DataError
        If there are fewer.
    """
    benchmarks = sorted({category for category in matrix.categories if category is not None})
    if len(benchmarks) < 2:
        raise DataError(
            f"{counted(len(benchmarks), 'benchmark')} in the categories of "
            f"{counted(len(matrix.ids), 'question')}",
            expected=f"two or more: {purpose}",
            fix="add a column with each question's benchmark, or name it: --column category=NAME",
        )
    return tuple(benchmarks)


def _card(spec: str, matrix: CorrectnessMatrix) -> DataCard:
    """The data card of a matrix; ``labelled`` counts questions with an answer."""
    return DataCard(
        spec=spec,
        fingerprint=matrix.fingerprint,
        rows=len(matrix.ids),
        used=len(matrix.ids),
        labelled=int((~np.isnan(matrix.correct)).any(axis=1).sum()),
    )


MOST_NAMED = 10
"""The number of names shown in a message on options."""


def read_costs(path: str | Path) -> dict[str, float]:
    """The cost of each model, from a table with the columns ``model`` and ``cost``.

    Raises
    ------
    DataError
        If a column is missing, a cost is not a number, or a model occurs twice.
    """
    costs: dict[str, float] = {}
    for fields, model in _models(path, "cost"):
        try:
            costs[model] = float(fields.name("cost") or "")
        except ValueError as error:
            raise fields.wrong(
                f"`{fields.values['cost']}` as the cost of `{model}`", "a number"
            ) from error
    return costs


def read_communities(path: str | Path) -> dict[str, str]:
    """The communities of models, from a table with the columns ``model`` and ``community``.

    Raises
    ------
    DataError
        If a column is missing or a model occurs twice.
    """
    named = ((model, fields.name("community")) for fields, model in _models(path, "community"))
    return {model: community for model, community in named if community}


def _models(path: str | Path, meaning: str) -> Iterable[tuple[Fields, str]]:
    """Every row with the name of its model; models are unique."""
    source = open_file(expanded(path))
    seen: set[str] = set()
    names = {"model": ("model",), meaning: (meaning,)}
    for fields in read_fields(source, names, required=("model", meaning)):
        model = fields.name("model")
        if model is None or model in seen:
            raise fields.wrong(
                f"the model `{model}` again" if model else "no model", "each model once"
            )
        seen.add(model)
        yield fields, model


def digest_by_model(values: Mapping[str, object]) -> str | None:
    """Sixteen hexadecimal digits of a hash of the values of models; None if there are none."""
    return short_digest(sorted(values.items())) if values else None


def short_digest(values: object) -> str:
    """Sixteen hexadecimal digits of a hash of JSON-serialisable values."""
    return hashlib.sha256(json.dumps(values).encode()).hexdigest()[:16]


def require_known(
    names: Iterable[str], known: Sequence[str], option: str, kind: str = "model"
) -> None:
    """Check that every name is one of the known models or benchmarks.

    Raises
    ------
    SpecError
        If one is not; the message suggests similar names.

    Examples
    --------
    >>> require_known(["yi-34"], ["yi-34b", "qwen-7b"], "--cost")
    Traceback (most recent call last):
        ...
    scope.errors.SpecError: found:    no model `yi-34` of --cost
    expected: one of the 2 models: `yi-34b`, `qwen-7b`
    fix:      did you mean `yi-34b`?
    """
    for name in names:
        if name not in known:
            raise SpecError(
                f"no {kind} `{name}` of {option}",
                expected=f"one of the {len(known)} {kind}s: {listed(known, MOST_NAMED)}",
                fix=did_you_mean(name, known, "check the spelling", most=3),
            )


def checked_costs(costs: Mapping[str, float], models: Sequence[str]) -> list[float] | None:
    """The costs in the order of the models; None if there are none.

    Raises
    ------
    SpecError
        If a model is unknown, or a cost is negative or not a number.
    DataError
        If some models have a cost and others have none.
    """
    if not costs:
        return None
    for name, cost in costs.items():
        if not (math.isfinite(cost) and cost >= 0):
            raise SpecError(
                f"a cost of {cost} for `{name}`",
                expected="a finite number, 0 or more",
                fix=f"write for example --cost {name}=0.5",
            )
    without = [model for model in models if model not in costs]
    if without:
        raise DataError(
            f"no cost for {len(without)} of {len(models)} models: {listed(without, MOST_NAMED)}",
            expected="a cost for every candidate model",
            fix="add --cost MODEL=COST or a row in the file of --costs, or restrict the "
            "candidates with --model",
        )
    return [costs[model] for model in models]
