"""Checks that there are enough pairs for the parameters of a step."""

from __future__ import annotations

from scope.errors import DataError
from scope.probes.network import head_size
from scope.probes.recipes import RECIPES, Step


def require_enough_pairs(pairs: int, layers: int, step: Step, hidden: int | None = None) -> None:
    """Check that there are at least as many training pairs as the step's head has parameters.

    The encoders, which start from a closed form or from sentences without labels, do not count.

    Parameters
    ----------
    hidden
        Units of the head's hidden layer; None: as the step has it.

    Raises
    ------
    DataError
        When there are fewer; the message says how small a head would do.

    Examples
    --------
    >>> require_enough_pairs(30, 5, "mlp")
    >>> require_enough_pairs(30, 5, "final")
    Traceback (most recent call last):
    ...
    scope.errors.DataError: found:    30 pairs to train a head of 118 parameters (step final)
    expected: at least 118 pairs with scores
    fix:      give more pairs, or write --hidden 3, or --step raw, which trains none
    """
    if step == "raw":
        return
    smaller = None
    if step == "mlp":
        parameters = layers + 1
    else:
        parameters = head_size(layers, RECIPES[step].hidden if hidden is None else hidden)
        smaller = max(
            (one for one in range(1, pairs) if head_size(layers, one) <= pairs), default=0
        )
    if pairs < parameters:
        way = f"or write --hidden {smaller}, " if smaller else ""
        raise DataError(
            f"{pairs} pairs to train a head of {parameters} parameters (step {step})",
            expected=f"at least {parameters} pairs with scores",
            fix=f"give more pairs, {way}or --step raw, which trains none",
        )
