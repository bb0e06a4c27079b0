"""Mistakes that two models share beyond the expectation for independent models of their skill.

Two good models agree because both are right, and models of the same period make the same common
mistakes. Evidence of derivation is a wrong answer that other models of this skill do not give. For
a question i that A answers incorrectly and B is asked, B's share in A's mistake is

    [B gives A's answer] - p_B(A's answer | i)

with p_B the probability for a B independent of A (`scope.jobs.reuse.consensus`: frequencies among
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
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from scope.jobs.reuse.answer_matrix import (
    AnswerMatrix,
    OptionBlock,
    Square,
    Table,
    Values,
    option_blocks,
)
from scope.jobs.reuse.consensus import (
    Fit,
    chances,
    control_weights,
    effective_counts,
    fit,
    kin,
    leaving_out,
    rows_to_fit,
    skill,
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
