"""Converts answers (labels, tokens or texts) to the numbers of an answer matrix."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from scope.evidence.answers import NOT_GIVEN, UNKNOWN, AnswerMatrix
from scope.records import Probabilities


class Response(NamedTuple):
    """One model's answer to one question: an option's number, or the answer in words.

    ``choice`` is None if there is no answer; ``probabilities`` has one number per option, or is
    empty.
    """

    choice: int | str | None
    probabilities: Probabilities = ()


class AnswerKey(NamedTuple):
    """The right answer of a question, and its number of options.

    ``options`` is None with an open vocabulary; ``gold`` is the right answer, None if unknown;
    ``unit`` is the id of its example.
    """

    unit: str
    gold: int | str | None = None
    options: int | None = None


def answer_matrix(asked: Sequence[AnswerKey], given: Sequence[Sequence[Response]]) -> AnswerMatrix:
    """Collect the answers of many models; ``given`` has a row per model and a column per question.

    With an open vocabulary, the options of a question are the distinct answers to it, and one more
    for all other answers.

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
    """The units by number, in order of first occurrence.

    Examples
    --------
    >>> numbered(["b", "a", "b"]).tolist()
    [0, 1, 0]
    """
    numbers: dict[str, int] = {}
    return np.array([numbers.setdefault(unit, len(numbers)) for unit in units], dtype=np.int64)


def _numbers(asked: AnswerKey, choices: Sequence[int | str | None]) -> dict[int | str, int]:
    """The number of each answer; the right one is first with an open vocabulary."""
    if asked.options is not None:
        return {option: option for option in range(asked.options)}
    known = [] if asked.gold is None else [asked.gold]
    # Sorted, so that the result does not depend on the order of the models.
    others = sorted(
        {str(choice) for choice in choices if choice is not None} - set(map(str, known))
    )
    return {answer: number for number, answer in enumerate([*known, *others])}


def _probabilities(
    asked: Sequence[AnswerKey], given: Sequence[Sequence[Response]]
) -> NDArray[np.float64] | None:
    """Shape (models, items, most options), NaN if a model gives none; None if no model does."""
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
