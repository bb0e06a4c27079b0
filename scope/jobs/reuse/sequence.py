"""Asks a suspect in batches, and stops as soon as its answers suffice."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from scope.data.sampling import by_name, draw
from scope.evidence.answers import NOT_GIVEN
from scope.evidence.interning import Response, answer_matrix
from scope.jobs.reuse.items import ReuseItem
from scope.records import Look
from scope.statistics.sequential import SequentialTest

REPRESENTATIVE = 100
"""So many questions are asked first that show the suspect's skill, enough for its accuracy to be
known to within 0.1."""

Ask = Callable[[Sequence[ReuseItem]], list[Response]]
"""Puts questions to the suspect."""

Suffices = Callable[[Sequence[Response], tuple[Look, ...]], bool]
"""Whether the verdict on so many answers would be *related*, given the looks at them."""


class Stopped(NamedTuple):
    """What the suspect answered to the first questions, and the looks at it; the last is final."""

    answers: list[Response]
    looks: tuple[Look, ...]


def telling_order(questions: Sequence[ReuseItem], reference: Sequence[Response]) -> list[int]:
    """The places of the questions, those first on which the reference is most itself.

    Its mistakes come first, then what it was least sure of. The order follows from the reference
    alone, so that it favours no model.

    Examples
    --------
    >>> from scope.evidence.interning import AnswerKey
    >>> from scope.records import Question
    >>> def question(name):
    ...     return ReuseItem(id=name, unit=name, question=Question(id=name, text=name),
    ...                          asked=AnswerKey(name, gold=1, options=2), gold="b")
    >>> sure, unsure, wrong = Response(1, (0.1, 0.9)), Response(1, (0.4, 0.6)), Response(0, (0.9, 0.1))
    >>> telling_order([question(name) for name in "xyz"], [sure, unsure, wrong])
    [2, 1, 0]
    """

    def rank(place: int) -> tuple[bool, float, int]:
        given, gold = reference[place], questions[place].asked.gold
        mistaken = given.choice is not None and gold is not None and given.choice != gold
        return (not mistaken, max(given.probabilities, default=1.0), place)

    return sorted(range(len(questions)), key=rank)


def asking_order(questions: Sequence[ReuseItem], reference: Sequence[Response]) -> list[int]:
    """The places of the questions: first some that show the models' skill, then the telling ones.

    Those on which the reference errs show nobody's skill, and a test needs controls of the
    suspect's. The first ``REPRESENTATIVE`` are drawn by their ids, whatever anybody answers.
    """
    places = {one.id: place for place, one in enumerate(questions)}
    first = [places[one] for one in draw(by_name(places), REPRESENTATIVE, seed=0)]
    drawn = set(first)
    return [*first, *(one for one in telling_order(questions, reference) if one not in drawn)]


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
    """Ask until the answers suffice, or all questions are asked.

    Whether they suffice is asked for once the p-value has reached alpha. The questions come in
    their order, which must follow from the reference alone.
    """
    asked = [one.asked for one in questions]
    matrix = answer_matrix(asked, [reference, *controls])
    # Where any words can be an answer, as many options as there could be: counting those that the
    # controls gave would treat them otherwise than the suspect.
    most = len(controls) + 3
    options = np.array([max(one.options or most, 2) for one in asked], dtype=np.int64)
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
    """The reference's number where the answer is the reference's, any other one where it is not."""
    return [
        NOT_GIVEN
        if given.choice is None
        else int(number)
        if given.choice == own.choice
        else int((number + 1) % count)
        for given, own, number, count in zip(answers, reference, references, options, strict=False)
    ]
