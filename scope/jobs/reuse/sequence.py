"""Asks a suspect in batches, and stops when the verdict is *related*."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from scope.data.sampling import by_name, draw
from scope.jobs.reuse.answer_matrix import NOT_GIVEN, Response, answer_matrix
from scope.jobs.reuse.questions import ReuseItem
from scope.records import Look
from scope.statistics.sequential import SequentialTest

REPRESENTATIVE = 100
"""Number of randomly sampled questions at the start, which measure the suspect's skill: enough for
an accuracy to within 0.1."""

Ask = Callable[[Sequence[ReuseItem]], list[Response]]
"""Returns the suspect's answers to questions."""

Suffices = Callable[[Sequence[Response], tuple[Look, ...]], bool]
"""Whether the verdict on these answers is *related*, with the looks at them."""


class Stopped(NamedTuple):
    """The suspect's answers to the first questions, and the looks at them; the last is final."""

    answers: list[Response]
    looks: tuple[Look, ...]


def informative_order(questions: Sequence[ReuseItem], reference: Sequence[Response]) -> list[int]:
    """The indices of the questions, the most informative first.

    The reference's mistakes come first, then its least confident answers. The order depends on the
    reference alone, so that it favours no model.

    Examples
    --------
    >>> from scope.jobs.reuse.answer_matrix import AnswerKey
    >>> from scope.records import Question
    >>> def question(name):
    ...     return ReuseItem(id=name, unit=name, question=Question(id=name, text=name),
    ...                          key=AnswerKey(name, gold=1, options=2), gold="b")
    >>> sure, unsure = Response(1, (0.1, 0.9)), Response(1, (0.4, 0.6))
    >>> wrong = Response(0, (0.9, 0.1))
    >>> informative_order([question(name) for name in "xyz"], [sure, unsure, wrong])
    [2, 1, 0]
    """

    def rank(place: int) -> tuple[bool, float, int]:
        given, gold = reference[place], questions[place].key.gold
        mistaken = given.choice is not None and gold is not None and given.choice != gold
        return (not mistaken, max(given.probabilities, default=1.0), place)

    return sorted(range(len(questions)), key=rank)


def asking_order(questions: Sequence[ReuseItem], reference: Sequence[Response]) -> list[int]:
    """The indices of the questions: a random sample first, then by `informative_order`.

    The reference's mistakes do not measure the suspect's skill, which the test compares with that
    of the controls. The first ``REPRESENTATIVE`` questions are sampled by their ids, independently
    of all answers.
    """
    places = {one.id: place for place, one in enumerate(questions)}
    first = [places[one] for one in draw(by_name(places), REPRESENTATIVE, seed=0)]
    sampled = set(first)
    return [*first, *(one for one in informative_order(questions, reference) if one not in sampled)]


def ask_in_batches(
    questions: Sequence[ReuseItem],
    reference: Sequence[Response],
    controls: Sequence[Sequence[Response]],
    ask: Ask,
    suffices: Suffices,
    *,
    batch: int,
    alpha: float,
) -> Stopped:
    """Ask until ``suffices`` is true, or all questions are asked.

    ``suffices`` is called when the p-value is at most alpha. The questions are asked in their
    order, which must depend on the reference alone.
    """
    keys = [one.key for one in questions]
    matrix = answer_matrix(keys, [reference, *controls])
    # With an open vocabulary the number of options is the largest possible one: to count only the
    # controls' answers would treat suspect and controls differently.
    most = len(controls) + 3
    options = np.array([max(one.options or most, 2) for one in keys], dtype=np.int64)
    ends = [*range(batch, len(questions), batch), len(questions)]
    test = SequentialTest(matrix.answers[0], matrix.answers[1:], options, looks=ends)
    answers: list[Response] = []
    looks: tuple[Look, ...] = ()
    for end in ends:
        answers += ask(questions[len(answers) : end])
        looks = test.looks_at(_numbers(answers, reference, matrix.answers[0], options))
        if looks[-1].p_value <= alpha and suffices(answers, looks):
            break
    return Stopped(answers, looks)


def _numbers(
    answers: Sequence[Response],
    reference: Sequence[Response],
    references: NDArray[np.int64],
    options: NDArray[np.int64],
) -> list[int]:
    """The reference's option number for an equal answer, another number for a different one."""
    return [
        NOT_GIVEN
        if given.choice is None
        else int(number)
        if given.choice == own.choice
        else int((number + 1) % count)
        for given, own, number, count in zip(answers, reference, references, options, strict=False)
    ]
