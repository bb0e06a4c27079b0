"""Asks all models the questions of one reference, and collects the answers in a case."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from scope.errors import DataError
from scope.jobs.identity import NamedModel
from scope.jobs.reuse.answer_matrix import Response, answer_matrix
from scope.jobs.reuse.case import Case, CaseItem
from scope.jobs.reuse.models import ReuseModels
from scope.jobs.reuse.questions import ItemSet, ReuseItem
from scope.jobs.reuse.responses import Responses
from scope.jobs.reuse.sequence import REPRESENTATIVE, ask_in_batches, asking_order
from scope.records import Look, Question

FEWEST_ITEMS = 30
"""With fewer questions no two models can be distinguished."""


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
    reference: NamedModel,
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
    questions = [one for one in item_set.items if one.id == one.unit]
    perturbed = [one for one in item_set.items if one.id != one.unit and batches is None]

    def answers_of(model: NamedModel) -> list[Response]:
        return responses.answers(model, [*questions, *perturbed])[: len(questions)]

    of_reference = answers_of(reference)
    if batches is not None:
        order = asking_order(questions, of_reference)
        questions = [questions[place] for place in order]
        of_reference = [of_reference[place] for place in order]
    _require_answers(reference, questions, of_reference, responses)
    of_controls = list(map(answers_of, models.controls))

    def case_of(answers: Sequence[Response]) -> Case:
        asked = questions[: len(answers)]
        given = [row[: len(answers)] for row in (of_reference, answers, *of_controls)]
        return Case(
            reference=reference.name,
            suspect=models.suspect.name,
            controls=tuple(one.name for one in models.controls),
            items=_in_words(asked, given, responses),
            answers=answer_matrix([one.key for one in asked], given),
            pairs=responses.pairs(item_set, (reference, models.suspect, *models.controls)),
            hash=item_set.hash,
            representative=None if batches is None else REPRESENTATIVE,
            queries=len({_words(one.question) for one in [*asked, *perturbed]}),
        )

    if batches is None:
        return case_of(answers_of(models.suspect)), ()
    relates = batches.relates
    stopped = ask_in_batches(
        questions,
        of_reference,
        of_controls,
        lambda some: responses.answers(models.suspect, some),
        lambda answers, looks: relates(case_of(answers), looks),
        batch=batches.size,
        alpha=batches.alpha,
    )
    return case_of(stopped.answers), stopped.looks


def _words(question: Question) -> tuple[object, ...]:
    """The content of a question; questions with equal content are asked once."""
    return question.text, question.context, question.options


def _in_words(
    questions: Sequence[ReuseItem], given: Sequence[Sequence[Response]], responses: Responses
) -> list[CaseItem]:
    return [
        CaseItem(
            id=one.id,
            unit=one.unit,
            text=one.question.text,
            gold=one.gold,
            reference=responses.words(of_reference, one),
            suspect=responses.words(of_suspect, one),
        )
        for one, of_reference, of_suspect in zip(questions, given[0], given[1], strict=True)
    ]


def _require_answers(
    reference: NamedModel,
    questions: Sequence[ReuseItem],
    given: Sequence[Response],
    responses: Responses,
) -> None:
    """Check that the reference answers enough questions, with different answers."""
    answered = [one.choice for one in given if one.choice is not None]
    if len(answered) < FEWEST_ITEMS:
        raise DataError(
            f"{len(questions)} questions, of which the reference `{reference.name}` answers "
            f"{len(answered)}",
            expected=f"at least {FEWEST_ITEMS} answers of the reference, better several hundred",
            fix="use a larger data set, or a larger --n",
        )
    if len(set(answered)) == 1:
        words = {responses.words(*one) for one in zip(given, questions, strict=True)} - {""}
        # Options are numbered from 1, as in a verdict; an answer in words is quoted.
        only = answered[0]
        option = f"option {only + 1}" if isinstance(only, int) else repr(only[:60])
        always = f"{words.pop()[:60]!r}" if len(words) == 1 else option
        raise DataError(
            f"the reference `{reference.name}` answers {always} to all of {len(answered)} "
            "questions",
            expected="a reference whose answers differ between questions",
            fix="use other data, or check that the reference works",
        )
