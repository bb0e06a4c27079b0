"""Puts the probes of one reference to all models, and gathers what they answer into a case."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from scope.decision.case import Case, CaseItem
from scope.errors import DataError
from scope.evidence.interning import Response, answer_matrix
from scope.jobs.reuse.items import ItemSet, ReuseItem
from scope.jobs.reuse.models import ReuseModel, ReuseModels
from scope.jobs.reuse.responses import Responses
from scope.jobs.reuse.sequence import REPRESENTATIVE, ask_in_batches, asking_order
from scope.records import Look, Question

FEWEST_ITEMS = 30
"""With fewer questions no two models can be told apart."""


@dataclass(frozen=True, kw_only=True)
class InBatches:
    """How a suspect is asked little by little.

    So many questions at a time, until its p-value reaches ``alpha`` and ``relates`` says that the
    verdict on the case so far would be *related*.
    """

    size: int
    alpha: float
    relates: Callable[[Case, tuple[Look, ...]], bool]


def make_case(
    tested: ReuseModels,
    reference: ReuseModel,
    probes: ItemSet,
    responses: Responses,
    *,
    batches: InBatches | None = None,
) -> tuple[Case, tuple[Look, ...]]:
    """Ask all models what was made for one reference; the suspect comes last.

    With ``batches`` the case holds what was asked until the suspect was found to be related, and
    the looks at it come with it; perturbations are not asked.

    Raises
    ------
    DataError
        When the reference answers too few questions, or all of them alike.
    ModelError
        When a model cannot answer.
    """
    # A perturbation was made so that the reference keeps its answer, right or wrong: on it the
    # reference is not itself, and only whether others keep theirs is of interest.
    questions = [one for one in probes.questions if one.id == one.unit]
    perturbed = [one for one in probes.questions if one.id != one.unit and batches is None]

    def answers_of(member: ReuseModel) -> list[Response]:
        return responses.answers(member, [*questions, *perturbed])[: len(questions)]

    of_reference = answers_of(reference)
    if batches is not None:
        order = asking_order(questions, of_reference)
        questions = [questions[place] for place in order]
        of_reference = [of_reference[place] for place in order]
    _require_probes(reference, questions, of_reference, responses)
    of_controls = list(map(answers_of, tested.controls))

    def case_of(answers: Sequence[Response]) -> Case:
        asked = questions[: len(answers)]
        given = [row[: len(answers)] for row in (of_reference, answers, *of_controls)]
        return Case(
            reference=reference.name,
            suspect=tested.suspect.name,
            controls=tuple(one.name for one in tested.controls),
            probes=_in_words(asked, given, responses),
            answers=answer_matrix([one.asked for one in asked], given),
            pairs=responses.pairs(probes, (reference, tested.suspect, *tested.controls)),
            hash=probes.hash,
            representative=None if batches is None else REPRESENTATIVE,
            queries=len({_words(one.question) for one in [*asked, *perturbed]}),
        )

    if batches is None:
        return case_of(answers_of(tested.suspect)), ()
    relates = batches.relates
    stopped = ask_in_batches(
        questions,
        of_reference,
        of_controls,
        lambda some: responses.answers(tested.suspect, some),
        lambda answers, looks: relates(case_of(answers), looks),
        batch=batches.size,
        alpha=batches.alpha,
    )
    return case_of(stopped.answers), stopped.looks


def _words(question: Question) -> tuple[object, ...]:
    """What is asked: of questions that say the same, one is asked."""
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


def _require_probes(
    reference: ReuseModel,
    questions: Sequence[ReuseItem],
    given: Sequence[Response],
    responses: Responses,
) -> None:
    """See that the reference answers enough, and not always alike."""
    answered = [one.choice for one in given if one.choice is not None]
    if len(answered) < FEWEST_ITEMS:
        raise DataError(
            f"{len(questions)} questions, of which the reference `{reference.name}` answers "
            f"{len(answered)}",
            expected=f"at least {FEWEST_ITEMS} answers of the reference; some hundreds say more",
            fix="name larger data, or a greater --n",
        )
    if len(set(answered)) == 1:
        words = {responses.words(*one) for one in zip(given, questions, strict=True)} - {""}
        # Counted from 1, as a verdict counts the options; an answer in words is itself.
        only = answered[0]
        option = f"option {only + 1}" if isinstance(only, int) else repr(only[:60])
        always = f"{words.pop()[:60]!r}" if len(words) == 1 else option
        raise DataError(
            f"the reference `{reference.name}` answers {always} to all of {len(answered)} "
            "questions",
            expected="a reference whose answers differ: nothing can be told from others",
            fix="name other data, or look whether the reference works",
        )
