"""Which model answers which question correctly: the matrix that a fleet is learned from."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import InitVar, dataclass
from functools import cached_property
from typing import Any, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from scope.errors import DataError
from scope.fleet.forecasters.forecaster import (
    require_right_and_wrong,
    require_right_or_wrong,
)
from scope.fleet.layout import Answers
from scope.printing import counted, listed

CONFLICT_RULE = "where answers to the same question differ, the majority counts, and none at a tie"
REPEAT_RULE = "an answer that is given more than once counts once"
SHOWN = 5
"""Of more names a message shows so many."""

_Value = TypeVar("_Value")


@dataclass(frozen=True, kw_only=True, eq=False)
class CorrectnessMatrix:
    """Who answered what correctly, with what is known of the questions.

    Parameters
    ----------
    models, ids
        Names of the models, and of the questions; each once.
    texts
        What each question asks, options included; empty where no text is known.
    categories
        The benchmark or subject of each question; None where it is not known.
    correct
        Shape (questions, models): 1 right, 0 wrong, NaN unknown.
    conflicts, repeated
        How many cells were given more than once, with answers that differ, and all alike.
    left_out
        What was left out in reading, each in words.
    part
        Whether this is a part of a matrix, which may lack right or wrong answers, or all of them,
        where a whole matrix must have both, and answers of every model and to every question.

    Raises
    ------
    DataError
        When the matrix is not so; the message names what is missing.

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
    part: InitVar[bool] = False

    def __post_init__(self, part: bool) -> None:
        object.__setattr__(self, "correct", np.asarray(self.correct, dtype=np.float32))
        _check_form(self)
        if not part:
            _check_content(self)

    @property
    def n_answers(self) -> int:
        """How many answers are known."""
        return int(np.count_nonzero(~np.isnan(self.correct)))

    @cached_property
    def fingerprint(self) -> str:
        """A hash, in hexadecimal digits, that changes with anything in the matrix."""
        said = [self.models, self.ids, self.texts, self.categories, self.conflicts, self.repeated]
        digest = hashlib.sha256(json.dumps(said).encode())
        # There are many ways to write a NaN, and one to write -1.
        digest.update(np.nan_to_num(self.correct, nan=-1).astype(np.int8).tobytes())
        return digest.hexdigest()

    @property
    def notes(self) -> tuple[str, ...]:
        """The rules that were applied to what was read, in words, and what was left out."""
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
        """The part with the questions in these rows, in this order."""
        # A mask of all rows says which they are as well.
        places = np.arange(len(self.ids))[np.asarray(rows)]
        return type(self)(
            models=self.models,
            ids=_picked(self.ids, places),
            texts=_picked(self.texts, places),
            categories=_picked(self.categories, places),
            correct=self.correct[places],
            part=True,
        )


def _picked(values: Sequence[_Value], places: NDArray[np.intp]) -> tuple[_Value, ...]:
    return tuple(values[place] for place in places.tolist())


def _check_form(matrix: CorrectnessMatrix) -> None:
    """What holds of any part of a matrix too."""
    questions, models = len(matrix.ids), len(matrix.models)
    beside = len(matrix.texts), len(matrix.categories)
    if matrix.correct.shape != (questions, models) or beside != (questions, questions):
        raise DataError(
            f"answers of shape {matrix.correct.shape}, {beside[0]} texts and {beside[1]} "
            f"categories for {questions} questions and {models} models",
            expected="a row, a text and a category for each question, and a column for each model",
            fix="write an empty text, and None as the category, where they are not known",
        )
    _require_unique("model", matrix.models)
    _require_unique("question", matrix.ids)
    require_right_or_wrong(matrix.correct)


def _require_unique(kind: str, names: Sequence[str]) -> None:
    twice = [name for name, times in Counter(names).items() if times > 1]
    if twice:
        raise DataError(
            f"more than one {kind} called {listed(twice, SHOWN)}",
            expected=f"a name of its own for each {kind}",
            fix=f"rename one of them, or merge what belongs to one {kind}",
        )


def _check_content(matrix: CorrectnessMatrix) -> None:
    """What holds of a whole matrix: there is something to learn, of every model and question."""
    require_right_and_wrong(matrix.correct)
    known = ~np.isnan(matrix.correct)
    _require_answers("model", "of", matrix.models, np.any(known, axis=0))
    _require_answers("question", "to", matrix.ids, np.any(known, axis=1))


def _require_answers(
    kind: str, word: str, names: Sequence[str], answered: NDArray[np.bool_]
) -> None:
    without = [names[place] for place in np.flatnonzero(~answered).tolist()]
    if without:
        raise DataError(
            f"no answer {word} {len(without)} of {len(names)} {kind}s: {listed(without, SHOWN)}",
            expected=f"an answer or more {word} every {kind}",
            fix=f"leave the {kind} out, or add answers {word} it",
        )
