"""Chance-corrected agreement of choices: do two models err alike more than their accuracies say?

All four numbers are κ = (c_obs − c_exp) / (1 − c_exp): the agreement seen, above the one expected
by chance, as a share of the room above chance. With p the probabilities, p̄ a model's mean
probability on the right option, and K_i the number of options of item i:

- CAPA: c_obs = mean_i Σ_k p_A(k|i) p_B(k|i), and c_exp = p̄_A p̄_B + mean_i(1 / (K_i − 1))
  (1 − p̄_A)(1 − p̄_B): a model that errs chooses any wrong option alike. Goel et al. (2025), arXiv
  2502.04313.
- discrete CAPA: the same with 1 for the option chosen and 0 for the others.
- error consistency: c_obs is how often both are right or both wrong, c_exp that of independent
  models. Geirhos et al. (2020), arXiv 2006.16736. With two options it is discrete CAPA.
- Cohen's κ: c_obs is how often both choose the same option, c_exp that of two models that choose
  each option (the first, the second, …) as often as these do. It depends on how the options are
  numbered, unlike the others. Cohen (1960).

The chance of all but Cohen's κ is that of items of one difficulty. Two models that err
independently given an item's difficulty have κ above 0 where difficulties differ, and the more the
closer their skill.

An answer that was not given, -1 among choices and a row of zeros among probabilities, is wrong and
shares no option with any other answer, not even with another one that was not given: it adds
nothing to c_obs, to p̄ and to how often an option is chosen. Where both give none, both are wrong.

κ is at most 1, and at least −1, which it reaches with two options and opposite choices. It does not
exist where 1 − c_exp = 0: both models are always right, or, with two options, always wrong.

Each function also returns the influence of each item on κ, from which an interval follows.

Agreement on clean examples: the same answers, as many right ones, near probabilities.

Agreement is the mean of `agreement_values`. The gap in IID accuracy is the distance
from 0 of the mean of `accuracy_difference_values`, whose sign says which model is better.
Rawal & Toneva (2024), Findings of ACL, arXiv 2311.04166, compare the SCoPE measures with both.

The Jensen-Shannon divergence in bits is JS(p, q) = (KL(p ‖ m) + KL(q ‖ m)) / 2, m = (p + q) / 2
(Lin 1991): 0 for equal probabilities, 1 where no option has a chance with both. Like agreement it
is not corrected for chance: two accurate models are near each other whatever their errors (Goel
et al. 2025, arXiv 2502.04313).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from scope.metrics.arrays import (
    NO_ANSWER,
    Labels,
    ProbabilityRows,
    Values,
    checked_labels,
    checked_option_rows,
    require_same_shape,
)

_NO_ROOM = 1e-9
"""Less room above chance than this is rounding error."""


class ChanceCorrected(NamedTuple):
    """A κ and its parts.

    ``influence`` has shape (n,): how far κ would move, were item i the only one, to first order;
    its mean is 0. ``made_up`` is the sum of its squares over four items that nobody was asked, two
    on which the models agree and two on which they do not: they stand for what n items may have
    failed to show. Where κ does not exist, both are 0.
    """

    n: int
    observed: float
    expected: float
    influence: Values
    made_up: float

    @property
    def value(self) -> float | None:
        """κ in -1..1, or None where it does not exist."""
        if not self.n or 1 - self.expected < _NO_ROOM:
            return None
        kappa = (self.observed - self.expected) / (1 - self.expected)
        return min(max(kappa, -1.0), 1.0)


class Items(NamedTuple):
    """Items by how far two models agree on them, and how far each moves the expected agreement.

    ``agreement`` lies in 0..1, ``pull`` is to first order and has the mean 0 over the items that
    were asked; ``weights`` are 1 unless given.
    """

    agreement: Values
    pull: Values
    weights: Values | float = 1.0


def chance_corrected(expected: float, items: Items, made_up: Items) -> ChanceCorrected:
    """Return the agreement on the items above the expected one.

    Examples
    --------
    Three of four alike where chance gives a half, whatever the items:

    >>> items = Items(np.array([1.0, 1, 1, 0]), np.zeros(4))
    >>> chance_corrected(0.5, items, made_up=items).value
    0.5
    """
    n = len(items.agreement)
    # Rounding may lead out of 0..1 by a last bit.
    observed = min(float(items.agreement.mean()), 1.0) if n else 0.0
    expected = min(expected, 1.0)
    room = 1 - expected
    if not n or room < _NO_ROOM:
        return ChanceCorrected(n, observed, expected, np.zeros(n), 0.0)
    # κ = 1 − (1 − c_obs) / (1 − c_exp), so dκ = (dc_obs − (1 − κ) dc_exp) / (1 − c_exp).
    missed = (1 - observed) / room
    influence, unseen = (
        (each.agreement - observed - missed * each.pull) / room for each in (items, made_up)
    )
    squares = float((made_up.weights * unseen**2).sum())
    return ChanceCorrected(n, observed, expected, influence, squares)


def capa(
    first: ArrayLike, second: ArrayLike, right: ArrayLike, options: ArrayLike | None = None
) -> ChanceCorrected:
    """Return CAPA of two models' probabilities. Symmetric.

    Parameters
    ----------
    first, second
        Shape (n, most options): probabilities, 0 behind the last option of an item; all 0 where no
        answer was given.
    right
        Shape (n,): the index of the right option.
    options
        Shape (n,): the number of options of each item; all of them if left out.

    Raises
    ------
    ValueError
        If the shapes differ, a row holds no probabilities of its options, an item has fewer than
        two options, or the right one is none of them.

    Examples
    --------
    Both give the right one of two options 0.9, then 0.5: c_obs is (0.82 + 0.5) / 2 = 0.66 and
    c_exp 0.7 · 0.7 + 0.3 · 0.3 = 0.58.

    >>> rows = [[0.9, 0.1], [0.5, 0.5]]
    >>> round(capa(rows, rows, right=[0, 0]).value, 9)
    0.19047619
    """
    rows, counts = checked_option_rows("first", first, options)
    others, _ = checked_option_rows("second", second, options)
    gold = checked_labels("right", right)
    require_same_shape(first=rows, second=others)
    _require_options(counts, right=gold)
    at = np.arange(len(gold)), gold
    return _given_accuracy((rows * others).sum(axis=1), rows[at], others[at], 1 / (counts - 1))


def capa_discrete(
    first: ArrayLike, second: ArrayLike, right: ArrayLike, options: ArrayLike
) -> ChanceCorrected:
    """Return CAPA of two models' choices. Symmetric.

    Parameters
    ----------
    first, second, right
        Shape (n,): indices of options; -1 where a model gave no answer.
    options
        Shape (n,): the number of options of each item.

    Raises
    ------
    ValueError
        If the shapes differ, an item has fewer than two options, or an index is none of them.

    Examples
    --------
    Three options, both right on half the items, never together: c_obs is 0, c_exp 3/8.

    >>> capa_discrete([0, 0], [1, 1], right=[0, 1], options=[3, 3]).value
    -0.6

    Both right on one of two, no answer to the other: c_obs is 1/2, c_exp 1/4 + 1/2 · 1/4.

    >>> round(capa_discrete([0, -1], [0, -1], right=[0, 1], options=[3, 3]).value, 9)
    0.2
    """
    of_first, of_second, gold = _checked_choices(first=first, second=second, right=right)
    counts = checked_labels("options", options)
    _require_options(counts, first=of_first, second=of_second, right=gold)
    agreement = agreement_values(of_first, of_second)
    right_first, right_second = (of_first == gold).astype(float), (of_second == gold).astype(float)
    return _given_accuracy(agreement, right_first, right_second, 1 / (counts - 1))


def error_consistency(first: ArrayLike, second: ArrayLike, right: ArrayLike) -> ChanceCorrected:
    """Return how consistently two models are right or wrong together. Symmetric.

    Parameters
    ----------
    first, second, right
        Shape (n,): indices of options; -1 where a model gave no answer.

    Raises
    ------
    ValueError
        If the shapes differ or a value is not an index.

    Examples
    --------
    Both right on one of two items, and not on the same:

    >>> error_consistency([0, 2], [1, 1], right=[0, 1]).value
    -1.0
    """
    of_first, of_second, gold = _checked_choices(first=first, second=second, right=right)
    right_first, right_second = (of_first == gold).astype(float), (of_second == gold).astype(float)
    agreement = np.asarray(right_first == right_second, dtype=np.float64)
    # As CAPA with two options: being wrong is one of two things to do.
    return _given_accuracy(agreement, right_first, right_second, np.ones(len(gold)))


def cohen_kappa(first: ArrayLike, second: ArrayLike) -> ChanceCorrected:
    """Return Cohen's κ of two models' choices. Symmetric.

    Parameters
    ----------
    first, second
        Shape (n,): indices of options; -1 where a model gave no answer.

    Raises
    ------
    ValueError
        If the shapes differ or a value is not an index.

    Examples
    --------
    Three of four alike, and chance gives 1/2 · 1/4 + 1/2 · 3/4:

    >>> cohen_kappa([0, 0, 1, 1], [0, 1, 1, 1]).value
    0.5
    """
    choices, others = _checked_choices(first=first, second=second)
    size = int(max(choices.max(initial=0), others.max(initial=0))) + 1
    n = max(len(choices), 1)
    # The last place stands for no answer, which is nobody's option.
    of_first, of_second = (
        np.append(np.bincount(labels[labels != NO_ANSWER], minlength=size) / n, 0.0)
        for labels in (choices, others)
    )
    expected = float(of_first @ of_second)
    pull = of_second[choices] + of_first[others] - 2 * expected
    items = Items(agreement_values(choices, others), pull)
    return chance_corrected(expected, items, _made_up_choices(of_first, of_second, expected))


def _given_accuracy(
    agreement: Values, right_one: Values, right_other: Values, chance: Values
) -> ChanceCorrected:
    """Correct an agreement for the one expected of two models with these accuracies.

    ``chance`` is how likely two wrong answers to an item agree.
    """
    a, b, alike = (
        float(values.mean()) if len(values) else 0.0 for values in (right_one, right_other, chance)
    )
    by_a, by_b = b - alike * (1 - b), a - alike * (1 - a)
    pull = by_a * (right_one - a) + by_b * (right_other - b) + (1 - a) * (1 - b) * (chance - alike)
    # Both right, both wrong and alike, and either one right alone.
    made_up_one, made_up_other = np.array([1.0, 0, 1, 0]), np.array([1.0, 0, 0, 1])
    made_up = Items(
        agreement=np.array([1.0, 1, 0, 0]),
        pull=by_a * (made_up_one - a) + by_b * (made_up_other - b),
    )
    items = Items(agreement, pull)
    return chance_corrected(a * b + alike * (1 - a) * (1 - b), items, made_up)


def _made_up_choices(of_first: Values, of_second: Values, expected: float) -> Items:
    """Two items of agreement and two of disagreement, each spread over all options in use."""
    used = np.flatnonzero(of_first + of_second)
    rows, columns = (grid.ravel() for grid in np.meshgrid(used, used))
    alike = rows == columns
    weights = 2 / np.where(alike, len(used), max(len(used) * (len(used) - 1), 1))
    pull = of_second[rows] + of_first[columns] - 2 * expected
    return Items(alike.astype(np.float64), pull, weights)


def _checked_choices(**choices: ArrayLike) -> tuple[Labels, ...]:
    checked = {
        name: checked_labels(name, labels, 0 if name == "right" else NO_ANSWER)
        for name, labels in choices.items()
    }
    require_same_shape(**checked)
    return tuple(checked.values())


def _require_options(counts: Labels, **choices: Labels) -> None:
    require_same_shape(options=counts, **choices)
    if (counts < 2).any():
        raise ValueError(f"item {int(np.argmax(counts < 2))} has fewer than two options")
    for name, labels in choices.items():
        if (labels >= counts).any():
            worst = int(np.argmax(labels >= counts))
            raise ValueError(f"{name}: item {worst} has no option {int(labels[worst])}")


def agreement_values(first: ArrayLike, second: ArrayLike) -> Values:
    """Return 1 where two models, or a model and the right answers, choose the same, else 0.

    Parameters
    ----------
    first, second
        Shape (n,): indices into the same list of labels or options, or -1 for an answer that was
        not given, which is the same as no other. Symmetric.

    Raises
    ------
    ValueError
        If the shapes differ or a value is not an index.

    Examples
    --------
    >>> agreement_values([0, 1, 2, -1], [0, 2, 2, -1]).tolist()
    [1.0, 0.0, 1.0, 0.0]
    """
    of_first, of_second = (
        checked_labels(name, labels, NO_ANSWER)
        for name, labels in (("first", first), ("second", second))
    )
    require_same_shape(first=of_first, second=of_second)
    return np.asarray((of_first == of_second) & (of_first != NO_ANSWER), dtype=np.float64)


def accuracy_difference_values(
    reference_labels: ArrayLike, target_labels: ArrayLike, gold: ArrayLike
) -> Values:
    """Return 1 where only the target is right, -1 where only the reference is, else 0.

    Parameters
    ----------
    reference_labels, target_labels, gold
        Shape (n,). Exchanging the models changes the sign.

    Raises
    ------
    ValueError
        If the shapes differ or a value is not a label index.

    Examples
    --------
    >>> accuracy_difference_values([0, 1, 1], [1, 1, 0], gold=[0, 1, 0]).tolist()
    [-1.0, 0.0, 1.0]
    """
    return agreement_values(target_labels, gold) - agreement_values(reference_labels, gold)


def js_divergence_values(
    first: ArrayLike, second: ArrayLike, options: ArrayLike | None = None
) -> Values:
    """Return the Jensen-Shannon divergence of each two rows, in bits, 0..1. Symmetric.

    Parameters
    ----------
    first, second
        Shape (n, most options): probabilities, 0 behind the last option of an item. A row of zeros
        is an answer that was not given, as far from any other as possible: 1.
    options
        Shape (n,): the number of options of each item; all of them if left out.

    Raises
    ------
    ValueError
        If the shapes differ or a row holds no probabilities of its options.

    Examples
    --------
    >>> js_divergence_values([[1, 0], [0.3, 0.7], [0, 0]], [[0, 1], [0.3, 0.7], [0, 0]]).tolist()
    [1.0, 0.0, 1.0]
    """
    of_first, _ = checked_option_rows("first", first, options)
    of_second, _ = checked_option_rows("second", second, options)
    require_same_shape(first=of_first, second=of_second)
    middle = (of_first + of_second) / 2
    values = (_divergence(of_first, middle) + _divergence(of_second, middle)) / 2
    answered = of_first.any(axis=1) & of_second.any(axis=1)
    return np.where(answered, np.clip(values, 0.0, 1.0), 1.0)


def _divergence(rows: ProbabilityRows, middle: ProbabilityRows) -> Values:
    """Return KL(rows ‖ middle) in bits; an option without a chance adds nothing."""
    ratio = np.divide(rows, middle, out=np.ones_like(rows), where=rows > 0)
    return np.asarray((rows * np.log2(ratio)).sum(axis=1), dtype=np.float64)
