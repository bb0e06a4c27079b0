"""From the answers to a task to every number of it: against the right answers and between models.

An answer that was not given is wrong, and equals no other answer, not even another one that was not
given: a model must not gain by silence. A question that was not put to a model counts nowhere.
Items whose right answer is unknown are left out where one is needed.

Answers in words are compared by their words, and by their meaning: any function of two texts, such
as a cosine.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import partial
from itertools import combinations
from math import comb
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from scope.estimation.answer_shares import task_shares
from scope.estimation.audits import corrected, difference
from scope.estimation.choices import (
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
from scope.estimation.pairs import measured
from scope.metrics.agreement import (
    agreement_values,
    best_against_gold,
    character_f1_values,
    exact_match_values,
    text_cosine_values,
    word_f1_values,
)
from scope.metrics.catalog import METRICS, Metric
from scope.metrics.invariance import in_both
from scope.records import (
    GOLD,
    MOST_WITH_CELLS,
    Answer,
    Difference,
    FourCells,
    Measurement,
    TaskAnswers,
    TaskShares,
    Undefined,
    are_clustered,
)
from scope.statistics.intervals import mean_estimate


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
    A ~ gold (`scope.estimation.choices`), Holm-corrected by themselves.

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
        differences=(*gold_differences(of_gold, models, seed, cosines=cosines), *corrected(alike)),
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


Values = NDArray[np.float64]

Compare = Callable[[Sequence[str], Sequence[str]], Values]
"""Two lists of texts in, one value a pair out."""

Encode = Callable[[Sequence[str]], NDArray[np.float64]]
"""Texts in, one row of length 1 a text out."""


def lowest(key: str, cosines: bool) -> float:
    """The least value that a metric can have; that of SemScore depends on what measures it.

    Examples
    --------
    >>> lowest("sem_score", True), lowest("sem_score", False)
    (-1.0, 0.0)
    """
    return 0.0 if key == "sem_score" and not cosines else METRICS[key].low


def distinct_texts(answers: TaskAnswers) -> list[str]:
    """The distinct non-empty texts that may be compared: answers and right answers.

    They are sorted, so that their order does not depend on the hash seed.

    Examples
    --------
    >>> from scope.records import Answer, Item, Question
    >>> item = Item(question=Question(id="0", text="Where?"), gold=("Rome", ""))
    >>> distinct_texts(TaskAnswers(task="qa", items=(item,), answers=((Answer(text="in Rome"),),)))
    ['Rome', 'in Rome']
    """
    texts = {answer.text for row in answers.answers for answer in row if answer.text is not None}
    texts.update(text for item in answers.items for text in item.gold)
    return sorted(text for text in texts if text.strip())


def most_pairs(answers: TaskAnswers) -> int:
    """How many pairs of texts are compared if every model answers everything.

    Each answer with each of its right ones, and each two answers to an item.

    Examples
    --------
    >>> from scope.records import Answer, Item, Question
    >>> item = Item(question=Question(id="0", text="Where?"), gold=("Rome", "in Rome"))
    >>> row = (Answer(text="Paris"),)
    >>> most_pairs(TaskAnswers(task="qa", items=(item,), answers=(row, row, row)))
    9
    """
    models = len(answers.answers)
    with_gold = models * sum(len(item.gold) for item in answers.items)
    return with_gold + comb(models, 2) * len(answers.items)


def counted_pairs(compare: Compare, advance: Callable[[int], None]) -> Compare:
    """The same function, which tells how many pairs it has compared.

    Examples
    --------
    >>> told = []
    >>> counted_pairs(lambda ones, others: np.zeros(len(ones)), told.append)(["a", "b"], ["c", "d"])
    array([0., 0.])
    >>> told
    [2]
    """

    def compare_and_tell(first: Sequence[str], second: Sequence[str]) -> Values:
        values = compare(first, second)
        advance(len(values))
        return values

    return compare_and_tell


def cosines_of(texts: Sequence[str], encode: Encode) -> Compare:
    """Compares texts by the cosine of their vectors; each is encoded once, now.

    Parameters
    ----------
    texts
        As `distinct_texts` gives them; where there is none, the encoder is not asked.

    Raises
    ------
    ValueError
        If the encoder does not give one row a text.

    Examples
    --------
    >>> compare = cosines_of(["king", "queen"], lambda texts: np.array([[1, 0], [0.6, 0.8]]))
    >>> compare(["king", "king"], ["queen", ""]).tolist()
    [0.6, 0.0]
    """
    if not texts:
        return partial(text_cosine_values, vectors={})
    rows = np.asarray(encode(texts), dtype=np.float64)
    if rows.ndim != 2 or len(rows) != len(texts):
        raise ValueError(f"{len(texts)} texts were encoded as an array of shape {rows.shape}")
    return partial(text_cosine_values, vectors=dict(zip(texts, rows, strict=True)))


class TextTable(NamedTuple):
    """The answers to a task without options, and how they are compared.

    ``normalize`` says whether words and characters are compared after SQuAD's normalization.
    ``by_meaning`` gives a pair of texts its SemScore, ``by_words`` its word cosine; either is None
    where it is not measured. ``cosines`` says whether SemScores are cosines, in -1..1; others lie
    in 0..1. ``scorers`` are metrics of the task's own.
    """

    answers: TaskAnswers
    normalize: bool
    by_meaning: Compare | None
    by_words: Compare | None
    cosines: bool
    scorers: tuple[Metric, ...] = ()

    def comparisons(self) -> dict[str, Compare]:
        """The metrics that compare texts, by key; others follow from their values."""
        comparisons: dict[str, Compare] = {
            "word_f1": partial(word_f1_values, normalize=self.normalize),
            "character_f1": partial(character_f1_values, normalize=self.normalize),
            "exact_match": partial(exact_match_values, normalize=self.normalize),
        }
        scored = ((scorer.key, scorer.on_texts) for scorer in self.scorers)
        further = (("sem_score", self.by_meaning), ("word_cosine", self.by_words), *scored)
        comparisons.update((key, compare) for key, compare in further if compare is not None)
        return comparisons


NO_GOLD = "no item has a known right answer"
NONE_TO_BOTH = "no item was put to both models"


def text_gold_measurements(table: TextTable, models: Sequence[str]) -> list[Measurement]:
    """Each model against the right answers; an answer not given has the value 0."""
    measurements: list[Measurement] = []
    for name, row in zip(models, table.answers.answers, strict=True):
        known = [
            (item, answer.text)
            for item, answer in zip(table.answers.items, row, strict=True)
            if item.gold and answer.asked
        ]
        gold = [item.gold for item, _ in known]
        ids = tuple(item.question.id for item, _ in known)
        answered = np.array([text is not None for _, text in known], dtype=np.bool_)
        texts = [text or "" for _, text in known]
        values = {
            key: np.where(answered, best_against_gold(compare, texts, gold), 0.0)
            for key, compare in table.comparisons().items()
        }
        measurements += _measurements(table, name, GOLD, ids, values, NO_GOLD)
    answers = table.answers.answers
    pairs = (pair for row in answers for pair in zip(table.answers.items, row, strict=True))
    scored = {item.question.id for item, answer in pairs if answer.score is not None}
    if not scored:
        return measurements
    # Scores of the tool decide what is right, and no comparison of words.
    by_words = {row.target: row for row in measurements if row.metric == "exact_match"}
    unscored = (row for row in measurements if row.metric != "exact_match")
    rows = zip(models, answers, strict=True)
    return [*unscored, *(_scores(table, *pair, scored, by_words[pair[0]]) for pair in rows)]


def _scores(
    table: TextTable, name: str, row: Sequence[Answer], scored: set[str], by_words: Measurement
) -> Measurement:
    """A model's scores; of answers without one whether their words are right."""
    values = dict(zip(by_words.example_ids, by_words.values, strict=True))
    for item, answer in zip(table.answers.items, row, strict=True):
        is_missing = answer.asked and answer.text is None and item.question.id in scored
        if is_missing or answer.score is not None:
            values[item.question.id] = answer.score or 0.0
    ids, scores = tuple(values), np.array([*values.values()], dtype=np.float64)
    estimate = mean_estimate(scores, ids, empty=NO_GOLD)
    metric, task = METRICS["accuracy"], table.answers.task
    return measured(metric, name, estimate, ids, scores, against=GOLD, capability=task)


def text_pair_measurements(table: TextTable, models: Sequence[str]) -> Iterator[Measurement]:
    """Each two models, on the items that were put to both; an answer not given has the value 0."""
    rows = zip(models, table.answers.answers, strict=True)
    for (target, first), (against, second) in combinations(rows, 2):
        both = [
            (item.question.id, answer.text, other.text)
            for item, answer, other in zip(table.answers.items, first, second, strict=True)
            if answer.asked and other.asked
        ]
        ids = tuple(item_id for item_id, _, _ in both)
        texts = [text or "" for _, text, _ in both], [other or "" for _, _, other in both]
        answered = np.array([None not in pair for _, *pair in both], dtype=np.bool_)
        values = {
            key: np.where(answered, compare(*texts), 0.0)
            for key, compare in table.comparisons().items()
        }
        yield from _measurements(table, target, against, ids, values, NONE_TO_BOTH)


def _measurements(
    table: TextTable,
    target: str,
    against: str,
    ids: tuple[str, ...],
    values: Mapping[str, Values],
    empty: str,
) -> Iterator[Measurement]:
    by_key = {**values, **_counted(values, table.cosines)}
    scorers = {metric.key: metric for metric in table.scorers}
    for key, metric in {**METRICS, **scorers}.items():
        if key not in by_key:
            continue
        low = metric.low if key in scorers else lowest(key, table.cosines)
        estimate = mean_estimate(by_key[key], ids, low=low, high=metric.high, empty=empty)
        task = table.answers.task
        yield measured(metric, target, estimate, ids, by_key[key], against=against, capability=task)


def _counted(values: Mapping[str, Values], cosines: bool) -> dict[str, Values]:
    """Metrics that count values of other metrics: F1 of 0, and SemScores from the threshold on.

    The threshold was made for cosines: what a probe gives 0.9 may be anything but the same.
    """
    counted = {"share_f1_zero": (values["word_f1"] == 0).astype(np.float64)}
    if cosines and "sem_score" in values:
        threshold = METRICS["sem_score_at_least"].parameters["threshold"]
        counted["sem_score_at_least"] = (values["sem_score"] >= threshold).astype(np.float64)
    return counted
