"""What a job needs: a store of answers, and a display of progress."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Protocol, runtime_checkable

from scope.protocols.roles import Role
from scope.records import Answer, Prediction, Question


class PredictionStore(Protocol):
    """Where predictions are kept between texts, searches and sessions."""

    def get(self, fingerprint: str, texts: Sequence[str]) -> dict[str, Prediction]:
        """The predictions that are known, by text."""

    def put(self, fingerprint: str, predictions: Mapping[str, Prediction]) -> None:
        """Keep these predictions; when this returns they survive a kill."""


class AnswerStore(Protocol):
    """Where answers to questions are kept between sessions; ``model`` is a fingerprint."""

    def get_answers(
        self, model: str, role: Role, questions: Sequence[Question]
    ) -> dict[int, Answer]:
        """The answers that are known, by the question's place in the sequence."""

    def put_answers(
        self, model: str, role: Role, answers: Sequence[tuple[Question, Answer]]
    ) -> None:
        """Keep these answers; when this returns they survive a kill."""


class Advance(Protocol):
    """Says that some units of the task at hand are done."""

    def __call__(self, units: int = 1, /) -> None:
        """Count ``units`` more as done."""


@runtime_checkable
class Progress(Protocol):
    """Shows a person how far long work has come."""

    def task(
        self, description: str, total: int | None, done: int = 0
    ) -> AbstractContextManager[Advance]:
        """Show a task of ``total`` units, some done before; None if their number is unknown."""
