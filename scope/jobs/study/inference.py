"""Measures of every two models, with intervals and tests.

Measures of pairs are matrices. Sums over questions are products of matrices: 2,016 pairs of 64
models on 1,273 questions take milliseconds; a loop over pairs takes minutes. Counts of the
questions resample them. Models are the units of intervals and tests: pairs that share a model are
not independent.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import rankdata

from scope.errors import DataError
from scope.estimation.answer_shares import SILENT
from scope.estimation.choices import NOTHING, ChoiceTable
from scope.jobs.study.requests import StudyNumber
from scope.progress import watched
from scope.records import Estimate, Undefined
from scope.statistics.between_models import FEWEST_MODELS
from scope.statistics.intervals import LEVEL, jackknife_half

DRAWS, PERMUTATIONS = 1000, 9999
FEWEST_JUDGED = 6
"""Least number of judged models for a partial correlation."""

ALL, ACROSS = "all pairs", "pairs of different families"

_CONSTANT = 1e-9

Vector = NDArray[np.float64]
Pairs = Mapping[str, Vector]
"""Measures by name, one value for each pair of different models."""

Statistics = Callable[[Pairs], Mapping[tuple[str, str], tuple[float, int]]]
"""Computes statistics by name and subset, NaN if undefined, each with its number of pairs."""


def residuals(values: ArrayLike, *controls: ArrayLike) -> Vector:
    """Return the residuals of a linear regression of the values on the controls, by column.

    Examples
    --------
    >>> residuals([1, 2, 6], [0, 1, 2]).round(6).tolist()
    [0.5, -1.0, 0.5]
    """
    target = np.asarray(values, dtype=np.float64)
    design = np.column_stack([np.ones(len(target)), *controls])
    return np.asarray(target - design @ np.linalg.lstsq(design, target, rcond=None)[0])


def correlation(first: ArrayLike, second: ArrayLike, *controls: ArrayLike) -> float:
    """Return Pearson's correlation, partial given the controls: −1 to 1.

    With several columns, such as judges, their mean. NaN if a column is constant given the
    controls, or has fewer than three values more than the number of controls.

    Examples
    --------
    >>> round(correlation([1, 2, 3, 5], [2, 1, 4, 4]), 3)
    0.748
    >>> round(correlation([1, 2, 3, 5], [2, 1, 4, 4], [1, 0, 1, 2]), 3)
    0.404
    """
    if len(np.asarray(first)) < 3 + len(controls):
        return math.nan
    left, right = residuals(first, *controls), residuals(second, *controls)
    size = np.linalg.norm(left, axis=0) * np.linalg.norm(right, axis=0)
    scale = np.linalg.norm(first, axis=0) * np.linalg.norm(second, axis=0)
    constant = size <= _CONSTANT * scale
    return math.nan if constant.any() else float(np.mean((left * right).sum(axis=0) / size))


def spearman(first: ArrayLike, second: ArrayLike, *controls: ArrayLike) -> float:
    """Return Spearman's rank correlation, partial given the ranks of the controls: −1 to 1.

    Examples
    --------
    >>> round(spearman([1, 2, 3, 5], [1, 4, 9, 25]), 6)
    1.0
    """
    return correlation(*(rankdata(values) for values in (first, second, *controls)))


def slope(x: Vector, y: Vector) -> float:
    """Return the change of y for 1 more of x by least squares; NaN where x is constant.

    Examples
    --------
    >>> slope(np.array([0.0, 1, 2]), np.array([1.0, 2, 6]))
    2.5
    """
    centred = x - x.mean() if len(x) else x
    room = float(centred @ centred)
    return float(centred @ y) / room if len(x) > 2 and room > _CONSTANT else math.nan


def pairs_of(measures: Mapping[str, Square], models: NDArray[np.intp]) -> dict[str, Vector]:
    """Every pair of different models in a sample; repeated models have repeated pairs."""
    first, second = (models[places] for places in np.triu_indices(len(models), 1))
    kept = first != second
    return {name: square[first[kept], second[kept]] for name, square in measures.items()}


def pair_numbers(
    table: PairTable, related: Square, statistics: Statistics, tested: Sequence[str], seed: int
) -> list[StudyNumber]:
    """Return statistics over pairs with a two-way bootstrap, over models and over questions.

    Each of 1,000 draws takes models and questions with replacement; pairs of a model with itself
    are left out. The interval holds the middle 95 %. ``n`` counts pairs with the measure.
    ``related`` is 1 for two models of one family; statistics read it beside the measures of
    `PairTable`. The first number has the p-value of the rank correlation of CAPA and the first
    measure ``tested``, given the others.
    """
    models, questions = table.asked.shape
    measures = table.measures()
    p_value = mantel_p_value(measures["capa"], [measures[name] for name in tested], seed)
    generator = np.random.default_rng([seed, 0])
    pairs = pairs_of(measures | {"related": related}, np.arange(models))
    draws: list[list[float]] = []
    number = DRAWS if models >= FEWEST_MODELS else 0
    for _ in watched(range(number), "draws of models and questions", number, lambda _: 1):
        chosen = np.asarray(generator.integers(models, size=models), dtype=np.intp)
        counts = np.bincount(generator.integers(questions, size=questions), minlength=questions)
        drawn = pairs_of(table.measures(counts) | {"related": related}, chosen)
        draws.append([value for value, _ in statistics(drawn).values()])
    method = f"bootstrap over {models} models and {questions:,} questions"
    numbers = []
    for place, ((name, subset), (value, n)) in enumerate(statistics(pairs).items()):
        finite = [row[place] for row in draws if math.isfinite(row[place])]
        # The middle 95 % of few draws is not informative.
        enough = len(finite) >= LEVEL * len(draws) and finite
        ends = np.quantile(enough or math.nan, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
        estimate = _estimate(value, ends, n, method)
        tested_here = not place and isinstance(estimate, Estimate)
        numbers.append(StudyNumber(name, subset, estimate, p_value if tested_here else None))
    return numbers


def _estimate(value: float, ends: ArrayLike, n: int, method: str) -> Estimate | Undefined:
    low, high = np.asarray(ends, dtype=np.float64)
    if not np.isfinite([value, low, high]).all():
        return Undefined(reason="too few models, or their values do not differ", n=n)
    low, high = min(float(low), value), max(float(high), value)
    return Estimate(value=value, low=low, high=high, n=n, level=LEVEL, method=method)


def mantel_p_value(y: Square, tested: Sequence[Square], seed: int) -> float | None:
    """Return the permutation p-value of a rank correlation of measures of pairs.

    The correlation is that of ``y`` and the first measure ``tested``, partial given the others.
    Models are permuted, rows and columns together, in the residuals of the first given the others:
    p = (k + 1) / (9,999 + 1), two-sided (Mantel 1967). Pairs without ``y`` are left out. None
    without a correlation.

    Examples
    --------
    Few of the 24 orders of four models give such a correlation:

    >>> places = np.array([0.0, 1, 2, 4])
    >>> apart = np.abs(places[:, None] - places)
    >>> mantel_p_value(apart, [apart], seed=0) < 0.1
    True
    """
    rows, columns = np.nonzero(np.triu(np.isfinite(y), 1))
    if not len(rows):
        return None
    fixed, ranks, *controls = (rankdata(square[rows, columns]) for square in (y, *tested))
    left = np.zeros(y.shape)
    left[rows, columns] = left[columns, rows] = residuals(ranks, *controls)
    generator = np.random.default_rng([seed, 1])
    moved = (left[order[rows], order[columns]] for order in permutations(len(y), generator))
    drawn = (correlation(values, fixed, *controls) for values in moved)
    return two_sided_p(correlation(ranks, fixed, *controls), drawn)


def permutations(count: int, generator: np.random.Generator) -> Iterator[NDArray[np.intp]]:
    """Draw random orders of the models, and show the progress."""
    orders = (generator.permutation(count) for _ in range(PERMUTATIONS))
    return watched(orders, "permutations of models", PERMUTATIONS, lambda _: 1)


def two_sided_p(observed: float, drawn: Iterator[float]) -> float | None:
    """Return (k + 1) / (N + 1), where k of N drawn values are as far from 0; None without one."""
    if not math.isfinite(observed):
        return None
    return (1 + sum(abs(x) >= abs(observed) - _CONSTANT for x in drawn)) / (PERMUTATIONS + 1)


def judge_number(
    judge: str, scores: ArrayLike, similarity: ArrayLike, accuracy: ArrayLike, seed: int
) -> StudyNumber:
    """Return the partial `correlation` of scores and similarity, given accuracy.

    ``scores`` and ``similarity`` have shape (models, judges). The interval is a jackknife over
    models, each left out for all judges at once; Student's t, symmetric in ``atanh``. For the test
    the residuals of the scores, given accuracy, are permuted over models in one order for all
    judges: p = (k + 1) / (9,999 + 1), two-sided (Freedman and Lane 1983). ``n`` counts models.
    """
    name = "partial r of score and CAPA"
    arrays = [np.asarray(values, dtype=np.float64) for values in (scores, similarity, accuracy)]
    count = len(arrays[2])
    if count < FEWEST_JUDGED or not arrays[1].size or math.isnan(value := correlation(*arrays)):
        known = f"{count} judged models with stored answers, {FEWEST_JUDGED} unlike are needed"
        reason = known if arrays[1].shape[-1] else "no stored answers of the judge"
        return StudyNumber(name, judge, Undefined(reason=reason, n=count))
    without = [correlation(*(np.delete(x, place, 0) for x in arrays)) for place in range(count)]
    with np.errstate(divide="ignore", invalid="ignore"):
        half = jackknife_half(np.arctanh(without))
        ends = np.tanh(np.arctanh(value) + np.array([-half, half]))
    generator = np.random.default_rng([seed, 2])
    left = residuals(arrays[0], arrays[2])
    drawn = (correlation(left[order], *arrays[1:]) for order in permutations(count, generator))
    p_value = two_sided_p(value, drawn)
    estimate = _estimate(value, ends, count, f"jackknife over {count} models")
    return StudyNumber(name, judge, estimate, p_value)


Table = NDArray[np.float64]
"""Shape (models, questions)."""

Square = NDArray[np.float64]
"""Shape (models, models)."""

_LEAST = 1e-6
_NO_ROOM = 1e-9


class PairTable:
    """The answers of all models to the questions whose right option is known.

    Probabilities are used only if every model gives them with most of its answers (three in four);
    otherwise each choice counts as 1. A missing answer is wrong and shares no option with another
    answer; it is left out of the divergence alone, which has no greatest value.

    Raises
    ------
    DataError
        When no question has a known right option.
    """

    def __init__(self, table: ChoiceTable) -> None:
        known = np.flatnonzero((table.right != NOTHING) & (table.options > 1))
        if not len(known):
            raise DataError(
                f"no right answer in {len(table.right)} questions",
                expected="questions with their right option",
                fix="add the column `answer` to the data",
            )
        choices, right = table.choices[:, known], table.right[known]
        probable, options = table.has_probabilities[:, known], table.probabilities.shape[2]
        answered = (choices != NOTHING).sum(axis=1)
        self.probabilistic = bool((probable.sum(axis=1) > (1 - SILENT) * answered).all())
        one_hot = (choices[:, :, None] == np.arange(options)).astype(float)
        self._shares = table.probabilities[:, known] if self.probabilistic else one_hot
        self._answered = (probable if self.probabilistic else choices != NOTHING).astype(float)
        self.asked = table.asked[:, known].astype(float)
        # With probabilities, an answer without them says nothing; none at all is wrong.
        silent = table.asked[:, known] & (choices == NOTHING)
        self._counted = np.maximum(self._answered, silent)
        self.correct = (choices == right).astype(float)
        self._right = self._shares[:, np.arange(len(known)), right]
        self._chance = 1 / (table.options[known] - 1)
        # Cached: logarithms would take half the time of a bootstrap draw.
        self._logs = np.log(np.clip(self._shares, _LEAST, 1)) * self._answered[:, :, None]
        self._certainty = (self._shares * self._logs).sum(axis=2)

    def measures(self, counts: ArrayLike | None = None) -> dict[str, Square]:
        """Every measure of every two models; NaN if undefined. All are symmetric.

        - ``capa``: chance-adjusted agreement, −1 to 1; 0 if two models err independently on equally
          difficult questions (Goel et al. 2025, section 2). Discrete without probabilities.
        - ``flips``: share of questions on which exactly one of the two is right, 0 to 1.
        - ``error_correlation``: Pearson's r of right and wrong, −1 to 1.
        - ``kl``: mean Kullback-Leibler divergence of the options in both directions, in nats, 0 or
          more, probabilities of at least 1e-6; NaN without probabilities.
        - ``gain``: share of questions that only the weaker model answers correctly, 0 to 1: the
          gain in accuracy of an ideal mixture of both over the better one.
        - ``accuracy``: mean accuracy of the two, 0 to 1; ``gap``: the difference, 0 to 1.

        Parameters
        ----------
        counts
            How often each question counts, shape (questions,); once each by default.

        Examples
        --------
        Three questions of two options; each model is right on two, both on one:

        >>> right, yes = np.array([0, 0, 1]), np.ones((2, 3), dtype=bool)
        >>> table = ChoiceTable(
        ...     task="choice", item_ids=("a", "b", "c"), categories=(None,) * 3, asked=yes,
        ...     options=np.full(3, 2), right=right, choices=np.array([[0, 0, 0], [0, 1, 1]]),
        ...     probabilities=np.zeros((2, 3, 2)), has_probabilities=~yes,
        ... )
        >>> measures = PairTable(table).measures()
        >>> [round(float(measures[name][0, 1]), 3) for name in ("capa", "flips", "gain")]
        [-0.5, 0.667, 0.333]
        """
        models, questions = self.asked.shape
        weights = np.ones(questions) if counts is None else np.asarray(counts, dtype=np.float64)
        flat = self._shares.reshape(models, -1)
        weighted = flat * np.repeat(weights, self._shares.shape[2])

        def total(first: Table, second: Table) -> Square:
            return np.asarray((first * weights) @ second.T)

        with np.errstate(divide="ignore", invalid="ignore"):
            both = total(self._counted, self._counted)
            of_first = total(self._right, self._counted) / both
            alike = total(self._counted * self._chance, self._counted) / both
            expected = of_first * of_first.T + alike * (1 - of_first) * (1 - of_first.T)
            observed = weighted @ flat.T / both
            room = np.where(1 - expected < _NO_ROOM, np.nan, 1 - expected)
            together = total(self.asked, self.asked)
            share = total(self.correct, self.asked) / together
            both_right = total(self.correct, self.correct) / together
            spread = np.sqrt(share * (1 - share) * (share * (1 - share)).T)
            accuracy = (self.correct @ weights) / (self.asked @ weights)
            return {
                "capa": np.clip((observed - expected) / room, -1, 1),
                "flips": share + share.T - 2 * both_right,
                "error_correlation": (both_right - share * share.T)
                / np.where(spread < _NO_ROOM, np.nan, spread),
                "kl": self._divergence(weighted, weights) / total(self._answered, self._answered),
                "gain": np.minimum(share, share.T) - both_right,
                "accuracy": (accuracy[:, None] + accuracy) / 2,
                "gap": np.abs(share - share.T),
            }

    def _divergence(self, weighted: Table, weights: NDArray[np.float64]) -> Square:
        if not self.probabilistic:
            return np.full((len(weighted), len(weighted)), np.nan)
        cross = weighted @ self._logs.reshape(len(weighted), -1).T
        directed = (self._certainty * weights) @ self._answered.T - cross
        return np.asarray((directed + directed.T) / 2)
