"""What a job leaves out, and why models give no answer: counted by reason, with examples."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import chain

from scope.data.sampling import NAMED
from scope.errors import DataError
from scope.records import Answer, DataCard, LeftOut, Manifest, TaskAnswers

SERVER = "the server failed"
"""The reason for leaving out a question that the server of some model did not answer."""

ByModel = Mapping[str, Mapping[str, Answer]]
"""The answers to a task by the name of the model and the id of the question."""


def failed_questions(answers: ByModel) -> tuple[str, ...]:
    """The ids of the questions that the server of a model failed to answer.

    Examples
    --------
    >>> good, failed = Answer(choice=0), Answer(missing="server")
    >>> failed_questions({"a": {"q0": good, "q1": good}, "b": {"q0": failed, "q1": good}})
    ('q0',)
    """
    every = chain.from_iterable(row.items() for row in answers.values())
    return tuple(dict.fromkeys(name for name, answer in every if answer.missing == "server"))


def by_model(answers: TaskAnswers, models: Sequence[str]) -> ByModel:
    """The answers to a task, whose rows belong to these models."""
    ids = [item.question.id for item in answers.items]
    rows = zip(models, answers.answers, strict=True)
    return {model: dict(zip(ids, row, strict=True)) for model, row in rows}


def without(answers: TaskAnswers, questions: Iterable[str]) -> TaskAnswers:
    """The answers to all other questions."""
    apart = set(questions)
    kept = [place for place, item in enumerate(answers.items) if item.question.id not in apart]
    return replace(
        answers,
        items=tuple(answers.items[place] for place in kept),
        answers=tuple(tuple(row[place] for place in kept) for row in answers.answers),
    )


def with_reasons(manifest: Manifest, tasks: Mapping[str, ByModel], most: float) -> Manifest:
    """The manifest with what servers left out of each task's data, and why models did not answer.

    ``tasks`` are the answers to all questions, by the name of the task.

    Raises
    ------
    DataError
        When servers failed to answer a larger share of the questions than ``most``.
    """
    data = []
    for card in manifest.data:
        failed = failed_questions(tasks.get(card.capability or "", {}))
        left = LeftOut(reason=SERVER, count=len(failed), examples=failed[:NAMED])
        more = (left,) if failed else ()
        used = card.used - len(failed)
        data.append(replace(card, used=used, left_out=(*card.left_out, *more)))
    refuse_unusable(data, most)
    models = tuple(
        replace(card, missing=_reasons(answers.get(card.name, {}) for answers in tasks.values()))
        for card in manifest.models
    )
    return replace(manifest, data=tuple(data), models=models)


def _reasons(answers: Iterable[Mapping[str, Answer]]) -> tuple[LeftOut, ...]:
    """Why answers are missing, the commonest first; examples are replies, or ids of questions."""
    examples: dict[str, list[str]] = defaultdict(list)
    for name, answer in chain.from_iterable(row.items() for row in answers):
        if answer.asked and not answer.given:
            examples[answer.missing or "no reason is known"].append(answer.reply or name)
    return tuple(
        LeftOut(
            reason=reason,
            count=len(named),
            examples=tuple(example for example, _ in Counter(named).most_common(NAMED)),
        )
        for reason, named in sorted(examples.items(), key=lambda pair: -len(pair[1]))
    )


def refuse_unusable(data: Sequence[DataCard], most: float) -> None:
    """Check that not too much is left out of the data.

    Raises
    ------
    DataError
        When a larger share than ``most`` of the rows is unusable, or of the questions is left out
        because a server failed.
    """
    for card in data:
        failed = [left for left in card.left_out if left.reason == SERVER]
        unusable = [left for left in card.left_out if left.reason != SERVER]
        asked = card.used + sum(left.count for left in failed)
        for lefts, whole, what in ((unusable, card.rows, "row"), (failed, asked, "question")):
            count = sum(left.count for left in lefts)
            if count > most * whole:
                reasons = "; ".join(
                    f"{left.reason} ({left.count}), such as {', '.join(left.examples)}"
                    for left in lefts
                )
                fix = "correct the data" if what == "row" else "give the command again"
                if (share := math.ceil(100 * count / whole) / 100) < 1:
                    fix += f", or allow more with --most-unusable {share:.2f}"
                raise DataError(
                    f"{count} of {whole} {what}s of `{card.spec}` cannot be used: {reasons}",
                    expected=f"at most {most:.0%}",
                    fix=fix,
                )
