"""Answers as they come, labels, tokens or texts, as the numbers that arrays hold."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from scope.evidence.answers import NOT_GIVEN, UNKNOWN, AnswerMatrix
from scope.records import Probabilities


class Response(NamedTuple):
    """One model's answer to one question: an option's number, or the answer in words.

    ``choice`` is None where there is no answer; ``probabilities`` has one number an option, or is
    empty.
    """

    choice: int | str | None
    probabilities: Probabilities = ()


class AnswerKey(NamedTuple):
    """What is known of a question before anybody answers it.

    ``options`` is None where any words can be an answer; ``gold`` is the right answer, None where
    nobody knows it; ``unit`` names the example that it belongs to.
    """

    unit: str
    gold: int | str | None = None
    options: int | None = None


def answer_matrix(asked: Sequence[AnswerKey], given: Sequence[Sequence[Response]]) -> AnswerMatrix:
    """Gather the answers of many models; ``given`` has a row a model and a column a question.

    Where any words can be an answer, the different answers that were given to a question are its
    options, and one more stands for all that nobody gave.

    Examples
    --------
    >>> asked = [AnswerKey("a", gold=1, options=2), AnswerKey("b", gold="red")]
    >>> given = [[Response(0), Response("red")],
    ...          [Response(1), Response(None)],
    ...          [Response(1), Response("blue")]]
    >>> matrix = answer_matrix(asked, given)
    >>> matrix.answers.tolist(), matrix.options.tolist(), matrix.gold.tolist()
    ([[0, 0], [1, -1], [1, 1]], [2, 3], [1, 0])
    """
    answers = np.full((len(given), len(asked)), NOT_GIVEN, dtype=np.int64)
    options = np.empty(len(asked), dtype=np.int64)
    gold = np.full(len(asked), UNKNOWN, dtype=np.int64)
    for place, one in enumerate(asked):
        numbers = _numbers(one, [row[place].choice for row in given])
        options[place] = one.options if one.options is not None else len(numbers) + 1
        if one.gold is not None:
            gold[place] = numbers[one.gold]
        for model, row in enumerate(given):
            choice = row[place].choice
            if choice is not None:
                answers[model, place] = numbers[choice]
    return AnswerMatrix(
        answers=answers,
        options=np.maximum(options, 2),
        gold=gold,
        probabilities=_probabilities(asked, given),
        units=numbered([one.unit for one in asked]),
        open_vocabulary=any(one.options is None for one in asked),
    )


def numbered(units: Sequence[str]) -> NDArray[np.int64]:
    """The units by number, in the order in which they first come.

    Examples
    --------
    >>> numbered(["b", "a", "b"]).tolist()
    [0, 1, 0]
    """
    numbers: dict[str, int] = {}
    return np.array([numbers.setdefault(unit, len(numbers)) for unit in units], dtype=np.int64)


def _numbers(asked: AnswerKey, choices: Sequence[int | str | None]) -> dict[int | str, int]:
    """The number of each answer; the right one comes first where answers are words."""
    if asked.options is not None:
        return {option: option for option in range(asked.options)}
    known = [] if asked.gold is None else [asked.gold]
    # Sorted, so that the order of the models leaves no trace.
    others = sorted(
        {str(choice) for choice in choices if choice is not None} - set(map(str, known))
    )
    return {answer: number for number, answer in enumerate([*known, *others])}


def _probabilities(
    asked: Sequence[AnswerKey], given: Sequence[Sequence[Response]]
) -> NDArray[np.float64] | None:
    """Shape (models, items, most options), NaN where a model gives none; None if none does."""
    closed = all(one.options is not None for one in asked)
    if not closed or not any(one.probabilities for row in given for one in row):
        return None
    most = max([2, *(one.options or 0 for one in asked)])
    found = np.full((len(given), len(asked), most), np.nan)
    for model, row in enumerate(given):
        for place, one in enumerate(row):
            if one.probabilities:
                found[model, place] = 0.0
                found[model, place, : len(one.probabilities)] = one.probabilities
    return found
