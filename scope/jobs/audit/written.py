"""Audits of written answers: what the reference writes, and how right an answer is."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

from scope.estimation.answer_shares import NO_LABELS, gives_one_answer, silent
from scope.jobs.audit.plan import AuditPlan
from scope.metrics.agreement import best_against_gold, exact_match_values, word_f1_values
from scope.models.written import normalized
from scope.records import AnswerShares, Example, Prediction, ScoredExample, ScoredPerturbation
from scope.records.text_parts import joined, parts_of
from scope.statistics.intervals import mean_estimate

Scored = TypeVar("Scored", ScoredExample, ScoredPerturbation)

SCORES = {"exact_match": exact_match_values, "f1": word_f1_values}
"""How an answer is compared with the right answers, after normalisation."""


def with_given_answers(
    plan: AuditPlan, answers: Mapping[str, Mapping[str, Prediction]]
) -> AuditPlan:
    """The same audit, in which each text ends with the reference's answer to it.

    Texts without one stay as they are, and are left out later.
    """
    known = answers[plan.names[0]]
    return plan.only([_with_answer(example, known[example.text]) for example in plan.data.examples])


def as_if_answered(plan: AuditPlan) -> AuditPlan:
    """The same audit as if the reference had given the right answers, to estimate its cost."""
    right = (Prediction(probabilities=(1.0,), reply=x.label or "?") for x in plan.data.examples)
    return plan.only(list(map(_with_answer, plan.data.examples, right)))


def _with_answer(example: Example, answer: Prediction) -> Example:
    if not answer.given:
        return example
    return replace(example, text=joined([*parts_of(example.text), answer.reply]))


def judged_answers(
    plan: AuditPlan, examples: Sequence[ScoredExample], changed: Sequence[ScoredPerturbation]
) -> tuple[tuple[ScoredExample, ...], tuple[ScoredPerturbation, ...]]:
    """The texts without the reference's answer, and how right each answer is."""
    gold = {each.example.id: each.example.gold for each in examples}
    parts = len(plan.data.card.parts)
    return (
        tuple(
            replace(
                _judged(scored, scored.example.gold, plan),
                example=replace(scored.example, text=_asked(scored.example.text, parts)),
            )
            for scored in examples
        ),
        tuple(
            replace(
                _judged(scored, gold[scored.perturbation.example_id], plan),
                perturbation=replace(
                    scored.perturbation, text=_asked(scored.perturbation.text, parts)
                ),
            )
            if scored.perturbation.text is not None
            else scored
            for scored in changed
        ),
    )


def _asked(text: str | None, parts: int) -> str:
    return joined(parts_of(text or "")[:parts])


def _judged(scored: Scored, gold: Sequence[str], plan: AuditPlan) -> Scored:
    """With the score of each model's answer."""
    if not gold or scored.reference is None:
        return scored
    reference, *targets = (
        replace(answer, score=_score(answer, gold, plan))
        for answer in (scored.reference, *scored.targets)
    )
    return replace(scored, reference=reference, targets=tuple(targets))


def shares_of_writers(
    plan: AuditPlan, answers: Sequence[Mapping[str, Prediction]]
) -> Iterator[AnswerShares]:
    """How often each model gives each answer, its accuracy, and whether it is degenerate."""
    examples = plan.data.examples
    gold = {each.id: normalized(each.gold[0]) for each in examples if each.gold}
    reference: dict[str, str] | None = None
    for name, known in zip(plan.names, answers, strict=False):
        row = {each.id: known[each.text] for each in examples}
        named = {id_: str(answer.choice) for id_, answer in row.items() if answer.given}
        scores = [_score(row[each.id], each.gold, plan) for each in examples if each.gold]
        yield AnswerShares(
            model=name,
            counts=dict(Counter(named.values()).most_common()),
            accuracy=mean_estimate(scores, list(gold), empty=NO_LABELS),
            degenerate=silent([*row.values()], "questions")
            or gives_one_answer(named, gold, reference, ("questions", "right answer")),
        )
        reference = reference or named


def _score(answer: Prediction, gold: Sequence[str], plan: AuditPlan) -> float:
    """How right an answer is; a missing one is wrong."""
    if not answer.given:
        return 0.0
    right = [normalized(text) for text in gold]
    values = best_against_gold(SCORES[plan.request.score], [str(answer.choice)], [right])
    return round(float(values[0]), 6)
