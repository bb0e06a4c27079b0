"""Asks all models the questions of one reference, at once or in batches, and makes a case of it.

In batches the suspect is asked until the verdict on its answers is *related*.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from scope.data.drawing import by_name, draw
from scope.errors import DataError
from scope.jobs.left_out import unanswered
from scope.jobs.reuse.answer_matrix import NOT_GIVEN, AnswerMatrix, Response, answer_matrix
from scope.jobs.reuse.case import Case, CaseItem
from scope.jobs.reuse.models import ReuseModels
from scope.jobs.reuse.questions import ItemSet, ReuseItem
from scope.jobs.reuse.responses import Responses
from scope.models.model import Model
from scope.records import Look
from scope.statistics.sequential import SequentialTest

FEWEST_ITEMS = 30
"""With fewer questions no two models can be distinguished."""

REPRESENTATIVE = 100
"""Number of randomly sampled questions at the start of a sequential test, which measure the
suspect's skill: enough for an accuracy to within 0.1."""


@dataclass(frozen=True, kw_only=True)
class InBatches:
    """Batches of ``size`` questions to the suspect, for a sequential test.

    The test stops when the p-value is at most ``alpha`` and ``relates``, called with the case so
    far, is true: the verdict on it is *related*.
    """

    size: int
    alpha: float
    relates: Callable[[Case, tuple[Look, ...]], bool]


def make_case(
    models: ReuseModels,
    reference: Model,
    item_set: ItemSet,
    responses: Responses,
    *,
    batches: InBatches | None = None,
) -> tuple[Case, tuple[Look, ...]]:
    """Ask all models the questions of one reference, the suspect last.

    With ``batches`` the case ends with the batch after which the suspect is found to be related,
    and the looks at each batch are returned with it; perturbations are left out.

    Raises
    ------
    DataError
        When the reference answers too few questions, or gives one answer to all.
    ModelError
        When a model cannot answer.
    """
    # Perturbations are selected such that the reference keeps its answer. The answers to them are
    # no evidence; only whether other models keep theirs is.
    questions = [item for item in item_set.items if item.id == item.unit]
    perturbed = [item for item in item_set.items if item.id != item.unit and batches is None]

    def answers_of(model: Model) -> list[Response]:
        return responses.answers(model, [*questions, *perturbed])[: len(questions)]

    of_reference = answers_of(reference)
    if batches is not None:
        order = asking_order(questions, of_reference)
        questions = [questions[place] for place in order]
        of_reference = [of_reference[place] for place in order]
    _require_answers(reference, questions, of_reference, responses)
    of_others = list(map(answers_of, models.controls))
    of_others += [answers_of(models.suspect)] if batches is None else []
    questions, rows = _answered(questions, [of_reference, *of_others], responses)
    of_reference, of_controls = rows[0], rows[1 : len(models.controls) + 1]

    def case_of(answers: Sequence[Response]) -> Case:
        asked = questions[: len(answers)]
        rows = [row[: len(answers)] for row in (of_reference, answers, *of_controls)]
        words = [item.question for item in (*asked, *perturbed)]
        return Case(
            reference=reference.name,
            suspect=models.suspect.name,
            controls=tuple(model.name for model in models.controls),
            items=[
                CaseItem(
                    id=item.id,
                    unit=item.unit,
                    text=item.question.text,
                    gold=item.gold,
                    reference=responses.words(first, item),
                    suspect=responses.words(second, item),
                )
                for item, first, second in zip(asked, rows[0], rows[1], strict=True)
            ],
            answers=answer_matrix([item.key for item in asked], rows),
            pairs=responses.pairs(item_set, (reference, models.suspect, *models.controls)),
            hash=item_set.hash,
            labels=responses.labels,
            representative=None if batches is None else REPRESENTATIVE,
            # Questions of equal content are asked once.
            queries=len({(word.text, word.context, word.options) for word in words}),
        )

    if batches is None:
        return case_of(rows[-1]), ()
    keys = [item.key for item in questions]
    matrix = answer_matrix(keys, [of_reference, *of_controls])
    ask = partial(responses.answers, models.suspect)
    return _ask_in_batches(batches, questions, of_reference, matrix, ask, case_of)


def _ask_in_batches(
    batches: InBatches,
    questions: Sequence[ReuseItem],
    of_reference: Sequence[Response],
    matrix: AnswerMatrix,
    ask: Callable[[Sequence[ReuseItem]], list[Response]],
    case_of: Callable[[Sequence[Response]], Case],
) -> tuple[Case, tuple[Look, ...]]:
    """Ask the suspect until it is found to be related; ``matrix`` has the other models' answers."""
    # With an open vocabulary the number of options is the largest possible one: to count only the
    # controls' answers would treat suspect and controls differently.
    most = len(matrix.answers) + 2
    options = np.array([max(item.key.options or most, 2) for item in questions], dtype=np.int64)
    ends = [*range(batches.size, len(questions), batches.size), len(questions)]
    test = SequentialTest(matrix.answers[0], matrix.answers[1:], options, looks=ends)
    answers: list[Response] = []
    numbers: list[int] = []
    looks: tuple[Look, ...] = ()
    for end in ends:
        start = len(answers)
        answers += ask(questions[start:end])
        for place in range(start, end):
            # The reference's option number for an equal answer, another one for a different answer.
            number, choice = int(matrix.answers[0, place]), answers[place].choice
            if choice != of_reference[place].choice:
                number = NOT_GIVEN if choice is None else (number + 1) % int(options[place])
            numbers.append(number)
        looks = test.looks_at(numbers)
        if looks[-1].p_value <= batches.alpha and batches.relates(case_of(answers), looks):
            break
    return case_of(answers), looks


def asking_order(questions: Sequence[ReuseItem], reference: Sequence[Response]) -> list[int]:
    """The indices of the questions: a random sample first, then by `informative_order`.

    The reference's mistakes do not measure the suspect's skill, which the test compares with that
    of the controls. The first ``REPRESENTATIVE`` questions are sampled by their ids, independently
    of all answers.
    """
    places = {item.id: place for place, item in enumerate(questions)}
    sample = [places[name] for name in draw(by_name(places), REPRESENTATIVE, seed=0)]
    rest = set(range(len(questions))) - set(sample)
    return [*sample, *(place for place in informative_order(questions, reference) if place in rest)]


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
        response, gold = reference[place], questions[place].key.gold
        mistaken = response.choice is not None and gold is not None and response.choice != gold
        return (not mistaken, max(response.probabilities, default=1.0), place)

    return sorted(range(len(questions)), key=rank)


def _answered(
    questions: Sequence[ReuseItem], rows: Sequence[Sequence[Response]], responses: Responses
) -> tuple[list[ReuseItem], list[list[Response]]]:
    """The questions that no model's server failed to answer, and the rows of answers to them."""
    failed = unanswered(responses.replies)
    kept = [
        place
        for place, item in enumerate(questions)
        if failed.keys().isdisjoint((item.id, item.question.text))
    ]
    return [questions[place] for place in kept], [[row[place] for place in kept] for row in rows]


def _require_answers(
    reference: Model,
    questions: Sequence[ReuseItem],
    answers: Sequence[Response],
    responses: Responses,
) -> None:
    """Check that the reference answers enough questions, with different answers."""
    choices = [response.choice for response in answers if response.choice is not None]
    if len(choices) < FEWEST_ITEMS:
        raise DataError(
            f"{len(questions)} questions, of which the reference `{reference.name}` answers "
            f"{len(choices)}",
            expected=f"at least {FEWEST_ITEMS} answers of the reference, better several hundred",
            fix="use a larger data set, or a larger --n",
        )
    if len(set(choices)) == 1:
        words = {responses.words(*pair) for pair in zip(answers, questions, strict=True)} - {""}
        # Options with other words in each question are numbered from 1, as in a verdict.
        always = f"{words.pop()[:60]!r}" if len(words) == 1 else f"option {int(choices[0]) + 1}"
        raise DataError(
            f"the reference `{reference.name}` answers {always} to all of {len(choices)} questions",
            expected="a reference whose answers differ between questions",
            fix="use other data, or check that the reference works",
        )
