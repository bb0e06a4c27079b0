"""Shared invariance: where the reference stays unmoved, does the target?

The pairs (x, x') given here are exactly I_R, those on which the reference keeps its label. With
Δ_M = f_M(x) − f_M(x'), the value of one pair is

- OOD agreement: 1[ŷ_T(x') = ŷ_R(x')]
- Hard-SCoPE(T|R): 1[ŷ_T(x') = ŷ_T(x)]
- Soft-SCoPE(T|R): 1[ŷ_T(x') = ŷ_T(x)] · g(‖Δ_R − Δ_T‖₁), where g is 1 up to the tolerance, 0 from
  the cutoff, linear between.

On random candidates, which nothing selects,

- Flip-SCoPE(T|R): 1[ŷ_T(x') = ŷ_R(x')], where the candidate changes R's label and both models give
  x the same label.

SCoPE informedness is, text by text, the share of the candidates that R keeps which T keeps, too,
plus Flip-SCoPE − 1 (Youden's J). The partners are the other candidates of the text, not of the same
word: with eight candidates few words have both kinds. Flips and informedness are ours.

Rawal & Toneva (2024), Findings of ACL, arXiv 2311.04166. Three deviations: the paper gives no
tolerance and no cutoff, so both are parameters here and always shown; its published code leaves
the subset of OOD agreement open, and here it is I_R, as for the other two; the paper averages over
all pairs, an audit over texts the mean of each text's pairs, since trials of one text are alike.

The functions on kept pairs take four arrays of shape (pairs, labels), rows parallel, columns in one
order of labels, and return shape (pairs,) in 0..1. The most probable label is the first of equals.

``open_vocabulary`` says that the labels are the tokens that a language model names, and that the
last column is the mass of all others, as in `scope.metrics.arrays`: it counts in distances and
is never a label.

Concordance and reach: do random changes of a text move the target as they move the reference?

For a text x, y is the reference's label and y' its runner-up. The move of a model M at a changed
text z is

    s_M(z) = change from x to z of log p_M(y') − log p_M(y),

with probabilities clipped at 1e-6. Two changed texts of x form a pair; it counts where s_R differs
by at least a gap. Concordance is 1 if s_T orders the pair as s_R, ½ if the two values of s_T differ
by less than 1e-6, else 0, as where T gives no answer (s_T is not a number). Reach, the
strength of reaction, is the slope of s_T on s_R through the origin, with less weight on the
greatest moves; a T without an answer does not move.

A model that never moves, or moves at random, has ½; so a shift of the target's logits and its
temperature change nothing. Independent models share common sense and lie above ½. Both are ours;
concordance of a pair is Kendall's (Biometrika 1938).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from scope.metrics.arrays import (
    Labels,
    ProbabilityRows,
    Values,
    checked_probabilities,
    most_probable,
    require_same_shape,
)


class _Pairs(NamedTuple):
    """The checked predictions of both models on I_R."""

    reference_clean: ProbabilityRows
    reference_perturbed: ProbabilityRows
    target_clean: ProbabilityRows
    target_perturbed: ProbabilityRows
    open_vocabulary: bool

    def labels(self, rows: ProbabilityRows) -> Labels:
        """The most probable label of each row."""
        if not self.open_vocabulary:
            return most_probable(rows)
        return most_probable(rows[:, :-1]) if len(rows) else np.empty(0, dtype=np.intp)


def _checked_pairs(
    reference_clean: ArrayLike,
    reference_perturbed: ArrayLike,
    target_clean: ArrayLike,
    target_perturbed: ArrayLike,
    open_vocabulary: bool,
) -> _Pairs:
    checked = {
        name: checked_probabilities(name, rows)
        for name, rows in (
            ("reference_clean", reference_clean),
            ("reference_perturbed", reference_perturbed),
            ("target_clean", target_clean),
            ("target_perturbed", target_perturbed),
        )
    }
    require_same_shape(**checked)
    pairs = _Pairs(**checked, open_vocabulary=open_vocabulary)
    invariant = pairs.labels(pairs.reference_clean) == pairs.labels(pairs.reference_perturbed)
    if not invariant.all():
        raise ValueError(
            f"the reference changes its label on pair {int(np.argmin(invariant))}, "
            "which therefore is not in I_R"
        )
    return pairs


def ood_agreement_values(
    reference_clean: ArrayLike,
    reference_perturbed: ArrayLike,
    target_clean: ArrayLike,
    target_perturbed: ArrayLike,
    *,
    open_vocabulary: bool = False,
) -> Values:
    """Return 1 where both models choose the same label for the perturbed text, else 0.

    Raises
    ------
    ValueError
        If an array holds no probabilities, shapes differ, or the reference is not invariant.

    Examples
    --------
    >>> sure, unsure = [0.9, 0.1], [0.4, 0.6]
    >>> ood_agreement_values([sure, sure], [sure, sure], [sure, sure], [sure, unsure]).tolist()
    [1.0, 0.0]
    """
    pairs = _checked_pairs(
        reference_clean, reference_perturbed, target_clean, target_perturbed, open_vocabulary
    )
    agrees = pairs.labels(pairs.target_perturbed) == pairs.labels(pairs.reference_perturbed)
    return np.asarray(agrees, dtype=np.float64)


def hard_scope_values(
    reference_clean: ArrayLike,
    reference_perturbed: ArrayLike,
    target_clean: ArrayLike,
    target_perturbed: ArrayLike,
    *,
    open_vocabulary: bool = False,
) -> Values:
    """Return 1 where the target too keeps its label, whatever that label is, else 0.

    Raises
    ------
    ValueError
        If an array holds no probabilities, shapes differ, or the reference is not invariant.

    Examples
    --------
    The target disagrees with the reference on both texts, and is as unmoved:

    >>> hard_scope_values([[0.9, 0.1]], [[0.8, 0.2]], [[0.3, 0.7]], [[0.4, 0.6]]).tolist()
    [1.0]

    Of a language model's tokens, the first stays likelier than the second, whatever the mass of
    all others:

    >>> pair = [[0.3, 0.1, 0.6]], [[0.2, 0.1, 0.7]]
    >>> hard_scope_values(*pair, *pair, open_vocabulary=True).tolist()
    [1.0]
    """
    pairs = _checked_pairs(
        reference_clean, reference_perturbed, target_clean, target_perturbed, open_vocabulary
    )
    return _kept(pairs)


def soft_scope_values(
    reference_clean: ArrayLike,
    reference_perturbed: ArrayLike,
    target_clean: ArrayLike,
    target_perturbed: ArrayLike,
    *,
    tolerance: float,
    cutoff: float,
    open_vocabulary: bool = False,
) -> Values:
    """Return Hard-SCoPE's value times how alike the two models' changes of probability are.

    Parameters
    ----------
    reference_clean, reference_perturbed, target_clean, target_perturbed
        Shape (pairs, labels).
    tolerance, cutoff
        L1 distances between the two changes, 0 <= tolerance <= cutoff: full credit up to the
        one, none from the other. Where they are equal, the step still gives full credit there.
    open_vocabulary
        Whether the last column is the rest.

    Raises
    ------
    ValueError
        If an array holds no probabilities, shapes differ, the reference is not invariant, or not
        0 <= tolerance <= cutoff.

    Examples
    --------
    The reference moves by (0.1, -0.1), the target by (-0.1, 0.1): the changes are 0.4 apart,
    and 0.4 lies halfway between 0.2 and 0.6.

    >>> pair = [[0.9, 0.1]], [[0.8, 0.2]], [[0.6, 0.4]], [[0.7, 0.3]]
    >>> soft_scope_values(*pair, tolerance=0.2, cutoff=0.6).round(9).tolist()
    [0.5]
    """
    pairs = _checked_pairs(
        reference_clean, reference_perturbed, target_clean, target_perturbed, open_vocabulary
    )
    if not 0 <= tolerance <= cutoff < np.inf:
        raise ValueError(f"not 0 <= tolerance {tolerance} <= cutoff {cutoff}")
    reference_change = pairs.reference_clean - pairs.reference_perturbed
    target_change = pairs.target_clean - pairs.target_perturbed
    distance = np.abs(reference_change - target_change).sum(axis=1)
    return _kept(pairs) * _credit(distance, tolerance, cutoff)


def flip_scope_values(
    reference_clean: ArrayLike,
    reference_changed: ArrayLike,
    target_clean: ArrayLike,
    target_changed: ArrayLike,
) -> Values:
    """Return 1 where the target changes to the reference's new label, 0 where it does not.

    Parameters
    ----------
    reference_clean, reference_changed, target_clean, target_changed
        Shape (n,): the labels of both models on the original and on a random candidate.

    Returns
    -------
    Shape (n,); not a number where the reference keeps its label or the models disagree on the
    original: disagreement of old is no flip that the target misses.

    Examples
    --------
    The reference keeps its label on the first candidate; the target follows on the second alone:

    >>> flip_scope_values([0, 0, 0], [0, 1, 1], [0, 0, 0], [0, 1, 0]).tolist()
    [nan, 1.0, 0.0]
    """
    before, after, clean, changed = map(
        np.asarray, (reference_clean, reference_changed, target_clean, target_changed)
    )
    require_same_shape(
        reference_clean=before, reference_changed=after, target_clean=clean, target_changed=changed
    )
    return np.where((before != after) & (clean == before), (changed == after) * 1.0, np.nan)


def informedness_values(
    kept: ArrayLike, flip_scope: ArrayLike, example_ids: Sequence[str]
) -> tuple[Values, Values, tuple[str, ...]]:
    """Return for each example the share kept and Flip-SCoPE, and the examples that have both.

    Parameters
    ----------
    kept
        Shape (n,): 1 where the target keeps its label on a random candidate, 0 where not; not a
        number for a candidate that the reference does not keep.
    flip_scope
        Shape (n,), as `flip_scope_values` gives it.
    example_ids
        The example of each row.

    Returns
    -------
    Two arrays of shape (examples,), each in 0..1, and the examples in order of occurrence. The mean
    of their sum minus 1 is the SCoPE informedness, in -1..1.

    Raises
    ------
    ValueError
        If the lengths differ.

    Examples
    --------
    >>> nan = float("nan")
    >>> kept, flip, examples = informedness_values(
    ...     [1, 0, nan, 1], [nan, nan, 1, nan], ["a", "a", "a", "b"]
    ... )
    >>> kept.tolist(), flip.tolist(), examples
    ([0.5], [1.0], ('a',))
    """
    of_kept, kept_ids = means_by_example(kept, example_ids)
    of_flips, flip_ids = means_by_example(flip_scope, example_ids)
    shares, flips, both = in_both(
        dict(zip(kept_ids, of_kept, strict=True)), dict(zip(flip_ids, of_flips, strict=True))
    )
    return np.array(shares), np.array(flips), tuple(both)


def means_by_example(
    values: ArrayLike, example_ids: Sequence[str]
) -> tuple[Values, tuple[str, ...]]:
    """Return the mean of each example's values that are numbers, and the examples that have any.

    Examples
    --------
    >>> means, examples = means_by_example([1.0, 0.0, float("nan")], ["a", "a", "b"])
    >>> means.tolist(), examples
    ([0.5], ('a',))
    """
    numbers = np.asarray(values, dtype=np.float64)
    if numbers.shape != (len(example_ids),):
        raise ValueError(f"{numbers.shape} values for {len(example_ids)} example ids")
    rows: dict[str, list[float]] = {}
    for example, value in zip(example_ids, numbers.tolist(), strict=True):
        if not math.isnan(value):
            rows.setdefault(example, []).append(value)
    # Sorted: a sum's last bits depend on the order of its terms.
    means = [np.mean(sorted(row)) for row in rows.values()]
    return np.array(means, dtype=np.float64), tuple(rows)


def in_both(
    first: Mapping[str, float], second: Mapping[str, float]
) -> tuple[list[float], list[float], list[str]]:
    """The values of the examples that are in both, in the order of the first, and these examples.

    Examples
    --------
    >>> in_both({"a": 1.0, "b": 0.0}, {"b": 0.5})
    ([0.0], [0.5], ['b'])
    """
    ids = [example for example in first if example in second]
    return [first[example] for example in ids], [second[example] for example in ids], ids


def _kept(pairs: _Pairs) -> Values:
    kept = pairs.labels(pairs.target_clean) == pairs.labels(pairs.target_perturbed)
    return np.asarray(kept, dtype=np.float64)


def _credit(distance: Values, tolerance: float, cutoff: float) -> Values:
    if tolerance == cutoff:
        return np.asarray(distance <= tolerance, dtype=np.float64)
    # Clipped before the division, so that rounding cannot lead out of 0..1.
    width = cutoff - tolerance
    return np.clip(cutoff - distance, 0.0, width) / width


SMALLEST = 1e-6
"""Probabilities below count as this; the same number is the least difference of two moves."""


def moves(
    reference_clean: ArrayLike,
    model_clean: ArrayLike,
    model_changed: ArrayLike,
    *,
    open_vocabulary: bool = False,
) -> Values:
    """How far each change moves a model from the reference's label to its runner-up, in nats.

    Parameters
    ----------
    reference_clean, model_clean, model_changed
        Shape (n, labels), at least two labels: the reference on the original, which decides label
        and runner-up (the first of equals), and the model on the original and the changed text.
    open_vocabulary
        Whether the last column is the mass of all other tokens, which is no label.

    Returns
    -------
    Shape (n,), positive where the change speaks for the runner-up; 0 where no label is another.

    Raises
    ------
    ValueError
        If an array holds no probabilities, or shapes differ.

    Examples
    --------
    The odds of the second label grow from 1 : 4 to 1 : 1:

    >>> moves([[0.8, 0.2]], [[0.8, 0.2]], [[0.5, 0.5]]).round(4).tolist()
    [1.3863]
    """
    reference = checked_probabilities("reference_clean", reference_clean)
    clean = checked_probabilities("model_clean", model_clean)
    changed = checked_probabilities("model_changed", model_changed)
    require_same_shape(reference_clean=reference, model_clean=clean, model_changed=changed)
    labels = reference[:, :-1] if open_vocabulary else reference
    # Servers may name one token alone, the same for every text.
    if not len(reference) or labels.shape[1] < 2:
        return np.zeros(len(reference))
    order = np.argsort(-labels, axis=1, kind="stable")
    rows = np.arange(len(order))

    def odds(shares: Values) -> Values:
        logs = np.log(np.maximum(shares, SMALLEST))
        return np.asarray(logs[rows, order[:, 1]] - logs[rows, order[:, 0]])

    return odds(changed) - odds(clean)


def concordance_values(
    reference_moves: ArrayLike, target_moves: ArrayLike, *, gap: float = 0.1
) -> Values:
    """Return for each pair whether the target orders it as the reference: 1, ½ or 0.

    Parameters
    ----------
    reference_moves, target_moves
        Shape (pairs, 2): the moves at the two changed texts of each pair.
    gap
        Pairs on which the reference's two moves are nearer to each other are left out.

    Returns
    -------
    Shape (pairs,); not a number for a pair that does not count.

    Raises
    ------
    ValueError
        If the shapes differ.

    Examples
    --------
    The target orders the first pair as the reference and not the second, does not move on the
    third; on the fourth the reference hardly moves:

    >>> reference = [[0.0, 1.0], [0.0, 1.0], [2.0, 1.0], [0.0, 0.01]]
    >>> concordance_values(reference, [[0, 3], [3, 0], [5, 5], [0, 3]]).tolist()
    [1.0, 0.0, 0.5, nan]
    """
    reference = np.asarray(reference_moves, np.float64).reshape(-1, 2)
    target = np.asarray(target_moves, np.float64).reshape(-1, 2)
    require_same_shape(reference_moves=reference, target_moves=target)
    wanted, actual = reference[:, 1] - reference[:, 0], target[:, 1] - target[:, 0]
    # Rounded: two moves that differ by the gap but for the last bit count.
    counts = np.abs(wanted).round(9) >= gap
    alike = np.where(np.sign(wanted) == np.sign(actual), 1.0, 0.0)
    return np.where(counts, np.where(np.abs(actual) < SMALLEST, 0.5, alike), np.nan)


class Reach(NamedTuple):
    """The slope, and one value an example whose mean it is, in the order of the examples."""

    slope: float
    values: Values
    example_ids: tuple[str, ...]


FULL_SHARE, MOST_FOLLOWED = 0.8, 4.0
"""The share of the reference's moves with full weight, and the multiple of the greatest of these at
which the target's are cut."""


def reach(
    reference_moves: ArrayLike, target_moves: ArrayLike, example_ids: Sequence[str]
) -> Reach | None:
    """Return how far the target moves where the reference moves by 1; None where it never does.

    A twentieth of the texts carries 43 % of the squares of moves. So both moves at a change are
    multiplied by w = min(1, c / |s_R|), where c is the 80th percentile of |s_R| over the changes
    that move the reference, and the target's product is cut at ±4c. Moves three times as far still
    give a slope of 3.

    Parameters
    ----------
    reference_moves, target_moves
        Shape (n,), one number a changed text.
    example_ids
        The example of each.

    Returns
    -------
    The slope is 1 for the reference itself and 0 for a model that never moves. Each example's value
    is the slope plus its influence on it, so that the standard error of their mean is that of the
    ratio, clustered by example. An influence is divided by (1 - h)², where h is the example's share
    of the squares: without it 20 to 50 examples with heavy tails err up to .064 for .025 on a side,
    with it up to .043.

    Examples
    --------
    >>> halved = reach([1.0, -2.0, 4.0], [0.5, -1.0, 2.0], ["a", "a", "b"])
    >>> halved.slope, halved.values.tolist()
    (0.5, [0.5, 0.5])
    """
    reference, target = np.asarray(reference_moves, float), np.asarray(target_moves, float)
    examples = tuple(dict.fromkeys(example_ids))
    places = {example: place for place, example in enumerate(examples)}
    owners = np.array([places[id_] for id_ in example_ids], dtype=np.intp)
    size = np.abs(reference)
    if not (size >= SMALLEST).any():
        return None
    bound = float(np.quantile(size[size >= SMALLEST], FULL_SHARE))
    weight = np.minimum(1, bound / np.maximum(size, SMALLEST))
    led, most = weight * reference, MOST_FOLLOWED * bound
    followed = np.clip(weight * target, -most, most)
    both = np.bincount(owners, led * followed, len(examples))
    squares = np.bincount(owners, led**2, len(examples))
    slope = both.sum() / squares.sum()
    influence = both - slope * squares
    # Floored: with all of the squares, an example has no influence but its rounding.
    influence /= np.maximum(1 - squares / squares.sum(), 0.1) ** 2
    values = slope + (influence - influence.mean()) * (len(examples) / squares.sum())
    return Reach(float(slope), values, examples)
