"""Answers found one by one, in files and runs of moderate size, are gathered to cells."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from scope.errors import DataError
from scope.fleet.reading.cells import Cells


class GivenAnswer(NamedTuple):
    """One model's answer to one question: right (1), wrong (0) or not known (-1)."""

    model: str
    id: str
    text: str | None
    category: str | None
    correct: int


class Told(NamedTuple):
    """What is known of a question."""

    text: str | None
    category: str | None


def cells_of(found: Iterable[GivenAnswer], *, without_gold: int = 0) -> Cells:
    """Gather answers, of which ``without_gold`` were left out, for no right answer is known.

    Raises
    ------
    DataError
        When one id stands for two texts.

    Examples
    --------
    >>> second = GivenAnswer("b", "1", None, None, 0)
    >>> cells = cells_of([GivenAnswer("a", "1", "Who?", None, 1), second])
    >>> cells.texts, cells.model.tolist(), cells.correct.tolist()
    (['Who?'], [0, 1], [1, 0])
    """
    questions: dict[str, Told] = {}
    models: dict[str, int] = {}
    rows: list[tuple[int, str, int]] = []
    for one in found:
        join(questions, one.id, Told(one.text, one.category))
        rows.append((models.setdefault(one.model, len(models)), one.id, one.correct))
    place = {id_: number for number, id_ in enumerate(questions)}
    return Cells(
        models=list(models),
        ids=list(questions),
        texts=[one.text for one in questions.values()],
        categories=[one.category for one in questions.values()],
        model=np.array([model for model, _, _ in rows], dtype=np.int32),
        question=np.array([place[id_] for _, id_, _ in rows], dtype=np.int32),
        correct=np.array([correct for _, _, correct in rows], dtype=np.int8),
        left_out=_left_out(without_gold),
    )


def join(questions: dict[str, Told], id_: str, told: Told) -> None:
    """Add what is told of a question to what is known of it.

    Raises
    ------
    DataError
        When the two do not go together.
    """
    known = questions.setdefault(id_, told)
    if known is told or known == told:
        return
    for role, first, second in zip(("texts", "categories"), known, told, strict=True):
        if None not in (first, second) and first != second:
            raise DataError(
                f"two {role} for the question `{id_:.60}`: {first!r:.80} and {second!r:.80}",
                expected="an id of its own for each question",
                fix="give the questions ids of their own, the same ones in all files",
            )
    questions[id_] = Told(known.text or told.text, known.category or told.category)


def _left_out(without_gold: int) -> tuple[str, ...]:
    if not without_gold:
        return ()
    said = "1 row was" if without_gold == 1 else f"{without_gold} rows were"
    return (f"{said} left out, for no right answer is known",)
