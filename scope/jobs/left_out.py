"""What a job leaves out, and why models give no answer: counted by reason, with examples."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain

from scope.answers import Run, ask
from scope.data.sampling import NAMED
from scope.errors import DataError
from scope.jobs.task_choice import ChosenTask
from scope.models.model import Model
from scope.protocols import Progress
from scope.records import Answer, DataCard, LeftOut, Manifest, TaskAnswers

SERVER = "the server failed"
"""The reason for leaving out a question that the server of some model did not answer."""

ByModel = Mapping[str, Mapping[str, Answer]]
"""The answers to all questions of a task, by the name of the model and the question's id."""


def ask_all(
    models: Sequence[Model], chosen: ChosenTask, run: Run, progress: Progress
) -> tuple[TaskAnswers, ByModel]:
    """The answers to the questions that no server failed to answer, and those to all questions."""
    rows = [ask(model, chosen.task, chosen.questions, run, progress) for model in models]
    ids = [question.id for question in chosen.questions]
    by_id = [dict(zip(ids, row, strict=True)) for row in rows]
    replies = dict(zip([model.name for model in models], by_id, strict=True))
    failed = failed_questions(replies)
    kept = [place for place, name in enumerate(ids) if name not in failed]
    items = [chosen.data.items[place] for place in kept]
    answers = TaskAnswers(
        task=chosen.task.name,
        # Rows are needed only for inference; a result names questions by their ids.
        items=tuple(replace(item, question=replace(item.question, row=None)) for item in items),
        answers=tuple(tuple(row[place] for place in kept) for row in rows),
    )
    return answers, replies


def failed_questions(answers: ByModel) -> Sequence[str]:
    """The ids of the questions that the server of a model failed to answer.

    Examples
    --------
    >>> good, failed = Answer(choice=0), Answer(missing="server")
    >>> failed_questions({"a": {"q0": good, "q1": good}, "b": {"q0": failed, "q1": good}})
    ['q0']
    """
    every = chain.from_iterable(row.items() for row in answers.values())
    return list(dict.fromkeys(name for name, answer in every if answer.missing == "server"))


def with_reasons(manifest: Manifest, tasks: Mapping[str, ByModel], most: float) -> Manifest:
    """The manifest with what is known once models have answered the tasks, by the tasks' names.

    It counts what servers left out of each task's data, the questions that each model truncated,
    and why it gave no answer.

    Raises
    ------
    DataError
        When servers failed to answer a larger share of the questions than ``most``.
    """
    data, models = [], []
    for card in manifest.data:
        failed = failed_questions(tasks.get(card.capability or "", {}))
        left = LeftOut(reason=SERVER, count=len(failed), examples=tuple(failed[:NAMED]))
        lefts = (*card.left_out, *([left] if failed else []))
        data.append(replace(card, used=card.used - len(failed), left_out=lefts))
    refuse_unusable(data, most)
    for model in manifest.models:
        every = [each for rows in tasks.values() for each in rows.get(model.name, {}).items()]
        cut = sum(answer.truncated for _, answer in every) if every else model.truncated
        models.append(replace(model, truncated=cut, missing=tuple(_reasons(every))))
    return replace(manifest, data=tuple(data), models=tuple(models))


def _reasons(answers: Iterable[tuple[str, Answer]]) -> Iterator[LeftOut]:
    """Why answers are missing, the commonest first; examples are replies, or ids of questions."""
    missing: dict[str, list[str]] = defaultdict(list)
    for name, answer in answers:
        if answer.asked and not answer.given:
            missing[answer.missing or "no reason is known"].append(answer.reply or name)
    for reason, named in sorted(missing.items(), key=lambda pair: -len(pair[1])):
        commonest = tuple(example for example, _ in Counter(named).most_common(NAMED))
        yield LeftOut(reason=reason, count=len(named), examples=commonest)


def refuse_unusable(data: Iterable[DataCard], most: float) -> None:
    """Check that not too much is left out of the data.

    Raises
    ------
    DataError
        When a larger share than ``most`` of the rows is unusable, or of the questions is left out
        because a server failed.
    """
    for card in data:
        failed = [left for left in card.left_out if left.reason == SERVER]
        others = [left for left in card.left_out if left.reason != SERVER]
        asked = card.used + sum(left.count for left in failed)
        for lefts, whole, what in ((others, card.rows, "rows"), (failed, asked, "questions")):
            count = sum(left.count for left in lefts)
            if count > most * whole:
                reasons = "; ".join(
                    f"{left.reason} ({left.count}): {', '.join(left.examples)}" for left in lefts
                )
                raise DataError(
                    f"{count} of {whole} {what} of `{card.spec}` cannot be used; {reasons}",
                    expected=f"at most {most:.0%}",
                    fix="correct the data, or where a server failed give the command again; "
                    "--most-unusable allows more",
                )
