"""Inference of one model on a task's questions; answers are stored soon after they come."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from scope.errors import ModelError
from scope.jobs.answer_checks import checked_answers
from scope.jobs.answering_models import AnsweringModel
from scope.models.answer_table import TableColumn
from scope.protocols import Advance, AnswerStore, Progress, Role, Task
from scope.records import Answer, Question

SECONDS_BETWEEN_WRITES = 1.0
ANSWERS_BETWEEN_WRITES = 16
"""What a kill can cost at most, beside the answers that are on their way."""


def ask(
    answering_model: AnsweringModel,
    task: Task,
    questions: Sequence[Question],
    store: AnswerStore,
    progress: Progress,
) -> tuple[Answer, ...]:
    """One model's answers to all questions, in their order.

    A question whose words were asked before, in this session or an earlier one, is not asked
    again. Answers that came before a failure are kept.

    Raises
    ------
    ModelError
        When the model gives an answer twice, none at all, or one that is no answer.
    """
    model, role = answering_model.model, task.role
    if isinstance(model, TableColumn):
        # Its letters were compared with the options as they were read.
        return _in_order(answering_model, questions, dict(model.choose(questions)))
    if answering_model.saved:
        return _in_order(
            answering_model, questions, dict(checked_answers(answering_model, role, questions))
        )
    known = store.get_answers(model.fingerprint, role, questions)
    waiting = _distinct([one for place, one in enumerate(questions) if place not in known])
    total = len(_distinct(questions))
    with (
        progress.task(
            f"{task.name}: {answering_model.name}", total, total - len(waiting)
        ) as advance,
        _keeper(store, model.fingerprint, role, advance) as keep,
    ):
        for place, answer in checked_answers(answering_model, role, waiting) if waiting else ():
            keep.add(waiting[place], answer)
    known = store.get_answers(model.fingerprint, role, questions)
    return _in_order(answering_model, questions, known)


def _distinct(questions: Sequence[Question]) -> list[Question]:
    """The first of all questions that say the same."""
    first: dict[tuple[object, ...], Question] = {}
    for one in questions:
        first.setdefault((one.text, one.context, one.options), one)
    return list(first.values())


class _Keeper:
    """Gathers answers and writes them together: few, and at most a second's worth."""

    def __init__(self, store: AnswerStore, model: str, role: Role, advance: Advance) -> None:
        self._store, self._model, self._role = store, model, role
        self._advance = advance
        self._gathered: list[tuple[Question, Answer]] = []
        self._written = time.monotonic()

    def add(self, question: Question, answer: Answer) -> None:
        """Take one answer."""
        self._gathered.append((question, answer))
        late = time.monotonic() - self._written >= SECONDS_BETWEEN_WRITES
        if late or len(self._gathered) >= ANSWERS_BETWEEN_WRITES:
            self.write()

    def write(self) -> None:
        """Write what was gathered; then it survives a kill."""
        if self._gathered:
            self._store.put_answers(self._model, self._role, self._gathered)
            self._advance(len(self._gathered))
        self._gathered = []
        self._written = time.monotonic()


@contextmanager
def _keeper(store: AnswerStore, model: str, role: Role, advance: Advance) -> Iterator[_Keeper]:
    keep = _Keeper(store, model, role, advance)
    try:
        yield keep
    finally:
        keep.write()


def _in_order(
    answering_model: AnsweringModel, questions: Sequence[Question], known: dict[int, Answer]
) -> tuple[Answer, ...]:
    missing = [one for place, one in enumerate(questions) if place not in known]
    if missing:
        raise ModelError(
            f"`{answering_model.model.spec}` leaves {len(missing)} of {len(questions)} questions "
            f"without an answer, such as {missing[0].text[:80]!r}",
            expected="one answer to each question; `Answer()` where there is none",
            fix="fix the model, or choose another one",
        )
    return tuple(known[place] for place in range(len(questions)))
