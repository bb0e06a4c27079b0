"""The most worth for a budget: one choice a question, costs that add up, and a limit to the sum.

This is the multiple-choice knapsack problem. Its relaxation, in which questions may be split
between models, is solved exactly: at a price per unit of cost, every question takes what is worth
most after its cost, and the price is raised until the budget is kept. What is left of the budget is
then spent one whole question at a time.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from scope.errors import SpecError

Worth = NDArray[np.float64]
"""Shape (questions, models): how much it is worth to give a question to a model."""

Costs = NDArray[np.float64]
"""Shape (models,): the cost of a question."""

Columns = NDArray[np.int64]
"""Shape (questions,): the column of the model that each question is given to."""

ROUNDING = 1e-12
"""Share of a budget that adding up costs may be off by."""


def within_budget(worth: Worth, costs: Costs, budget: float) -> Columns:
    """Choose one column a question so that the sum of worth is great and the mean cost is kept to.

    The sum falls short of the best possible one by less than the gain of a single question's
    change of model, and not at all where there is one question, or the budget suffices for the
    best of every question. Between equals the cheaper one is taken.

    Parameters
    ----------
    worth
        Shape (questions, models).
    costs
        Shape (models,), in ascending order.
    budget
        What a question may cost on average.

    Raises
    ------
    SpecError
        When the cheapest model costs more.

    Examples
    --------
    The dearer model gains 0.5 on the first question and 0.1 on the second; one of them may have it:

    >>> worth = np.array([[0.2, 0.7], [0.6, 0.7]])
    >>> within_budget(worth, np.array([1.0, 3.0]), budget=2.0).tolist()
    [1, 0]
    """
    if not budget >= costs[0] * (1 - ROUNDING):
        raise SpecError(
            f"a budget of {budget:g} a question",
            expected=f"at least {costs[0]:g}, which the cheapest model costs",
            fix="raise the budget, or add a cheaper model",
        )
    room = budget * len(worth) * (1 + ROUNDING)
    best: Columns = worth.argmax(axis=1)
    if costs[best].sum() <= room:
        return best
    cheapest = worth[:, costs == costs[0]].argmax(axis=1)
    low, high = _around(cheapest, best, worth, costs, room)
    chosen = _spent(low, high, worth, costs, room)
    rest = room - costs[chosen].sum()
    affordable = costs <= (costs[chosen] + rest)[:, np.newaxis]
    return _spent(chosen, np.where(affordable, worth, -np.inf).argmax(axis=1), worth, costs, room)


def _around(
    low: Columns, high: Columns, worth: Worth, costs: Costs, room: float
) -> tuple[Columns, Columns]:
    """The choices on both sides of the budget that are best at one and the same price.

    ``low`` is the best choice at some price and within the budget, ``high`` at a lower price and
    above it. The price at which both are worth the same either finds a choice better than both,
    which takes the place of one of them, or it is the price sought.
    """
    every = np.arange(len(worth))
    while True:
        # Where both agree, so does every choice at a price between theirs.
        rows = np.flatnonzero(low != high)
        gained = (worth[every, high] - worth[every, low])[rows].sum()
        price = gained / (costs[high] - costs[low])[rows].sum()
        between = low.copy()
        between[rows] = (worth[rows] - price * costs).argmax(axis=1)
        if not costs[low].sum() < costs[between].sum() < costs[high].sum():
            return low, high
        if costs[between].sum() <= room:
            low = between
        else:
            high = between


def _spent(chosen: Columns, wanted: Columns, worth: Worth, costs: Costs, room: float) -> Columns:
    """Change to what is wanted question by question, greatest gain first, while there is room."""
    every = np.arange(len(worth))
    gains = worth[every, wanted] - worth[every, chosen]
    steps = costs[wanted] - costs[chosen]
    rest = room - costs[chosen].sum()
    changed = chosen.copy()
    for row in np.argsort(-gains, kind="stable")[: int((gains > 0).sum())]:
        if steps[row] <= rest:
            changed[row] = wanted[row]
            rest -= steps[row]
    return changed
