"""Every model's answers in words, with what compares them by meaning."""

from __future__ import annotations

from dataclasses import dataclass

from scope.estimation.tasks.meaning import Compare
from scope.records import Item, TaskAnswers


@dataclass(frozen=True, kw_only=True, eq=False)
class TextTable:
    """The answers to a task without options.

    ``texts`` has one row a model and one text an item, None where no answer was given; ``asked``
    says in the same shape whether the question was put to the model. ``by_meaning`` gives a pair
    of texts its SemScore, ``by_words`` its word cosine; either is None where it is not measured.
    ``cosines`` says whether SemScores are cosines, in -1..1; others lie in 0..1.
    """

    task: str
    items: tuple[Item, ...]
    texts: tuple[tuple[str | None, ...], ...]
    asked: tuple[tuple[bool, ...], ...]
    by_meaning: Compare | None
    by_words: Compare | None
    cosines: bool

    @classmethod
    def of(
        cls,
        answers: TaskAnswers,
        by_meaning: Compare | None,
        by_words: Compare | None,
        *,
        cosines: bool,
    ) -> TextTable:
        """Gather the answers."""
        return cls(
            task=answers.task,
            items=answers.items,
            texts=tuple(tuple(answer.text for answer in row) for row in answers.answers),
            asked=tuple(tuple(answer.asked for answer in row) for row in answers.answers),
            by_meaning=by_meaning,
            by_words=by_words,
            cosines=cosines,
        )
