"""The numbers of a task answered in words: each model against gold, and each two models."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import combinations

import numpy as np

from scope.estimation.tasks.meaning import Compare, Values, lowest
from scope.estimation.tasks.text_table import TextTable
from scope.metrics import (
    METRICS,
    best_against_gold,
    character_f1_values,
    exact_match_values,
    word_f1_values,
)
from scope.records import GOLD, Measurement
from scope.statistics import mean_estimate

NO_GOLD = "no item has a known right answer"
NONE_BY_BOTH = "the two models answered no item in common"


def text_gold_measurements(
    table: TextTable, models: Sequence[str], *, normalize: bool
) -> list[Measurement]:
    """Each model against the right answers; an answer not given has the value 0."""
    measured: list[Measurement] = []
    for name, row, asked in zip(models, table.texts, table.asked, strict=True):
        known = [index for index, item in enumerate(table.items) if item.gold and asked[index]]
        gold = [table.items[index].gold for index in known]
        ids = tuple(table.items[index].question.id for index in known)
        given = np.array([row[index] is not None for index in known], dtype=np.bool_)
        answers = [row[index] or "" for index in known]
        values = {
            key: np.where(given, best_against_gold(compare, answers, gold), 0.0)
            for key, compare in _comparisons(table, normalize).items()
        }
        measured += _measurements(table, name, GOLD, ids, values, NO_GOLD)
    return measured


def text_pair_measurements(
    table: TextTable, models: Sequence[str], *, normalize: bool
) -> Iterator[Measurement]:
    """Each two models, on the items that both answered."""
    rows = zip(models, table.texts, strict=True)
    for (target, first), (against, second) in combinations(rows, 2):
        both = [
            (item.question.id, one, other)
            for item, one, other in zip(table.items, first, second, strict=True)
            if one is not None and other is not None
        ]
        ids = tuple(item_id for item_id, _, _ in both)
        texts = [one for _, one, _ in both], [other for _, _, other in both]
        values = {key: compare(*texts) for key, compare in _comparisons(table, normalize).items()}
        yield from _measurements(table, target, against, ids, values, NONE_BY_BOTH)


def _comparisons(table: TextTable, normalize: bool) -> dict[str, Compare]:
    """The metrics that compare texts, by key; others follow from their values."""
    comparisons: dict[str, Compare] = {
        "word_f1": partial(word_f1_values, normalize=normalize),
        "character_f1": partial(character_f1_values, normalize=normalize),
        "exact_match": partial(exact_match_values, normalize=normalize),
    }
    for key, compare in (("sem_score", table.by_meaning), ("word_cosine", table.by_words)):
        if compare is not None:
            comparisons[key] = compare
    return comparisons


def _measurements(
    table: TextTable,
    target: str,
    against: str,
    ids: tuple[str, ...],
    values: Mapping[str, Values],
    empty: str,
) -> Iterator[Measurement]:
    found = {**values, **_counted(values, cosines=table.cosines)}
    for key in (key for key in METRICS if key in found):
        metric = METRICS[key]
        low = lowest(key, cosines=table.cosines)
        estimate = mean_estimate(found[key], ids, low=low, high=metric.high, empty=empty)
        yield Measurement(
            metric=str(metric),
            target=target,
            against=against,
            capability=table.task,
            estimate=estimate,
            example_ids=ids,
            values=tuple(found[key].tolist()),
        )


def _counted(values: Mapping[str, Values], *, cosines: bool) -> dict[str, Values]:
    """What is a count of other values: F1 of 0, and SemScores from the threshold on.

    The threshold was made for cosines: what a probe gives 0.9 may be anything but the same.
    """
    counted = {"zero_f1": (values["word_f1"] == 0).astype(np.float64)}
    if cosines and "sem_score" in values:
        threshold = METRICS["sem_score_at_least"].parameters["threshold"]
        counted["sem_score_at_least"] = (values["sem_score"] >= threshold).astype(np.float64)
    return counted
