"""Single answers, as any source holds them, become a matrix: sorted, and each cell once."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from scope.data.fields import UnreadableError, is_missing, plain_label, storable
from scope.errors import DataError
from scope.fleet.layout import Answers
from scope.fleet.matrix import SHOWN, CorrectnessMatrix
from scope.printing import counted, listed

UNKNOWN = -1
"""Stands for an answer that is not known, and for the model of a question nobody was asked."""

MOST_CELLS = 100_000_000
"""Reading so many takes some four gigabytes; more are most often a column taken for another."""

_DIGITS = re.compile(r"(\d+)", re.ASCII)
_RIGHT: Mapping[str, int] = MappingProxyType(
    {"1": 1, "true": 1, "right": 1, "0": 0, "false": 0, "wrong": 0, "": UNKNOWN, "nan": UNKNOWN}
)


@dataclass(frozen=True, kw_only=True, eq=False)
class Cells:
    """Answers one by one.

    ``texts`` and ``categories`` hold one value a question, None where it is not known. Answer ``i``
    is that of model ``model[i]`` to question ``question[i]``: in ``correct`` 1 if right, 0 if
    wrong, -1 if unknown. A question without any answer stands there with the model -1.
    """

    models: Sequence[str]
    ids: Sequence[str]
    texts: Sequence[str | None]
    categories: Sequence[str | None]
    model: NDArray[np.int32]
    question: NDArray[np.int32]
    correct: NDArray[np.int8]
    left_out: tuple[str, ...] = ()


def matrix_of(cells: Cells, *, part: bool = False) -> CorrectnessMatrix:
    """Sort models and questions by name, numbers in it by their value, and give each cell once.

    So the matrix does not depend on the order of what was read. Where a cell is given more than
    once, the majority counts, and at a tie the answer is unknown; a question or model that has
    nothing but ties is left out, and said to be. A ``part`` keeps all, and need not be whole.

    Raises
    ------
    DataError
        When there would be more cells than a computer holds, or the matrix is not whole.

    Examples
    --------
    >>> matrix = matrix_of(
    ...     Cells(
    ...         models=["m10", "m9"],
    ...         ids=["q"],
    ...         texts=["Who?"],
    ...         categories=[None],
    ...         model=np.array([0, 1, 1, 1], dtype=np.int32),
    ...         question=np.zeros(4, dtype=np.int32),
    ...         correct=np.array([0, 1, 1, 0], dtype=np.int8),
    ...     )
    ... )
    >>> matrix.models, matrix.correct.tolist(), matrix.conflicts
    (('m9', 'm10'), [[1.0, 0.0]], 1)
    """
    _require_room(cells)
    models, questions = natural_order(cells.models), natural_order(cells.ids)
    votes = _count(cells, models, questions)
    answered, answering = votes.kept(1, part), votes.kept(0, part)
    rows = [place for place, here in zip(questions, answered, strict=True) if here]
    columns = [place for place, here in zip(models, answering, strict=True) if here]
    gone = [cells.ids[place] for place in sorted({*questions} - {*rows})]
    mute = [cells.models[place] for place in sorted({*models} - {*columns})]
    return CorrectnessMatrix(
        models=tuple(cells.models[place] for place in columns),
        ids=tuple(cells.ids[place] for place in rows),
        texts=tuple(cells.texts[place] or "" for place in rows),
        categories=tuple(cells.categories[place] for place in rows),
        correct=votes.correct[answered][:, answering],
        conflicts=int(np.count_nonzero(votes.differ)),
        repeated=int(np.count_nonzero((votes.given > 1) & ~votes.differ)),
        left_out=(*cells.left_out, *_tied("question", gone), *_tied("model", mute)),
        part=part,
    )


class _Votes(NamedTuple):
    """How often each cell was given, and how often as right; shape (questions, models)."""

    given: NDArray[np.int64]
    right: NDArray[np.int64]

    @property
    def differ(self) -> NDArray[np.bool_]:
        """Where a cell was given in both ways."""
        return np.asarray((self.right > 0) & (self.right < self.given))

    @property
    def correct(self) -> Answers:
        """What the majority says; unknown at a tie, of none and none too."""
        majority = np.where(2 * self.right > self.given, np.float32(1), np.float32(0))
        return np.where(2 * self.right == self.given, np.float32(np.nan), majority)

    def kept(self, axis: int, all_: bool) -> NDArray[np.bool_]:
        """Whether along the axis there is an answer, or nothing was given that could tie."""
        decided = np.any(2 * self.right != self.given, axis=axis)
        return np.asarray(decided | ~np.any(self.given, axis=axis) | all_)


def _count(cells: Cells, models: Sequence[int], questions: Sequence[int]) -> _Votes:
    known = cells.correct != UNKNOWN
    row, column = _rank(questions)[cells.question[known]], _rank(models)[cells.model[known]]
    place, shape = row * len(models) + column, (len(questions), len(models))
    size = len(questions) * len(models)
    return _Votes(
        given=np.bincount(place, minlength=size).reshape(shape),
        right=np.bincount(place[cells.correct[known] == 1], minlength=size).reshape(shape),
    )


def _tied(kind: str, gone: Sequence[str]) -> tuple[str, ...]:
    if not gone:
        return ()
    found = counted(len(gone), kind)
    return (f"{found} left out, for nothing but ties is known of them: {listed(gone, SHOWN)}",)


def natural_order(names: Sequence[str]) -> list[int]:
    """The places of the names, sorted so that numbers in them stand by their value.

    Examples
    --------
    >>> natural_order(["q10", "q9", "a"])
    [2, 1, 0]
    """
    return sorted(range(len(names)), key=lambda place: _natural(names[place]))


def _natural(name: str) -> tuple[list[tuple[int, str]], str]:
    """Digits as their length and themselves, for they may be more than a number can have."""
    pieces = _DIGITS.split(name)
    key = [
        (len(piece.lstrip("0")), piece.lstrip("0")) if place % 2 else (0, piece)
        for place, piece in enumerate(pieces)
    ]
    return key, name


def _rank(order: Sequence[int]) -> NDArray[np.int64]:
    """Where each of the things sorted stands in their order."""
    rank = np.empty(len(order), dtype=np.int64)
    rank[order] = np.arange(len(order))
    return rank


def _require_room(cells: Cells) -> None:
    if len(cells.models) * len(cells.ids) > MOST_CELLS:
        raise DataError(
            f"{len(cells.models)} models and {len(cells.ids)} questions, which are more than "
            f"{MOST_CELLS} cells; the first models are {listed(cells.models, SHOWN)}",
            expected="a model and a question in many rows each",
            fix="look whether the right columns were read: --column model=NAME",
        )


class GivenAnswer(NamedTuple):
    """One model's answer to one question: right (1), wrong (0) or not known (-1)."""

    model: str
    id: str
    text: str | None
    category: str | None
    correct: int


class AnswerKey(NamedTuple):
    """The answers that count as right, none where they are not known, and a question's options."""

    gold: tuple[object, ...]
    options: tuple[str, ...] = ()


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
        left_out=(f"{counted(without_gold, 'row')} left out, for no right answer is known",)
        if without_gold
        else (),
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


def written_of(value: object) -> str | None:
    """The value as a text, as it is written; None where nothing is.

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


def correct_of(value: object) -> int:
    """Whether an answer is right: 1 or 0, or -1 where nothing is said, or NaN.

    Raises
    ------
    UnreadableError
        When it is neither 0 or 1, nor true or false, nor right or wrong.

    Examples
    --------
    >>> correct_of("Right"), correct_of(False), correct_of(1.0), correct_of(None), correct_of("NaN")
    (1, 0, 1, -1, -1)
    """
    if is_missing(value):
        return UNKNOWN
    found = _RIGHT.get(plain_label(str(value)).casefold())
    if found is None:
        raise UnreadableError(
            f"{value!r:.60} for whether the answer is right",
            "0 or 1, true or false, right or wrong, or nothing where it is not known",
        )
    return found


def gold_of(value: object) -> tuple[object, ...]:
    """The answers that count as right; none where they are not known.

    Examples
    --------
    >>> gold_of(["Ann", "Anna"]), gold_of("B"), gold_of(None)
    (('Ann', 'Anna'), ('B',), ())
    """
    if isinstance(value, list):
        return tuple(value)
    return () if is_missing(value) or value == "" else (value,)


def options_of(value: object) -> tuple[str, ...]:
    """The options of a question: a list of texts, ``{"text": […], …}`` as on the hub, or a text.

    Raises
    ------
    UnreadableError
        When it is nothing of these.

    Examples
    --------
    >>> options_of(["Ann", "Bob"]), options_of("A) Ann"), options_of(None)
    (('Ann', 'Bob'), ('A) Ann',), ())
    """
    listed = value.get("text") if isinstance(value, Mapping) else value
    if is_missing(listed) or isinstance(listed, str):
        alone = written_of(listed)
        return () if alone is None else (alone,)
    if not isinstance(listed, list | tuple) or not all(isinstance(one, str) for one in listed):
        raise UnreadableError(f"{value!r:.60} as the options", "a list of texts")
    return tuple(map(storable, listed))


def whole_text(question: str | None, context: str | None, options: Sequence[str]) -> str | None:
    """A question with all that is to be read of it: its context and options on lines of their own.

    Examples
    --------
    >>> whole_text("Who?", None, ("Ann", "Bob"))
    'Who?\\nAnn\\nBob'
    """
    if question is None:
        return None
    return "\n".join([question, *([context] if context else []), *options])
