"""The answers of many models to the same questions, as arrays.

`answer_matrix` converts answers (labels, tokens or texts) to numbers. `option_blocks` cuts the
matrix into blocks of questions with a column for every relevant option, so that sums over options
are short. A question may have hundreds of options of which only a few were chosen, for example free
texts. Options that no model chose and that are not right have equal counts, so they share one
column. Questions with the same number of columns share a block, so that there is little padding.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from scope.metrics.arrays import NO_ANSWER
from scope.records import Probabilities

Values = NDArray[np.float64]
"""One value per model, pair or question, or a table of them; the docstring says which."""

Indices = NDArray[np.intp]
"""Places of models, questions or columns."""

Square = NDArray[np.float64]
"""Shape (models, models)."""

Table = NDArray[np.float64]
"""Shape (models, items)."""


NOT_GIVEN = NO_ANSWER
"""Marks a missing answer, which is wrong and equals no other, not even another missing one."""

NOT_ASKED = -2
"""Marks a question that was not put to a model: nothing counts for or against it."""

UNKNOWN = -1
"""Marks an unknown right answer."""


@dataclass(frozen=True, kw_only=True, eq=False)
class AnswerMatrix:
    """The answers of models to questions with options; one row per model, one column per question.

    Parameters
    ----------
    answers
        The option that each model chose, from 0, ``NOT_GIVEN`` or ``NOT_ASKED``; shape (models,
        items).
    options
        Number of options of each question, at least 2; shape (items,).
    gold
        The right option, or ``UNKNOWN``; shape (items,).
    probabilities
        Probability of every option, shape (models, items, most options), 0 for options that a
        question lacks and NaN for answers without probabilities; None if no model gives any.
    units
        The example that each question belongs to, from 0: an original and its perturbations are one
        unit, because they do not vary independently; shape (items,).
    open_vocabulary
        Whether answers are words that are numbered anew for each question, so that one number
        stands for different answers to different questions.
    """

    answers: NDArray[np.int64]
    options: NDArray[np.int64]
    gold: NDArray[np.int64]
    probabilities: NDArray[np.float64] | None = None
    units: NDArray[np.int64]
    open_vocabulary: bool = False

    @property
    def given(self) -> NDArray[np.bool_]:
        """Whether a model answered a question; shape (models, items)."""
        return np.asarray(self.answers > NOT_GIVEN)

    @property
    def asked(self) -> NDArray[np.bool_]:
        """Whether a question was put to a model; shape (models, items).

        None counts as put to a model that answers nothing: its silence is no evidence.
        """
        return np.asarray((self.answers != NOT_ASKED) & self.given.any(axis=1, keepdims=True))

    @property
    def n_units(self) -> int:
        """The number of units."""
        return int(self.units.max(initial=-1)) + 1

    def expected_right(self) -> NDArray[np.int64]:
        """The right option; if it is unknown, the most frequent answer.

        Of equal frequencies the first counts. A less frequent answer then counts as a mistake.
        """
        if (self.gold != UNKNOWN).all():
            return self.gold
        counts = np.stack([(self.answers == n).sum(axis=0) for n in range(self.options.max())])
        return np.where(self.gold == UNKNOWN, counts.argmax(axis=0), self.gold)


class Response(NamedTuple):
    """One model's answer to one question: an option's number, or the answer in words.

    ``choice`` is None if there is no answer; ``probabilities`` has one number per option, or is
    empty; ``asked`` is False if the question was not put to the model.
    """

    choice: int | str | None
    probabilities: Probabilities = ()
    asked: bool = True


class AnswerKey(NamedTuple):
    """The right answer of a question, and its number of options.

    ``options`` is None with an open vocabulary; ``gold`` is the right answer, None if unknown;
    ``unit`` is the id of its example.
    """

    unit: str
    gold: int | str | None = None
    options: int | None = None


def answer_matrix(
    questions: Sequence[AnswerKey], responses: Sequence[Sequence[Response]]
) -> AnswerMatrix:
    """Collect the answers of many models; ``responses`` has a row per model.

    With an open vocabulary, the options of a question are the distinct answers to it, and one more
    for all other answers.

    Examples
    --------
    >>> questions = [AnswerKey("a", gold=1, options=2), AnswerKey("b", gold="red")]
    >>> responses = [[Response(0), Response("red")],
    ...              [Response(1), Response(None)],
    ...              [Response(1), Response("blue")]]
    >>> matrix = answer_matrix(questions, responses)
    >>> matrix.answers.tolist(), matrix.options.tolist(), matrix.gold.tolist()
    ([[0, 0], [1, -1], [1, 1]], [2, 3], [1, 0])
    """
    answers = np.full((len(responses), len(questions)), NOT_GIVEN, dtype=np.int64)
    options = np.empty(len(questions), dtype=np.int64)
    gold = np.full(len(questions), UNKNOWN, dtype=np.int64)
    units = {unit: number for number, unit in enumerate(dict.fromkeys(q.unit for q in questions))}
    for place, question in enumerate(questions):
        choices = [row[place].choice for row in responses]
        numbers: dict[int | str | None, int] = {n: n for n in range(question.options or 0)}
        if question.options is None:
            # The right answer is first. The others are sorted, so that the order of the models has
            # no effect.
            others = {choice for choice in choices if choice is not None} - {question.gold}
            known = [] if question.gold is None else [question.gold]
            numbers = {word: n for n, word in enumerate([*known, *sorted(others, key=str)])}
        options[place] = question.options or len(numbers) + 1
        gold[place] = UNKNOWN if question.gold is None else numbers[question.gold]
        answers[:, place] = [NOT_GIVEN if choice is None else numbers[choice] for choice in choices]
        answers[[not row[place].asked for row in responses], place] = NOT_ASKED
    return AnswerMatrix(
        answers=answers,
        options=np.maximum(options, 2),
        gold=gold,
        probabilities=_probabilities(questions, responses),
        units=np.array([units[question.unit] for question in questions], dtype=np.int64),
        open_vocabulary=any(question.options is None for question in questions),
    )


def _probabilities(
    questions: Sequence[AnswerKey], responses: Sequence[Sequence[Response]]
) -> NDArray[np.float64] | None:
    """Shape (models, items, most options), NaN if a model gives none; None if no model does."""
    closed = all(question.options is not None for question in questions)
    if not closed or not any(response.probabilities for row in responses for response in row):
        return None
    most = max([2, *(question.options or 0 for question in questions)])
    table = np.full((len(responses), len(questions), most), np.nan)
    for model, row in enumerate(responses):
        for place, response in enumerate(row):
            if response.probabilities:
                table[model, place] = 0.0
                table[model, place, : len(response.probabilities)] = response.probabilities
    return table


_QUESTIONS_OF_A_BLOCK = 1000
"""Enough for numpy to be fast, few enough for a block's arrays to stay in the cache."""

_CELLS_OF_A_BLOCK = 1_000_000
"""Models × questions × columns, where many models give many different answers."""


class OptionBlock(NamedTuple):
    """Some questions: ``n`` of them with at most ``c`` columns, ``models`` models.

    Attributes
    ----------
    items
        Which questions; shape (n,).
    columns
        The column of each model's answer, ``NOT_GIVEN`` if missing; shape (models, n).
    chosen
        The same as zeros and ones; shape (models, n, c).
    options
        The number of options of a column: 1, or all that are left, or 0 for padding;
        shape (n, c).
    right
        1 in the column of the right option; shape (n, c).
    share
        One option's share of all of its question's options, 1 / K; shape (n,).
    """

    items: Indices
    columns: Indices
    chosen: Values
    options: Values
    right: Values
    share: Values


def option_blocks(answers: AnswerMatrix) -> list[OptionBlock]:
    """All questions, sorted by their number of columns.

    Examples
    --------
    No model chose options 1 and 3 of four; the right one, 1, still has its own column:

    >>> first = np.array([0])
    >>> matrix = AnswerMatrix(
    ...     answers=np.array([[2], [0], [2]]), options=first + 4, gold=first + 1, units=first
    ... )
    >>> (block,) = option_blocks(matrix)
    >>> block.columns.ravel().tolist(), block.options.tolist(), block.right.tolist()
    ([2, 0, 2], [[1.0, 1.0, 1.0, 1.0]], [[0.0, 1.0, 0.0, 0.0]])
    """
    columns, used = _columns(np.vstack([answers.answers, answers.expected_right()]))
    left = answers.options - used
    widths = used + (left > 0)
    order = np.argsort(widths, kind="stable")
    cells = len(columns) * int(widths.max(initial=1))
    size = min(_QUESTIONS_OF_A_BLOCK, max(1, _CELLS_OF_A_BLOCK // cells))
    return [
        _block(items, columns[:, items], used[items], left[items], answers.options[items])
        for items in (order[start : start + size] for start in range(0, len(order), size))
    ]


def _columns(values: NDArray[np.int64]) -> tuple[Indices, Indices]:
    """Number the distinct values of every column of an array in ascending order, and count them."""
    order = np.argsort(values, axis=0, kind="stable")
    ranked = np.take_along_axis(values, order, axis=0)
    new = ranked > NOT_GIVEN
    new[1:] &= ranked[1:] != ranked[:-1]
    numbers = np.empty(values.shape, dtype=np.intp)
    np.put_along_axis(numbers, order, np.cumsum(new, axis=0) - 1, axis=0)
    return numbers, new.sum(axis=0)


def _block(
    items: Indices,
    columns: Indices,
    used: Indices,
    left: NDArray[np.int64],
    options: NDArray[np.int64],
) -> OptionBlock:
    places = np.arange(int((used + (left > 0)).max()))
    stands_for = (places < used[:, None]) + np.where(places == used[:, None], left[:, None], 0)
    one_hot = (columns[:, :, None] == places).astype(np.float64, order="C")
    return OptionBlock(
        items=items,
        columns=columns[:-1],
        chosen=one_hot[:-1],
        options=stands_for.astype(np.float64),
        right=one_hot[-1],
        share=1 / options,
    )
