"""Mistakes that two models share beyond the expectation for independent models of their skill.

Two good models agree because both are right, and models of the same period make the same common
mistakes. Evidence of derivation is a wrong answer that other models of this skill do not give. For
a question i that A answers incorrectly and B is asked, B's share in A's mistake is

    [B gives A's answer] - p_B(A's answer | i)

with p_B the probability for a B independent of A (frequencies among
controls of B's skill, without the kin of either; and how strongly B follows them). It is near 0 for
an answer that all models give, near 1 for one that no other model gives, and negative for a mistake
that B does not share, as where B gives no answer. A's missing answer is none that B could give.

    excess(A, B) = (sum over A's mistakes + sum over B's mistakes) / (2 · questions put to both)

It is symmetric, in -1..1, around 0 for independent models; a mistake of both counts in both sums.
`standardise` puts it on the scale of all pairs.

If the right answer is unknown, the answer of most models takes its place: a mistake is then an
answer that few models give. The reference, the suspect and the controls are treated alike: a
permutation of the rows permutes the results, which the null hypothesis of exchangeability requires.

**Standardising**, by all pairs and by each model's own pairs. The spread of the excess over
independent pairs differs between models. With one common scale, a model with a large spread seems
to stand out; with its own scale, a model with a near copy in its row has a large spread because of
that copy. The scale here is the geometric mean of both:

    d(A) = sqrt(sd(A) · common)        sd(A): of A's excesses with all others
                                       common: root mean square of all models' sd
    U(A, B) = (excess(A, B) - mean of all) · (1 / d(A) + 1 / d(B)) / 2

U is symmetric, dimensionless, around 0 for independent models, and unbounded.

The expected answers of independent models of a model's skill, from the answers of the pool.

The expectation of model B is a weighted frequency of the others' answers. Control c has the weight

    closeness of B's and c's ranks in skill / (1 + number of c's kin)

or 0 if c is kin of B: a family of clones counts about once, and B's own family does not affect what
is expected of B. For a mistake of model A, the weights of A and its kin are 0, too; otherwise A's
own answer would contribute to its expectation.

Scaled so that their sum is the effective number of models, (Σw)² / Σw², the weights give counts,
and 1 / K is added to each option: an option that no model chose stays possible, with a probability
that decreases with the number of models, and without any model all options are equally likely.

**Kin** are models of a pool that may be related. A family of models makes the same mistakes. If a
suspect's siblings contributed to the expectation of an independent model, the mistakes of the
family, and so the reference's, would seem common. Kin are therefore left out of that expectation.
Kinship is never evidence by itself.

1. κ of all pairs: discrete CAPA (`scope.metrics.agreement`) on the questions put to both.
2. The part of κ that two skills explain is subtracted: a robust fit of κ on 1, a + b and ab, where
   a and b are the skills of the two models in standard deviations of the pool.
3. Kin are more than three robust standard deviations (1.4826 × the median distance from the
   median) above the median pair.

A pool of fewer than eight models has too few pairs for the third step, and no kin.

**Following**: how strongly a model follows the answers of models of its skill, and the right
answers. An independent model B is expected to choose option k of question i with a probability
proportional to

    q(k|i)^s · exp(t · [k is right])

where q is the frequency of k among models of similar skill. A model with s = 1 and t = 0 is like
the others; one with a greater s errs where they err, with more certainty; one with a greater t is
right more often than they are. A model that answers at random, or always the same, has s = t = 0:
its agreement with a reference is no evidence.

s and t maximise the log-likelihood of B's answers minus ((s - 1)² + t²) / 2, a prior for an
ordinary model that matters only if answers are few.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from scope.jobs.reuse.pool import (
    NOT_GIVEN,
    AnswerMatrix,
    Indices,
    OptionBlock,
    Square,
    Table,
    Values,
    option_blocks,
)

_LEAST_SHARE = 0.1
"""Lower bound of a row's sd, as a share of the common one: few pairs may agree by accident."""
_NO_SPREAD = 1e-12
"""A smaller spread is rounding error of equal pairs."""


class Standardised(NamedTuple):
    """``values`` = (excess - ``mean``) · ``factors``, shape (models, models); NaN as the excess."""

    values: Square
    mean: float
    factors: Square


def standardise(excess: Square) -> Standardised:
    """Standardise the excess of every pair.

    Parameters
    ----------
    excess
        Symmetric, NaN for undefined pairs; the diagonal is ignored.

    Returns
    -------
    Standardised
        0 if all pairs are equal, as the single pair of two models is. A model with only one pair
        has the common sd.

    Examples
    --------
    The mean is 1; the first two models' sd is 1.5, the third's 0, which counts as a tenth of the
    common sqrt(1.5), so that d is 1.355 for the first two and 0.387 for the third.

    >>> excess = np.array([[np.nan, 3.0, 0.0], [3.0, np.nan, 0.0], [0.0, 0.0, np.nan]])
    >>> standardise(excess).values.round(3)
    array([[   nan,  1.476, -1.66 ],
           [ 1.476,    nan, -1.66 ],
           [-1.66 , -1.66 ,    nan]])
    """
    values = np.where(np.eye(len(excess), dtype=np.bool_), np.nan, excess)
    known = np.ma.masked_invalid(values)
    if not known.count():
        return Standardised(values, float("nan"), np.zeros_like(values))
    mean = float(known.mean())
    spreads = np.ma.masked_where(known.count(axis=1) < 2, known.std(axis=1))
    common = float(np.sqrt((spreads**2).mean())) if spreads.count() else 0.0
    factors = np.zeros_like(values)
    if common >= _NO_SPREAD:
        spread = np.maximum(spreads.filled(common), _LEAST_SHARE * common)
        scale = 1 / np.sqrt(spread * common)
        factors = (scale[:, None] + scale[None, :]) / 2
    return Standardised((values - mean) * factors, mean, factors)


@dataclass(frozen=True, kw_only=True, eq=False)
class SharedMistakes:
    """The shared mistakes of a pool.

    Parameters
    ----------
    excess
        Excess of every pair, in -1..1; NaN on the diagonal, if two models share no question, and if
        neither makes a mistake on these. Shape (models, models), symmetric.
    standing_out
        U: the standardised excess, which ranks pairs; NaN as the excess, and with the reference if
        it makes no mistake on the questions put to both, because there is none to copy.
    kin
        Pairs that may be related, and are left out of each other's expectation.
    parts
        The contribution of each unit to the suspect's U with the reference, its value in
        ``standing_out``: the sum over its questions of (``by_item`` - the mean excess of all pairs)
        / (questions put to both), times the pair's factor. The mean is spread evenly over the
        questions put to both, and questions that one was not asked have no part. Shape (units,).
    expected
        p_B(the reference's answer | question) of each model B in 0.005..0.995, whether right or
        wrong: the smaller, the more informative an agreement. NaN if the reference gave none, in
        its own row, and for a model that answered nothing. Shape (models, items).
    by_item
        The contribution of each question to the excess with the reference, before the division by
        the number of questions put to both: half of either model's sum. 0 in the reference's own
        row.
    fits
        How strongly each model follows the others and the right answers.
    """

    excess: Square
    standing_out: Square
    kin: NDArray[np.bool_]
    parts: Values
    expected: Table
    by_item: Table
    fits: tuple[Fit, ...]


def shared_mistakes(answers: AnswerMatrix) -> SharedMistakes:
    """Compare every two models' mistakes; row 0 is the reference, the others are the pool.

    Examples
    --------
    The reference errs on two questions of four. The first of its pool makes the same errors, the
    second gives another wrong answer, the third is right throughout:

    >>> chosen = np.array([[0, 0, 3, 3], [0, 0, 3, 3], [0, 0, 1, 2], [0, 0, 0, 0]])
    >>> pool = AnswerMatrix(
    ...     answers=chosen, options=np.full(4, 4), gold=np.zeros(4, int), units=np.arange(4)
    ... )
    >>> shared = shared_mistakes(pool)
    >>> shared.standing_out[0].round(2).tolist()
    [nan, 2.05, -1.07, -0.74]
    >>> round(float(shared.parts.sum()), 2)
    2.05
    """
    blocks = option_blocks(answers)
    skills = skill(answers)
    related = kin(answers, blocks, skills)
    tally = _tally(answers, blocks, control_weights(skills, related), related)
    asked, mistaken = answers.asked.astype(np.float64), _mistaken(answers).astype(np.float64)
    shared, mistakes = asked @ asked.T, mistaken @ asked.T
    excess = (tally.excess + tally.excess.T) / (2 * np.maximum(shared, 1))
    excess[(mistakes + mistakes.T == 0) | np.eye(len(asked), dtype=np.bool_)] = np.nan
    standing = standardise(excess)
    copied = np.ones_like(excess, dtype=np.bool_)
    copied[0] = copied[:, 0] = mistakes[0] > 0
    return SharedMistakes(
        excess=excess,
        standing_out=np.where(copied, standing.values, np.nan),
        kin=related,
        parts=_parts(answers, standing, tally.by_item),
        expected=tally.expected,
        by_item=tally.by_item,
        fits=tuple(tally.fits),
    )


class _Tally(NamedTuple):
    """Sums over models and blocks.

    ``excess[A, B]`` is the number of A's mistakes that B shares, minus the expectation if
    independent; the other fields are those of `SharedMistakes`.
    """

    excess: Square
    expected: Table
    by_item: Table
    fits: list[Fit]


def _tally(
    answers: AnswerMatrix,
    blocks: Sequence[OptionBlock],
    weights: Square,
    related: NDArray[np.bool_],
) -> _Tally:
    models, items = answers.answers.shape
    expected, by_item = np.full((models, items), np.nan), np.zeros((models, items))
    tally = _Tally(np.zeros((models, models)), expected, by_item, [])
    answered, asked, mistaken = answers.given, answers.asked, _mistaken(answers)
    for model in range(models):
        alone = effective_counts(weights[model])
        fitted = fit([rows_to_fit(block, alone, model) for block in blocks])
        tally.fits.append(fitted)
        without = effective_counts(leaving_out(weights[model], related))
        for block in blocks:
            # The model's shares in the mistakes of all others, in this block of questions.
            relevant = mistaken[:, block.items] & asked[model, block.items]
            compared = relevant.copy()
            # All of the reference's answers, because the right ones are shown too.
            compared[0] = answered[0, block.items]
            compared[model] = False
            others, places = np.nonzero(compared)
            chance = chances(block, without, fitted, others, places)
            alike = block.columns[model, places] == block.columns[others, places]
            surplus = np.where(relevant[others, places], alike - chance, 0.0)
            tally.excess[:, model] += np.bincount(others, weights=surplus, minlength=models)
            columns = block.items[places]
            if model == 0:
                by_item[others, columns] += surplus / 2
            else:
                first = slice(0, int(compared[0].sum()))
                expected[model, columns[first]] = chance[first]
                by_item[model, columns[first]] += surplus[first] / 2
    expected[~answered.any(axis=1)] = np.nan
    return tally


def _mistaken(answers: AnswerMatrix) -> NDArray[np.bool_]:
    mistaken: NDArray[np.bool_] = answers.given & (answers.answers != answers.expected_right())
    return mistaken


def _parts(answers: AnswerMatrix, standing: Standardised, by_item: Table) -> Values:
    """The contribution of each unit to the suspect's value; 0 without one."""
    parts = np.zeros(answers.n_units)
    if len(by_item) > 1 and not np.isnan(standing.values[0, 1]):
        both = answers.asked[0] & answers.asked[1]
        terms = (by_item[1, both] - standing.mean) * standing.factors[0, 1] / both.sum()
        np.add.at(parts, answers.units[both], terms)
    return parts


_WIDTH = 0.3
"""In shares of the pool: a model this far up or down the ranking has a weight of exp(-1/2). Wide
enough that about twelve of thirty controls count; narrow enough that weak models are not compared
with strong ones, whose mistakes differ."""


def skill(answers: AnswerMatrix) -> Values:
    """Each model's share of right answers among the questions put to it; NaN if it gave none.

    Examples
    --------
    Half of two, one of two with a missing answer, one of one, none given:

    >>> matrix = AnswerMatrix(
    ...     answers=np.array([[0, 1], [-1, 0], [-2, 0], [-1, -1]]),
    ...     options=np.array([2, 2]), gold=np.array([0, 0]), units=np.array([0, 1]),
    ... )
    >>> skill(matrix).tolist()
    [0.5, 0.5, 1.0, nan]
    """
    right = (answers.answers == answers.expected_right()).sum(axis=1)
    total = answers.asked.sum(axis=1)
    shares: Values = np.divide(right, total, out=np.full(len(total), np.nan), where=total > 0)
    return shares


def closeness(skills: Values) -> Square:
    """The closeness of two models in the ranking by skill: 1 for equal ranks, down to 0.

    A Gaussian of the difference in rank, where the weakest model has the rank 0 and the most
    skilled 1. Ranks do not depend on the spread of the skills. Equal skills share their mean rank.
    0 with a model whose skill is NaN, and with itself: no model affects what is expected of it.

    Examples
    --------
    Three models, the two unequal neighbours half the ranking apart, exp(-(0.5 / 0.3)² / 2):

    >>> closeness(np.array([0.2, 0.9, 0.6])).round(4).tolist()
    [[0.0, 0.0039, 0.2494], [0.0039, 0.0, 0.2494], [0.2494, 0.2494, 0.0]]
    """
    known = ~np.isnan(skills)
    below = (skills[None, :] < skills[:, None]).sum(axis=1)
    not_above = (skills[None, :] <= skills[:, None]).sum(axis=1)
    ranks = (below + not_above - 1) / 2 / max(int(known.sum()) - 1, 1)
    near = np.exp(-(((ranks[:, None] - ranks[None, :]) / _WIDTH) ** 2) / 2)
    np.fill_diagonal(near, 0.0)
    return np.where(known[:, None] & known[None, :], near, 0.0)


FEWEST_FOR_KIN = 8
"""The least number of models with answers for which kin are determined."""

_FAR_ABOVE = 3.0
_REWEIGHTINGS = 15
_TO_STANDARD_DEVIATION = 1.4826
"""The standard deviation of a normal distribution as a multiple of its median distance from 0."""
_LEAST_SPREAD = 1e-6
"""Of κ: smaller differences between two pairs are ignored."""
_RIDGE = 1e-6
"""Keeps the fit unique if all models are equally skilled."""


def kin(answers: AnswerMatrix, blocks: Sequence[OptionBlock], skills: Values) -> NDArray[np.bool_]:
    """Whether two models may be related; symmetric, not with itself; shape (models, models)."""
    models = len(skills)
    related = np.zeros((models, models), dtype=np.bool_)
    if (~np.isnan(skills)).sum() < FEWEST_FOR_KIN:
        return related
    kappas = pairwise_kappa(answers, blocks)
    pairs = np.triu(~np.isnan(kappas), 1)
    if not pairs.any():
        return related
    above = _above_skill(kappas, pairs, skills)
    centred = above - np.median(above)
    related[pairs] = centred > _FAR_ABOVE * _spread(centred)
    related |= related.T.copy()
    return related


def pairwise_kappa(answers: AnswerMatrix, blocks: Sequence[OptionBlock]) -> Square:
    """Discrete CAPA of every two models; NaN if one gave no answer, or no question is put to both.

    0 if it is undefined because chance agreement is 1, as for two models that are always right.
    """
    asked = answers.asked.astype(np.float64)
    right = (answers.answers == answers.expected_right()).astype(np.float64)
    shared = asked @ asked.T
    some = np.maximum(shared, 1)
    same = np.zeros_like(shared)
    for block in blocks:
        rows = block.chosen.reshape(len(asked), -1)
        same += rows @ rows.T
    skills = right @ asked.T / some
    alike = (asked / (answers.options - 1)) @ asked.T / some
    chance = skills * skills.T + alike * (1 - skills) * (1 - skills.T)
    room = 1 - chance
    kappas = np.where(room > 1e-9, (same / some - chance) / np.maximum(room, 1e-9), 0.0)
    return np.where(shared > 0, np.clip(kappas, -1.0, 1.0), np.nan)


def _above_skill(kappas: Square, pairs: NDArray[np.bool_], skills: Values) -> Values:
    """κ of the pairs minus the part that their skills explain.

    Iteratively reweighted least squares, fifteen rounds: a pair at u times two robust standard
    deviations has the weight 1 / u below the fit and 1 / u² above it, where kin are; pairs within
    have 1.
    """
    scaled = (skills - np.nanmean(skills)) / (np.nanstd(skills) + 1e-9)
    first, second = (scaled[index] for index in np.nonzero(pairs))
    known = np.column_stack([np.ones(len(first)), first + second, first * second])
    seen = kappas[pairs]
    weights = np.ones(len(seen))
    for _ in range(_REWEIGHTINGS):
        weighted = known * weights[:, None]
        fit = np.linalg.solve(weighted.T @ known + _RIDGE * np.eye(3), weighted.T @ seen)
        rest = seen - known @ fit
        far = np.abs(rest) / (2 * _spread(rest))
        weights = 1 / np.maximum(1, np.where(rest > 0, far**2, far))
    return np.asarray(rest)


def _spread(centred: Values) -> float:
    return max(_TO_STANDARD_DEVIATION * float(np.median(np.abs(centred))), _LEAST_SPREAD)


_ORDINARY = np.array([1.0, 0.0])
_NEWTON_STEPS = 50
_NEAR_ENOUGH = 1e-9
_LONGEST_STEP = 1.0


class Fit(NamedTuple):
    """What a model follows.

    Attributes
    ----------
    consensus
        s: 1 if it follows the others as they follow each other, 0 if not at all.
    right
        t: the log-odds of the right option beyond s, in nats.
    gain
        The mean over questions of the gain in log-probability over guessing among the options, in
        nats.
    """

    consensus: float
    right: float
    gain: float


class FitRows(NamedTuple):
    """The input of a fit for some questions: ``n`` of them with at most ``c`` columns of options.

    ``log_frequencies``, ``options`` (the number of a column's options), ``right`` and ``chosen``
    (zeros and ones) have the shape (n, c), ``share``, 1 / K, the shape (n,).
    """

    log_frequencies: Values
    options: Values
    right: Values
    chosen: Values
    share: Values


def fit(rows: Sequence[FitRows]) -> Fit:
    """Fit s and t by Newton's method; the penalised likelihood has one maximum.

    Examples
    --------
    Ten questions with two options, which the others choose equally often, and nine right answers:
    s plays no part, and t solves 9 - 10 / (1 + e^-t) = t.

    >>> answers = np.repeat([[1.0, 0.0], [0.0, 1.0]], [9, 1], axis=0)
    >>> right = np.repeat([[1.0, 0.0]], 10, axis=0)
    >>> same = np.full((10, 2), np.log(0.5))
    >>> fitted = fit([FitRows(same, np.ones((10, 2)), right, answers, np.full(10, 0.5))])
    >>> round(fitted.consensus, 6), round(fitted.right, 6)
    (1.0, 1.241591)
    >>> round(float(9 - 10 / (1 + np.exp(-fitted.right))), 6)
    1.241591
    """
    point = _ORDINARY.copy()
    for _ in range(_NEWTON_STEPS):
        slope, bend = _ORDINARY - point, np.eye(2)
        for block in rows:
            slope_of_block, bend_of_block = _slope_and_bend(block, point)
            slope, bend = slope + slope_of_block, bend + bend_of_block
        step = np.clip(np.linalg.solve(bend, slope), -_LONGEST_STEP, _LONGEST_STEP)
        point = point + step
        if np.abs(step).max() < _NEAR_ENOUGH:
            break
    number = sum(len(block.share) for block in rows)
    gains = sum(
        float(np.log((_probabilities(block, point) * block.chosen).sum(axis=1) / block.share).sum())
        for block in rows
    )
    return Fit(float(point[0]), float(point[1]), gains / max(number, 1))


def guessing_p_value(fitted: Fit, examples: int) -> float:
    """The p-value of the null hypothesis that a model guesses.

    The likelihood ratio of (s, t) to (0, 0) is chi-square with two degrees of freedom for a model
    that guesses; its upper tail beyond x is exp(-x / 2). An example with several questions counts
    as one, because guesses may be equal on all of them. With fewer than about twenty answered
    examples the p-value is approximate and conservative, because the prior moves the fit away from
    the maximum of the likelihood.

    Examples
    --------
    A hundred examples answered e^0.05 times likelier than by guessing: exp(-100 · 0.05).

    >>> round(guessing_p_value(Fit(consensus=1.0, right=1.0, gain=0.05), 100), 5)
    0.00674
    """
    return math.exp(-examples * max(fitted.gain, 0.0))


def _probabilities(rows: FitRows, point: Values) -> Values:
    weights = rows.options * np.exp(point[0] * rows.log_frequencies + point[1] * rows.right)
    return np.asarray(weights / weights.sum(axis=1, keepdims=True))


def _slope_and_bend(rows: FitRows, point: Values) -> tuple[Values, Values]:
    """First derivative of the log-likelihood, and its second with the sign changed."""
    chances = _probabilities(rows, point)
    drawn = chances * rows.log_frequencies
    consensus, right = drawn.sum(axis=1), (chances * rows.right).sum(axis=1)
    missed = rows.chosen - chances
    slope = np.array([(rows.log_frequencies * missed).sum(), (rows.right * missed).sum()])
    mixed = (drawn * rows.right).sum() - consensus @ right
    of_consensus = (drawn * rows.log_frequencies).sum() - consensus @ consensus
    of_right = right.sum() - right @ right
    return slope, np.array([[of_consensus, mixed], [mixed, of_right]])


_LEAST, _MOST = 0.005, 0.995
"""Bounds of a probability: the pool is too small for certainty."""


def control_weights(skills: Values, kin: NDArray[np.bool_]) -> Square:
    """The weight of each model (column) in the expectation of each model (row), unscaled."""
    return np.where(kin, 0.0, closeness(skills) / (1 + kin.sum(axis=1)))


def leaving_out(weights: Values, kin: NDArray[np.bool_]) -> Square:
    """One model's weights without each model and its kin: row A is without A. Unscaled."""
    out = kin | np.eye(len(weights), dtype=np.bool_)
    return np.where(out, 0.0, weights)


def effective_counts(weights: Values) -> Values:
    """The weights scaled so that they sum to the effective number of models; over the last axis.

    Examples
    --------
    Equal weights give the number of models; unequal ones fewer, here 6² / 20; zero weights 0.

    >>> effective_counts(np.array([[0.5, 0.5, 0.0], [4.0, 2.0, 0.0], [0.0, 0.0, 0.0]])).tolist()
    [[1.0, 1.0, 0.0], [1.2, 0.6, 0.0], [0.0, 0.0, 0.0]]
    """
    squares = (weights**2).sum(axis=-1, keepdims=True)
    sums = weights.sum(axis=-1, keepdims=True)
    scale = np.divide(sums, squares, out=np.zeros_like(sums), where=squares > 0)
    return np.asarray(weights * scale)


def rows_to_fit(block: OptionBlock, counts: Values, model: int) -> FitRows:
    """A model's answers in a block, with the frequency of each option among the others.

    The frequencies are not normalised; no probability depends on that.
    """
    answered = block.columns[model] != NOT_GIVEN
    frequencies = np.tensordot(counts, block.chosen[:, answered], axes=1)
    return FitRows(
        log_frequencies=np.log(frequencies + block.share[answered, None]),
        options=block.options[answered],
        right=block.right[answered],
        chosen=block.chosen[model, answered],
        share=block.share[answered],
    )


def chances(
    block: OptionBlock, counts: Square, fitted: Fit, models: Indices, places: Indices
) -> Values:
    """The probability that the fitted model gives the answers of other models.

    Parameters
    ----------
    counts
        Effective counts of all models, row A without A and its kin; shape (models, models).
    models, places
        The model of each answer, and its question in the block; each of shape (m,).

    Returns
    -------
    Values
        Shape (m,), each in 0.005..0.995.
    """
    size = block.options.shape
    frequencies = (counts @ block.chosen.reshape(len(counts), -1)).reshape(-1, *size)
    weights = frequencies[models, places]
    weights += block.share[places, None]
    np.log(weights, out=weights)
    weights *= fitted.consensus
    np.exp(weights, out=weights)
    weights *= (block.options * np.exp(fitted.right * block.right))[places]
    answers = weights[np.arange(len(places)), block.columns[models, places]]
    return np.asarray(np.clip(answers / weights.sum(axis=1), _LEAST, _MOST))
