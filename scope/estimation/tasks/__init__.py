"""From the answers to a task to every number of it: against the right answers and between models.

An answer that was not given is wrong, and equals no other answer, not even another one that was not
given: a model must not gain by silence. A question that was not put to a model counts nowhere.
Items whose right answer is unknown are left out where one is needed.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from itertools import combinations
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from scope.estimation.answer_shares import task_shares
from scope.estimation.measurements import corrected, difference
from scope.estimation.tasks.choices import (
    MOST_MODELS as MOST_ALIKE,
    RIGHT,
    ChoiceTable,
    accuracy_measurements,
    category_measurements,
    choice_likeness,
    choice_pair_measurements,
    four_cells,
    text_likeness,
    without_values,
)
from scope.estimation.tasks.texts import (
    Compare as Compare,
    Encode as Encode,
    TextTable,
    cosines_of as cosines_of,
    counted_pairs as counted_pairs,
    distinct_texts as distinct_texts,
    lowest,
    most_pairs as most_pairs,
    text_gold_measurements,
    text_pair_measurements,
)
from scope.metrics.catalog import METRICS, Metric
from scope.metrics.consistency import agreement_values
from scope.metrics.invariance import in_both
from scope.records import (
    MOST_WITH_CELLS,
    Difference,
    FourCells,
    Measurement,
    TaskAnswers,
    TaskShares,
    Undefined,
    are_clustered,
)


class TaskNumbers(NamedTuple):
    """Everything that is estimated of one task.

    ``scores`` are those of each model, by item: 1 for a right answer, 0 for a wrong one.
    """

    measurements: tuple[Measurement, ...]
    differences: tuple[Difference, ...]
    shares: tuple[TaskShares, ...]
    cells: tuple[FourCells, ...] = ()
    scores: Mapping[str, Mapping[str, float]] = MappingProxyType({})


def measure_task(
    answers: TaskAnswers,
    models: Sequence[str],
    *,
    normalize: bool,
    seed: int,
    by_meaning: Compare | None = None,
    by_words: Compare | None = None,
    cosines: bool = True,
    scorers: Sequence[Metric] = (),
) -> TaskNumbers:
    """Estimate every metric of a task: each model against ``GOLD``, then each two models.

    Items with options are choices: accuracy, over all items and by category where there are 2 to
    60 of them, and between models agreement, Cohen's κ, CAPA, discrete CAPA, error consistency and
    Jensen-Shannon divergence; their values can be read off the answers and are not kept. Items
    without options are answered in words: word and character F1, exact match, zero F1, and as far
    as there is something to measure them by SemScore, its share from 0.9 on where it is a cosine,
    and the word cosine; of several right answers the one that fits best counts.

    The differences are those of accuracy, or of word F1 and SemScore, against the right answers,
    first model minus second on the same items, with p-values that are Holm-corrected together.
    There are none with more than ten models, which are too many pairs for a significant one. Then,
    with up to six models that are not degenerate, those of likeness: A ~ B minus A ~ C and minus
    A ~ gold (`scope.estimation.tasks.choices`), Holm-corrected by themselves.

    The shares give the frequency of each model's answers, and whether it is degenerate. The cells
    say for each two models, of at most ten, how often both are right, one alone, or neither, and
    what that shows of the second in place of the first.

    Parameters
    ----------
    answers
        The items, and one row of answers a model.
    models
        The models' names, in the order of the rows; in a pair the earlier one is the target.
    normalize
        Whether words and characters are compared after SQuAD's normalization.
    seed
        Of the permutations behind the p-values.
    by_meaning, by_words
        The SemScore and the word cosine of pairs of texts, in -1..1; None where they are not
        measured. See `distinct_texts` and `cosines_of`.
    cosines
        Whether SemScores are cosines, for which the threshold of 0.9 was made; if not, they lie
        in 0..1.
    scorers
        Metrics of the task's own, with ``on_texts``.

    Raises
    ------
    ValueError
        If some items have options and others none, or a value of a pair lies out of its range.
    """
    with_options = sum(bool(item.question.options) for item in answers.items)
    if 0 < with_options < len(answers.items):
        raise ValueError(
            f"{answers.task}: {with_options} of {len(answers.items)} items have options; "
            "a task has them everywhere or nowhere"
        )
    likeness: Callable[[Mapping[int, str]], list[Difference]]
    if with_options:
        choices = ChoiceTable.of(answers)
        of_gold = accuracy_measurements(choices, models)
        measurements = (
            *map(without_values, of_gold),
            *choice_pair_measurements(choices, models),
            *category_measurements(choices, models),
        )
        differing = partial(_other_choices, choices, models)
        likeness = partial(choice_likeness, choices, seed=seed)
    else:
        texts = TextTable(answers, normalize, by_meaning, by_words, cosines, tuple(scorers))
        of_gold = text_gold_measurements(texts, models)
        measurements = (*of_gold, *text_pair_measurements(texts, models))
        differing = partial(_other_texts, measurements)
        likeness = partial(text_likeness, measurements, answers.task, seed=seed)
    shares = task_shares(answers, models, of_gold)
    fit = {row: share.model for row, share in enumerate(shares) if share.degenerate is None}
    # These tests take each item by itself.
    alone = not are_clustered(item.question.id for item in answers.items)
    alike = likeness(fit) if len(fit) <= MOST_ALIKE and alone else []
    few = len(models) <= MOST_WITH_CELLS
    return TaskNumbers(
        measurements=measurements,
        differences=(
            *gold_differences(of_gold, models, seed, cosines=cosines),
            *corrected(alike),
        ),
        shares=shares,
        cells=tuple(four_cells(of_gold, differing)) if few else (),
        scores={row.target: row.by_text() for row in of_gold if row.metric in RIGHT},
    )


def _other_choices(
    table: ChoiceTable, models: Sequence[str], first: str, second: str
) -> Collection[str]:
    """The items on which the models do not choose the same option."""
    of_first, of_second = (table.choices[models.index(name)] for name in (first, second))
    same = agreement_values(of_first, of_second)
    return {table.item_ids[item] for item in np.flatnonzero(same == 0)}


def _other_texts(measured: Sequence[Measurement], first: str, second: str) -> Collection[str]:
    """The items that the models do not answer in the same words."""
    return {
        item
        for row in measured
        if row.metric == "exact_match" and {row.target, row.against} == {first, second}
        for item, same in zip(row.example_ids, row.values, strict=True)
        if same < 1
    }


COMPARED = ("accuracy", "word_f1", "sem_score")
"""The metrics in which models are compared, if a task has them."""


def gold_differences(
    measurements: Sequence[Measurement], models: Sequence[str], seed: int, *, cosines: bool = True
) -> tuple[Difference, ...]:
    """First model minus second against the right answers, Holm-corrected together.

    ``measurements`` are those of each model against gold, with their values; ``cosines`` is
    true if SemScores are cosines, in -1..1, and not in 0..1. There is no difference with more than
    ten models.
    """
    if len(models) > MOST_WITH_CELLS:
        return ()
    by_key = {(measurement.target, measurement.metric): measurement for measurement in measurements}
    present = {measurement.metric for measurement in measurements}
    differences = [
        _difference(
            by_key[first, key],
            by_key[second, key],
            seed,
            width=METRICS[key].high - lowest(key, cosines),
        )
        for key in COMPARED
        if key in present
        for first, second in combinations(models, 2)
    ]
    return corrected(differences)


def _difference(first: Measurement, second: Measurement, seed: int, *, width: float) -> Difference:
    both = in_both(first.by_text(), second.by_text())
    undefined = (row.estimate for row in (first, second) if isinstance(row.estimate, Undefined))
    reason = next((estimate.reason for estimate in undefined), "no question was put to both models")
    return difference(first, second, both, seed, empty=reason, width=width)
