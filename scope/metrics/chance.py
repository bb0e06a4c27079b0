"""Agreement above chance: κ = (c_obs − c_exp) / (1 − c_exp), and what each item does to it."""

from typing import NamedTuple

import numpy as np

from scope.metrics.arrays import Values

_NO_ROOM = 1e-9
"""Less room above chance than this is the rounding of none."""


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
