"""What a job leaves out, and why models give no answer: counted by reason, with examples."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from scope.answers import Run, answer_questions
from scope.data.sources import NAMED, LeftOutRows
from scope.errors import DataError
from scope.jobs.answering_models import ChosenTask
from scope.models.scheme import Model
from scope.printing import counted
from scope.protocols import Progress
from scope.records import Answer, DataCard, LeftOut, Manifest, Prediction, TaskAnswers

UNANSWERED = "no answer of "
"""Begins the reason for leaving out a question, or a text, that some model did not answer."""

CHANGED = "changed text, "
"""Stands before it where only a change of a text was not answered."""

ByModel = Mapping[str, Mapping[str, Answer | Prediction]]
"""All answers to a task, or to texts, by the model's name and the question's id or the text."""


def ask_all(
    models: Sequence[Model], chosen: ChosenTask, run: Run, progress: Progress
) -> tuple[TaskAnswers, ByModel]:
    """The answers to the questions that no server failed to answer, and those to all questions."""
    rows = [
        answer_questions(model, chosen.task, chosen.questions, run, progress) for model in models
    ]
    ids = [question.id for question in chosen.questions]
    by_id = [dict(zip(ids, row, strict=True)) for row in rows]
    replies = dict(zip([model.name for model in models], by_id, strict=True))
    failed = unanswered(replies)
    kept = [place for place, name in enumerate(ids) if name not in failed]
    items = [chosen.data.items[place] for place in kept]
    answers = TaskAnswers(
        task=chosen.task.name,
        # Rows are needed only for inference; a result names questions by their ids.
        items=tuple(replace(item, question=replace(item.question, row=None)) for item in items),
        answers=tuple(tuple(row[place] for place in kept) for row in rows),
    )
    return answers, replies


def unanswered(answers: ByModel, reference: str | None = None) -> dict[str, str]:
    """The questions, or texts, that are left out for all models, and why.

    They are those that a server failed to answer, or the ``reference`` of an audit, with whose
    answer all others are compared.

    Examples
    --------
    >>> good, failed = Answer(choice=0), Answer(missing="server")
    >>> unanswered({"a": {"q0": good, "q1": good}, "b": {"q0": failed, "q1": good}})
    {'q0': 'no answer of b: server'}
    """
    return {
        name: f"{UNANSWERED}{model}: {answer.missing}"
        for model, row in answers.items()
        for name, answer in row.items()
        if answer.leaves_out or (model == reference and not answer.given)
    }


def with_reasons(
    manifest: Manifest,
    tasks: Mapping[Any, ByModel],
    most: float,
    texts: Collection[str] | None = None,
    reference: str | None = None,
) -> Manifest:
    """The manifest with what is known once models have answered the tasks, by the tasks' names.

    It counts what is left out of the data of each task, how many questions each model truncated,
    and why it gave no answer to others. The name of an audit is None, ``texts`` are those of its
    data, and what its ``reference`` does not answer is left out.

    Raises
    ------
    DataError
        When a larger share than ``most`` is left out for want of an answer.
    """
    data, models = [], []
    failed = {task: unanswered(rows, reference) for task, rows in tasks.items()}
    for card in manifest.data:
        whys = failed.get(card.capability, {})
        plain = {name for name in whys if texts is None or name in texts}
        lefts = _counted((CHANGED * (name not in plain) + whys[name], name) for name in whys)
        used = card.used - len(plain)
        data.append(replace(card, used=used, left_out=(*card.left_out, *lefts)))
    refuse_unusable(data, most)
    for model in manifest.models:
        rows = [(failed[task], row.get(model.name, {})) for task, row in tasks.items()]
        missing = _counted(
            (
                answer.missing or "no reason is known",
                getattr(answer, "reply", "")
                or ("(empty)" if answer.missing == "not readable" else name),
            )
            for whys, row in rows
            for name, answer in row.items()
            if not answer.given and getattr(answer, "asked", True)
            if name not in whys and (texts is None or name in texts)
        )
        cut = sum(answer.truncated for _, row in rows for answer in row.values())
        models.append(replace(model, truncated=cut, missing=tuple(missing)))
    return replace(manifest, data=tuple(data), models=tuple(models))


def _counted(examples: Iterable[tuple[str, str]]) -> Iterator[LeftOut]:
    """How many there are of each reason, the commonest first, with the commonest examples."""
    by_reason: dict[str, list[str]] = defaultdict(list)
    for reason, example in examples:
        by_reason[reason].append(example)
    for reason, named in sorted(by_reason.items(), key=lambda pair: -len(pair[1])):
        commonest = tuple(example for example, _ in Counter(named).most_common(NAMED))
        yield LeftOut(reason=reason, count=len(named), examples=commonest)


def refuse_unusable(data: Iterable[DataCard], most: float) -> None:
    """Check that not too much is left out of the data.

    Raises
    ------
    DataError
        When a larger share than ``most`` of the rows is unusable, or of the questions or texts is
        left out for want of an answer.
    """
    for card in data:
        failed = [left for left in card.left_out if left.reason.startswith(UNANSWERED)]
        others = [left for left in card.left_out if UNANSWERED not in left.reason]
        asked = card.used + sum(left.count for left in failed)
        for lefts, whole, what, fix in (
            (others, card.rows, "rows", "correct the data"),
            (failed, asked, "rows asked", "check the model, its server and rows"),
        ):
            _refuse_more(lefts, most, whole, f"{what} of `{card.spec}`", fix)


def notes_on(left_out: LeftOutRows, rows: int, name: str, most: float) -> list[str]:
    """A sentence for each reason why some of the rows of a table are left out.

    Raises
    ------
    DataError
        When a larger share than ``most`` is.
    """
    lefts = left_out.commonest()
    fix = "correct the data, or name another column: --column ROLE=NAME"
    _refuse_more(lefts, most, rows, f"rows of {name}", fix)
    return [
        f"{counted(left.count, 'row')} of {name} left out, {left.reason}: "
        f"{'; '.join(left.examples)}"
        for left in lefts
    ]


def _refuse_more(lefts: Sequence[LeftOut], most: float, whole: int, what: str, fix: str) -> None:
    count = sum(left.count for left in lefts)
    if count > most * whole:
        reasons = "; ".join(
            f"{left.reason} ({left.count}): {', '.join(left.examples)}" for left in lefts
        )
        raise DataError(
            f"{count} of {whole} {what} cannot be used; {reasons}",
            expected=f"at most {most:.0%}",
            fix=f"{fix}; --most-unusable allows more",
        )
