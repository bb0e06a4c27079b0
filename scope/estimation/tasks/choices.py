"""The numbers of a task with options: each model's accuracy, and what each two models share.

`ChoiceTable` holds every model's choices and probabilities, one row a model, one column an item.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from scope.metrics import (
    METRICS,
    ChanceCorrected,
    agreement_values,
    capa,
    capa_discrete,
    cohen_kappa,
    error_consistency,
    js_divergence_values,
)
from scope.records import GOLD, Estimate, Measurement, TaskAnswers, Undefined
from scope.statistics import chance_corrected_estimate, mean_estimate

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
        choices = [
            [NOTHING if answer.choice is None else answer.choice for answer in row]
            for row in answers.answers
        ]
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


MOST_CATEGORIES = 60
"""More parts than this are ids rather than categories."""

NO_RIGHT_OPTION = "no item has a known right option"
NONE_BY_BOTH = "the two models answered no item in common"
_NONE_WITH_PROBABILITIES = "no item has probabilities of both models"
_NO_ROOM = "chance alone would make both agree everywhere"


def accuracy_measurements(table: ChoiceTable, models: Sequence[str]) -> list[Measurement]:
    """Each model's accuracy over the items whose right option is known, with its values."""
    known = table.right != NOTHING
    return [
        _accuracy(table, row, name, np.flatnonzero(known & table.asked[row]))
        for row, name in enumerate(models)
    ]


def category_measurements(table: ChoiceTable, models: Sequence[str]) -> Iterator[Measurement]:
    """Each model's accuracy by category, where there are some and not too many."""
    names = sorted({category for category in table.categories if category is not None})
    if not 2 <= len(names) <= MOST_CATEGORIES:
        return
    of_item = np.array([category or "" for category in table.categories])
    named = np.array([category is not None for category in table.categories])
    for row, model in enumerate(models):
        for name in names:
            here = named & (of_item == name)
            chosen = np.flatnonzero(here & (table.right != NOTHING) & table.asked[row])
            if len(chosen):
                measured = _accuracy(table, row, model, chosen)
                yield replace(without_values(measured), subset=f"category = {name}")


def choice_pair_measurements(table: ChoiceTable, models: Sequence[str]) -> Iterator[Measurement]:
    """What each two models share, on the items that both answered."""
    for (first, target), (second, against) in combinations(enumerate(models), 2):
        estimates = _Pair(table, first, second).estimates(target, against)
        for key, estimate in estimates.items():
            yield Measurement(
                metric=str(METRICS[key]),
                target=target,
                against=against,
                capability=table.task,
                estimate=estimate,
            )


def without_values(measurement: Measurement) -> Measurement:
    """The measurement alone: its values can be read off the answers."""
    return replace(measurement, example_ids=(), values=())


def _accuracy(table: ChoiceTable, row: int, model: str, items: NDArray[np.intp]) -> Measurement:
    values = (table.choices[row, items] == table.right[items]).astype(np.float64)
    ids = tuple(table.item_ids[item] for item in items)
    return Measurement(
        metric=str(METRICS["accuracy"]),
        target=model,
        against=GOLD,
        capability=table.task,
        estimate=mean_estimate(values, ids, empty=NO_RIGHT_OPTION),
        example_ids=ids,
        values=tuple(values.tolist()),
    )


class _Pair:
    """Two models on the items that both answered."""

    def __init__(self, table: ChoiceTable, first: int, second: int) -> None:
        self._table = table
        self._rows = (first, second)
        one, other = table.choices[[first, second]]
        self._both = (one != NOTHING) & (other != NOTHING)
        self._known = self._both & (table.right != NOTHING)
        self._probable = table.has_probabilities[first] & table.has_probabilities[second]

    def estimates(self, first: str, second: str) -> dict[str, Estimate | Undefined]:
        """Every metric by key; the names say whose probabilities are missing."""
        one, other = self._choices(self._both)
        ids = [self._table.item_ids[item] for item in np.flatnonzero(self._both)]
        agreement = mean_estimate(agreement_values(one, other), ids, empty=NONE_BY_BOTH)
        known_one, known_other = self._choices(self._known)
        right, options = self._table.right[self._known], self._table.options[self._known]
        missing = self._without_probabilities(first, second)
        return {
            "agreement": agreement,
            "cohen_kappa": _estimate(cohen_kappa(one, other), NONE_BY_BOTH),
            "capa": missing or self._capa(),
            "capa_discrete": self._of_known(capa_discrete(known_one, known_other, right, options)),
            "error_consistency": self._of_known(error_consistency(known_one, known_other, right)),
            "js_divergence": missing or self._js_divergence(),
        }

    def _capa(self) -> Estimate | Undefined:
        items = self._known & self._probable
        one, other = self._probabilities(items)
        right, options = self._table.right[items], self._table.options[items]
        return self._of_known(capa(one, other, right, options), _NONE_WITH_PROBABILITIES)

    def _js_divergence(self) -> Estimate | Undefined:
        values = js_divergence_values(
            *self._probabilities(self._probable), self._table.options[self._probable]
        )
        ids = [self._table.item_ids[item] for item in np.flatnonzero(self._probable)]
        return mean_estimate(values, ids, empty=_NONE_WITH_PROBABILITIES)

    def _of_known(
        self, measured: ChanceCorrected, empty: str = NONE_BY_BOTH
    ) -> Estimate | Undefined:
        known = bool((self._table.right[self._both] != NOTHING).any())
        return _estimate(measured, empty if known or not self._both.any() else NO_RIGHT_OPTION)

    def _without_probabilities(self, *names: str) -> Undefined | None:
        if not self._both.any():
            return Undefined(reason=NONE_BY_BOTH)
        for row, name in zip(self._rows, names, strict=True):
            if not self._table.has_probabilities[row].any():
                return Undefined(reason=f"{name} gives no probabilities")
        return None

    def _choices(self, items: NDArray[np.bool_]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        first, second = self._rows
        return self._table.choices[first, items], self._table.choices[second, items]

    def _probabilities(
        self, items: NDArray[np.bool_]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        first, second = self._rows
        return self._table.probabilities[first, items], self._table.probabilities[second, items]


def _estimate(measured: ChanceCorrected, empty: str) -> Estimate | Undefined:
    return chance_corrected_estimate(
        measured.observed,
        measured.expected,
        measured.influence,
        measured.made_up,
        empty=empty,
        no_room=_NO_ROOM,
    )
