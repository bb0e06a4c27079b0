"""Concordance and reach: do random changes of a text move the target as they move the reference?

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

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from scope.metrics.arrays import Values, checked_probabilities, require_same_shape

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
