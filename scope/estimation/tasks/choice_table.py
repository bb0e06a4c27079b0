"""Every model's choices and probabilities as arrays, one row a model, one column an item."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from scope.records import Answer, TaskAnswers

NOTHING = -1
"""Stands where no option was chosen, and where the right one is not known."""


@dataclass(frozen=True, kw_only=True, eq=False)
class ChoiceTable:
    """The answers to a task with options.

    ``options`` and ``right`` have shape (items,), ``choices`` and ``asked`` (models, items), and
    ``probabilities`` (models, items, most options), with 0 behind an item's last option and in
    rows that a model did not give; ``has_probabilities`` says which are given.
    """

    task: str
    item_ids: tuple[str, ...]
    categories: tuple[str | None, ...]
    options: NDArray[np.intp]
    right: NDArray[np.intp]
    choices: NDArray[np.intp]
    asked: NDArray[np.bool_]
    probabilities: NDArray[np.float64]
    has_probabilities: NDArray[np.bool_]

    @classmethod
    def of(cls, answers: TaskAnswers) -> ChoiceTable:
        """Gather the answers.

        Raises
        ------
        ValueError
            If a choice is none of the options, or there is not one probability an option.
        """
        items = answers.items
        options = np.array([len(item.question.options) for item in items], dtype=np.intp)
        right = [NOTHING if item.right is None else item.right for item in items]
        choices = [[_choice(answer) for answer in row] for row in answers.answers]
        asked = [[answer.asked for answer in row] for row in answers.answers]
        table = cls(
            task=answers.task,
            item_ids=tuple(item.question.id for item in items),
            categories=tuple(item.category for item in items),
            options=options,
            right=np.array(right, dtype=np.intp),
            choices=np.array(choices, dtype=np.intp).reshape(len(choices), len(items)),
            asked=np.array(asked, dtype=np.bool_).reshape(len(choices), len(items)),
            probabilities=np.zeros((len(choices), len(items), int(options.max(initial=0)))),
            has_probabilities=np.zeros((len(choices), len(items)), dtype=np.bool_),
        )
        table._require_options()
        table._fill_probabilities(answers)
        return table

    def _require_options(self) -> None:
        outside = np.argwhere(self.choices >= self.options)
        if len(outside):
            model, item = outside[0]
            raise ValueError(
                f"{self.task}: option {self.choices[model, item]} is chosen of the "
                f"{self.options[item]} options of item {self.item_ids[item]!r}"
            )

    def _fill_probabilities(self, answers: TaskAnswers) -> None:
        for model, row in enumerate(answers.answers):
            for item, answer in enumerate(row):
                given = answer.probabilities
                if answer.choice is None or not given:
                    continue
                if len(given) != self.options[item]:
                    raise ValueError(
                        f"{self.task}: {len(given)} probabilities for the {self.options[item]} "
                        f"options of item {self.item_ids[item]!r}"
                    )
                self.probabilities[model, item, : len(given)] = given
                self.has_probabilities[model, item] = True


def _choice(answer: Answer) -> int:
    return NOTHING if answer.choice is None else answer.choice
