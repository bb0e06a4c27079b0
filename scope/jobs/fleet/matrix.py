"""Which model answers which question correctly: the matrix that a fleet is learned from."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from scope.errors import DataError
from scope.jobs.fleet.questions import SHOWN, Answers
from scope.printing import counted, listed

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
