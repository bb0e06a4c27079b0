"""Asks all models the questions of one reference, and makes a case of it."""

from __future__ import annotations

from collections.abc import Sequence

from scope.errors import DataError
from scope.jobs.left_out import unanswered
from scope.jobs.reuse.answer_matrix import Response, answer_matrix
from scope.jobs.reuse.case import Case, CaseItem
from scope.jobs.reuse.models import ReuseModels
from scope.jobs.reuse.questions import ItemSet, ReuseItem
from scope.jobs.reuse.responses import Responses
from scope.models.model import Model

FEWEST_ITEMS = 30
"""With fewer questions no two models can be distinguished."""


def make_case(
    models: ReuseModels, reference: Model, item_set: ItemSet, responses: Responses
) -> Case:
    """Ask all models the questions of one reference, the suspect last.

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
    perturbed = [item for item in item_set.items if item.id != item.unit]

    def answers_of(model: Model) -> list[Response]:
        return responses.answers(model, [*questions, *perturbed])[: len(questions)]

    of_reference = answers_of(reference)
    _require_answers(reference, questions, of_reference, responses)
    others = (*models.controls, *models.derivatives, models.suspect)
    asked, rows = _answered(questions, [of_reference, *map(answers_of, others)], responses)
    of_reference, *of_others, of_suspect = rows
    of_controls = of_others[: len(models.controls)]
    keys = [item.key for item in asked]
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
            for item, first, second in zip(asked, of_reference, of_suspect, strict=True)
        ],
        answers=answer_matrix(keys, [of_reference, of_suspect, *of_controls]),
        derivatives={
            model.name: answer_matrix(keys, [of_reference, row, *of_controls])
            for model, row in zip(models.derivatives, of_others[len(of_controls) :], strict=True)
        },
        pairs=responses.pairs(item_set, (reference, models.suspect, *models.controls)),
        hash=item_set.hash,
        labels=responses.labels,
        # Questions of equal content are asked once.
        queries=len({(word.text, word.context, word.options) for word in words}),
    )


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
