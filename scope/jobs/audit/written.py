"""Audits of written answers: what the reference writes, and how right an answer is."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

import numpy as np

from scope.answers import Run
from scope.answers.answers import content_of
from scope.data.sampling import short_hash
from scope.estimation.answer_shares import NO_LABELS, gives_one_answer, silent
from scope.estimation.pairs import measured
from scope.jobs.audit.plan import AuditPlan
from scope.metrics.agreement import best_against_gold, exact_match_values, word_f1_values
from scope.metrics.catalog import SELF_AGREEMENT
from scope.models.written import normalized, writer_of
from scope.records import (
    Answer,
    AnswerShares,
    AuditResult,
    Example,
    Prediction,
    Question,
    ScoredExample,
    ScoredPerturbation,
)
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


def questions_with_seeds(plan: AuditPlan) -> list[Question]:
    """The reference's questions for the samples of each text; a question's id is the example's.

    Each text has seeds of its own. With the same seeds for all texts their draws would be alike,
    and the texts no independent units.
    """
    adapter, numbers = plan.models.reference.adapter, range(plan.request.samples or 0)
    asked = [
        replace(adapter.question(each.text), id=each.id, draft="") for each in plan.data.examples
    ]
    drawn_by = [short_hash(content_of("answerer", question)) for question in asked]
    return [
        # Servers take 31 bits.
        replace(question, seed=(int.from_bytes(digest[:4]) + number) % 2**31)
        for question, digest in zip(asked, drawn_by, strict=True)
        for number in numbers
    ]


def own_noise(plan: AuditPlan, run: Run) -> dict[str, float]:
    """By example, the share of pairs of the reference's sampled answers that are equal, 0 to 1.

    Texts at which a server failed are left out.
    """
    model, questions = plan.models.reference, questions_with_seeds(plan)
    progress, title = plan.request.progress, f"{model.name}: sampling"
    answers = run.get(
        writer_of(model.adapter), "answerer", questions, progress=progress, title=title
    )
    of_texts: dict[str, list[Answer]] = {}
    for question, answer in zip(questions, answers, strict=True):
        of_texts.setdefault(question.id, []).append(answer)
    return {
        id_: equal_pairs([a.text if a.text is None else normalized(a.text) for a in several])
        for id_, several in of_texts.items()
        if all(answer.missing != "server" for answer in several)
    }


def equal_pairs(answers: Sequence[str | None]) -> float:
    """The share of pairs of answers to a text that are equal, 0 to 1; None equals no other.

    Of independent samples its mean is the probability that two are the same.

    Examples
    --------
    >>> equal_pairs(["red", "red", "red", "blue"]), equal_pairs([None, None])
    (0.5, 0.0)
    """
    counts = Counter(answer for answer in answers if answer is not None).values()
    return sum(n * (n - 1) for n in counts) / (len(answers) * (len(answers) - 1))


def with_own_noise(result: AuditResult, noise: Mapping[str, float]) -> AuditResult:
    """The audit, with a measurement of how often its reference gives the same answer twice."""
    ids = [text.example.id for text in result.examples if text.example.id in noise]
    values = np.array([noise[id_] for id_ in ids])
    estimate = mean_estimate(values, ids, empty="the server failed at all texts")
    name = result.manifest.reference.name
    row = measured(SELF_AGREEMENT, name, estimate, ids, values)
    return replace(result, measurements=(*result.measurements, row))


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
