"""Each two models on one task: who is more like whom, and which questions both answer correctly.

A ~ B against A ~ C is tested by discrete CAPA where answers are choices, since the more accurate of
B and C agrees more with any good model, and by word F1 where they are texts. Whether A is more like
B than like the truth is tested by agreement, or word F1. Each item is a unit: of CAPA, its value
and its influence.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from itertools import combinations, permutations
from typing import TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from scope.estimation.tasks.choices import NOTHING, ChoiceTable
from scope.metrics import METRICS, agreement_values, capa_discrete, in_both
from scope.records import GOLD, Difference, Estimate, FourCells, Measurement, are_clustered
from scope.statistics import mean_estimate, paired_difference
from scope.statistics.paired import paired_p_values, sum_estimate
from scope.statistics.two_runs import detectable_difference, mcnemar_p_value, recovery

MOST_MODELS = 6
"""With more models there are too many triples: 60 tests of 6, 105 of 7."""

Model = TypeVar("Model", int, str)


def choice_likeness(table: ChoiceTable, models: Mapping[int, str], seed: int) -> list[Difference]:
    """The tests between models whose answers are choices; ``models`` are names by row."""
    known, asked = table.right != NOTHING, table.asked
    tests = []
    for first, second, third in _triples(list(models)):
        items = known & asked[first] & asked[second] & asked[third]
        right, options = table.right[items], table.options[items]
        both = [
            capa_discrete(table.choices[first, items], table.choices[other, items], right, options)
            for other in (second, third)
        ]
        with_second, with_third = (each.value for each in both)
        if with_second is not None and with_third is not None:
            moves = with_second + both[0].influence - with_third - both[1].influence
            names = _pair(models[first], models[second]), _pair(models[first], models[third])
            tests.append(_tested("capa_discrete", table.task, names, moves, seed))
    for first, second in permutations(models, 2):
        items = known & asked[first] & asked[second]
        chosen, others = table.choices[first, items], table.choices[second, items]
        moves = agreement_values(chosen, others) - (chosen == table.right[items])
        names = _pair(models[first], models[second]), _pair(models[first], GOLD)
        tests += [_tested("agreement", table.task, names, moves, seed)] if len(moves) else []
    return tests


def text_likeness(
    measured: Sequence[Measurement], task: str, models: Mapping[int, str], seed: int
) -> list[Difference]:
    """The tests between models whose answers are texts, from the values of word F1."""
    values: dict[tuple[str, str], dict[str, float]] = {}
    for row in measured:
        if row.metric == "word_f1" and row.against is not None:
            by_item = dict(zip(row.example_ids, row.values, strict=True))
            values[row.target, row.against] = values[row.against, row.target] = by_item
    compared = [((a, b), (a, c)) for a, b, c in _triples(list(models.values()))]
    compared += [((a, b), (a, GOLD)) for a, b in permutations(models.values(), 2)]
    tests = []
    for pair, other in compared:
        first, second, shared = in_both(values[pair], values[other])
        moves = np.subtract(first, second)
        names = _pair(*pair), _pair(*other)
        tests += [_tested("word_f1", task, names, moves, seed)] if shared else []
    return tests


def _triples(models: Sequence[Model]) -> Iterator[tuple[Model, Model, Model]]:
    """Each model with each two others."""
    for first in models:
        for second, third in combinations([model for model in models if model != first], 2):
            yield first, second, third


def _pair(first: str, second: str) -> str:
    return f"{first} ~ {'gold' if second == GOLD else second}"


def _tested(
    metric: str, task: str, names: tuple[str, str], moves: NDArray[np.float64], seed: int
) -> Difference:
    """The mean over the items, tested by random signs."""
    p_values = paired_p_values(moves, np.random.default_rng(seed))
    return Difference(
        metric=str(METRICS[metric]),
        capability=task,
        first=names[0],
        second=names[1],
        estimate=sum_estimate(moves / len(moves)),
        p_value=min(1.0, 2 * min(p_values)),
    )


RIGHT = ("accuracy", "exact_match")
"""The metrics whose values say whether an answer is right: one a task."""


def four_cells(
    against_gold: Sequence[Measurement], differing: Callable[[str, str], Collection[str]]
) -> Iterator[FourCells]:
    """The cells of each two models, from the values of each against the right answers.

    A model with scores between 0 and 1 has none: its answers are neither right nor wrong.
    ``differing`` gives the items to which two models give different answers, by their names.
    """
    measured = [
        row for row in against_gold if row.metric in RIGHT and {0.0, 1.0}.issuperset(row.values)
    ]
    for first, second in combinations(measured, 2):
        of_first = dict(zip(first.example_ids, first.values, strict=True))
        of_second = dict(zip(second.example_ids, second.values, strict=True))
        *both, ids = in_both(of_first, of_second)
        before, after = map(np.array, both)
        if ids:
            names = first.target, second.target
            differ = differing(*names)
            apart = np.array([item in differ for item in ids])
            flips = _share(abs(before - after), ids)
            alone = not are_clustered(ids)
            both, lost, gained = before * after, before * (1 - after), (1 - before) * after
            n_both, n_lost, n_gained = (round(float(part.sum())) for part in (both, lost, gained))
            neither = (1 - before) * (1 - after)
            yield FourCells(
                task=first.capability or "",
                first=first.target,
                second=second.target,
                both=_share(both, ids),
                only_first=_share(lost, ids),
                only_second=_share(gained, ids),
                neither=_share(neither, ids),
                difference=cast(Estimate, paired_difference(before, after, ids)),
                flips=flips,
                other_wrong=_share(neither * apart, ids),
                # What the counts show of a replacement of the first model by the second; counts
                # know of no clusters.
                recovery=recovery(n_both, n_lost, n_gained, len(ids)) if alone else None,
                p_value=mcnemar_p_value(n_gained, n_lost) if alone else None,
                detectable=detectable_difference(flips) if alone else None,
            )


def _share(values: NDArray[np.float64], ids: Sequence[str]) -> Estimate:
    return cast(Estimate, mean_estimate(values, ids))
