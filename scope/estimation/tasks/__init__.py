"""From the answers to a task to every number of it: against the right answers and between models.

An answer that was not given counts as wrong against the right answer, since a model must not gain
by silence; between two models it leaves the item out, since there is nothing to compare, and the
estimate's ``n`` says so. A question that was not put to a model counts nowhere. Items whose right
answer is unknown are left out where one is needed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from scope.estimation.tasks.choices import (
    ChoiceTable,
    accuracy_measurements,
    category_measurements,
    choice_pair_measurements,
    without_values,
)
from scope.estimation.tasks.differences import gold_differences
from scope.estimation.tasks.shares import task_shares
from scope.estimation.tasks.texts import (
    Compare,
    Encode,
    TextTable,
    cosines_of,
    counted_pairs,
    distinct_texts,
    most_pairs,
    text_gold_measurements,
    text_pair_measurements,
)
from scope.records import Difference, Measurement, TaskAnswers, TaskShares

__all__ = [
    "Compare",
    "Encode",
    "TaskNumbers",
    "cosines_of",
    "counted_pairs",
    "distinct_texts",
    "measure_task",
    "most_pairs",
]


class TaskNumbers(NamedTuple):
    """Everything that is estimated of one task."""

    measurements: tuple[Measurement, ...]
    differences: tuple[Difference, ...]
    shares: tuple[TaskShares, ...]


def measure_task(
    answers: TaskAnswers,
    models: Sequence[str],
    *,
    normalize: bool,
    seed: int,
    by_meaning: Compare | None = None,
    by_words: Compare | None = None,
    cosines: bool = True,
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
    There are none with more than ten models, which are too many pairs for a significant one.

    The shares give the frequency of each model's answers, and whether it is degenerate.

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

    Raises
    ------
    ValueError
        If some items have options and others none, an answer's choice or probabilities do not fit
        the options, there is not one name a row, or a value of a pair lies out of its range.
    """
    if len(models) != len(answers.answers):
        raise ValueError(f"{answers.task}: {len(models)} names, {len(answers.answers)} rows")
    with_options = sum(bool(item.question.options) for item in answers.items)
    if 0 < with_options < len(answers.items):
        raise ValueError(
            f"{answers.task}: {with_options} of {len(answers.items)} items have options; "
            "a task has them everywhere or nowhere"
        )
    if with_options:
        return _choice_numbers(answers, ChoiceTable.of(answers), models, seed)
    table = TextTable.of(answers, by_meaning, by_words, cosines=cosines)
    return _text_numbers(answers, table, models, normalize, seed)


def _choice_numbers(
    answers: TaskAnswers, table: ChoiceTable, models: Sequence[str], seed: int
) -> TaskNumbers:
    against_gold = accuracy_measurements(table, models)
    return TaskNumbers(
        measurements=(
            *map(without_values, against_gold),
            *choice_pair_measurements(table, models),
            *category_measurements(table, models),
        ),
        differences=gold_differences(against_gold, models, seed),
        shares=task_shares(answers, models, against_gold),
    )


def _text_numbers(
    answers: TaskAnswers, table: TextTable, models: Sequence[str], normalize: bool, seed: int
) -> TaskNumbers:
    against_gold = text_gold_measurements(table, models, normalize=normalize)
    return TaskNumbers(
        measurements=(*against_gold, *text_pair_measurements(table, models, normalize=normalize)),
        differences=gold_differences(against_gold, models, seed, cosines=table.cosines),
        shares=task_shares(answers, models, against_gold),
    )
