"""The numbers of a task with options: each model's accuracy, and what each two models share.

`ChoiceTable` holds every model's choices and probabilities, one row a model, one column an item.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scope.estimation.pairs import measured
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
from scope.metrics.arrays import NO_ANSWER
from scope.records import GOLD, Estimate, Measurement, TaskAnswers, Undefined
from scope.statistics import chance_corrected_estimate, mean_estimate

NOTHING = NO_ANSWER
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
        """Gather the answers; each choice is one of the options."""
        items, models = answers.items, len(answers.answers)
        options = np.array([len(item.question.options) for item in items], dtype=np.intp)
        right = [NOTHING if item.right is None else item.right for item in items]
        table = cls(
            task=answers.task,
            item_ids=tuple(item.question.id for item in items),
            categories=tuple(item.category for item in items),
            options=options,
            right=np.array(right, dtype=np.intp),
            choices=np.full((models, len(items)), NOTHING, dtype=np.intp),
            asked=np.zeros((models, len(items)), dtype=np.bool_),
            probabilities=np.zeros((models, len(items), int(options.max(initial=0)))),
            has_probabilities=np.zeros((models, len(items)), dtype=np.bool_),
        )
        for model, row in enumerate(answers.answers):
            for item, answer in enumerate(row):
                table.asked[model, item] = answer.asked
                if answer.choice is not None:
                    shares = answer.probabilities
                    table.choices[model, item] = answer.choice
                    table.probabilities[model, item, : len(shares)] = shares
                    table.has_probabilities[model, item] = bool(shares)
        return table


MOST_CATEGORIES = 60
"""More parts than this are ids rather than categories."""

NO_RIGHT_OPTION = "no item has a known right option"
NONE_TO_BOTH = "no item was put to both models"
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
    """What each two models share, on the items that were put to both."""
    for (first, target), (second, against) in combinations(enumerate(models), 2):
        estimates = _pair_estimates(table, [first, second], models)
        for key, estimate in estimates.items():
            yield measured(METRICS[key], target, estimate, against=against, capability=table.task)
    # How far CAPA can reach: of a model that is unsure it is below 1 even with itself.
    for row, name in enumerate(models):
        if table.has_probabilities[row].any():
            itself = _pair_estimates(table, [row, row], models)["capa"]
            yield measured(METRICS["capa"], name, itself, against=name, capability=table.task)


def without_values(measurement: Measurement) -> Measurement:
    """The measurement alone: its values can be read off the answers."""
    return replace(measurement, example_ids=(), values=())


def _accuracy(table: ChoiceTable, row: int, model: str, items: NDArray[np.intp]) -> Measurement:
    values = (table.choices[row, items] == table.right[items]).astype(np.float64)
    ids = tuple(table.item_ids[item] for item in items)
    estimate = mean_estimate(values, ids, empty=NO_RIGHT_OPTION)
    metric = METRICS["accuracy"]
    return measured(metric, model, estimate, ids, values, against=GOLD, capability=table.task)


def _pair_estimates(
    table: ChoiceTable, rows: Sequence[int], models: Sequence[str]
) -> dict[str, Estimate | Undefined]:
    """Every metric of two models by key, on the items that were put to both.

    An answer that was not given counts with agreement 0 and divergence 1; one that was given
    without probabilities leaves its item out of CAPA and of the divergence.
    """
    of_first, of_second = table.asked[rows]
    both = of_first & of_second
    known = both & (table.right != NOTHING)
    of_first, of_second = table.has_probabilities[rows] | (table.choices[rows] == NOTHING)
    probable = both & of_first & of_second
    missing = Undefined(reason=NONE_TO_BOTH) if not both.any() else None
    for row in rows:
        if not missing and not table.has_probabilities[row].any():
            missing = Undefined(reason=f"{models[row]} gives no probabilities")

    def corrected(
        index: ChanceCorrected, items: NDArray[np.bool_], empty: str = NONE_TO_BOTH
    ) -> Estimate | Undefined:
        return chance_corrected_estimate(
            index.observed,
            index.expected,
            index.influence,
            index.made_up,
            named(items),
            empty=empty if known.any() or not both.any() else NO_RIGHT_OPTION,
            no_room=_NO_ROOM,
        )

    def named(items: NDArray[np.bool_]) -> list[str]:
        return [table.item_ids[item] for item in np.flatnonzero(items)]

    def mean(
        values: NDArray[np.float64], items: NDArray[np.bool_], empty: str
    ) -> Estimate | Undefined:
        return mean_estimate(values, named(items), empty=empty)

    def of_two(values: NDArray[Any], items: NDArray[np.bool_]) -> tuple[NDArray[Any], NDArray[Any]]:
        first, second = values[rows][:, items]
        return first, second

    right, options = table.right, table.options
    scored = known & probable
    divergences = js_divergence_values(*of_two(table.probabilities, probable), options[probable])
    chances = of_two(table.probabilities, scored)
    choices, of_known = of_two(table.choices, both), of_two(table.choices, known)
    return {
        "agreement": mean(agreement_values(*choices), both, NONE_TO_BOTH),
        "cohen_kappa": corrected(cohen_kappa(*choices), both),
        "capa": missing
        or corrected(
            capa(*chances, right[scored], options[scored]), scored, _NONE_WITH_PROBABILITIES
        ),
        "capa_discrete": corrected(capa_discrete(*of_known, right[known], options[known]), known),
        "error_consistency": corrected(error_consistency(*of_known, right[known]), known),
        "js_divergence": missing or mean(divergences, probable, _NONE_WITH_PROBABILITIES),
    }
