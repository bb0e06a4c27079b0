"""Which model is to be asked which question, with costs and a budget where there are any."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from scope.errors import DataError, SpecError
from scope.fleet.findings.budgets import Columns, Costs, within_budget
from scope.records import RouteShare


def route_questions(
    scores: ArrayLike, costs: ArrayLike | None = None, budget: float | None = None
) -> Columns:
    """The column of the model to ask each question, which is the one with the greatest score.

    Between equal scores the cheaper model is asked, then the earlier one. With a budget, the sum of
    scores is made as great as the mean cost of a question allows; it falls short of the greatest
    possible sum by less than what one question gains by another model. What a question is given
    then depends on which others are asked with it.

    Parameters
    ----------
    scores
        Shape (questions, models): how much a question is for a model, as by ``routing_scores``.
    costs
        Shape (models,): what a question costs, in any unit.
    budget
        The greatest mean cost of a question, in the same unit.

    Raises
    ------
    SpecError
        When there is a budget and no costs, or the budget is below what the cheapest model costs.
    DataError
        When a cost is negative or no number.
    ValueError
        If the shapes do not go together, or a score is no number.

    Examples
    --------
    >>> scores = [[0.7, 0.9], [0.6, 0.6], [0.2, 0.8]]
    >>> route_questions(scores).tolist(), route_questions(scores, costs=[3, 1]).tolist()
    ([1, 0, 1], [1, 1, 1])
    >>> route_questions(scores, costs=[1, 3], budget=2).tolist()
    [0, 0, 1]
    """
    worth = np.asarray(scores, dtype=np.float64)
    if worth.ndim != 2 or not worth.shape[1] or not np.isfinite(worth).all():
        raise ValueError(f"scores are finite, one row a question: shape {worth.shape}")
    if costs is None:
        if budget is not None:
            raise SpecError(
                f"a budget of {budget:g} a question, and no costs",
                expected="a budget together with what each model costs",
                fix="give the models' costs, or leave the budget out",
            )
        best: Columns = worth.argmax(axis=1)
        return best
    prices = _checked_costs(costs, worth.shape[1])
    # The first of equals is taken below, and so the cheapest.
    order = np.argsort(prices, kind="stable")
    worth, prices = worth[:, order], prices[order]
    chosen = worth.argmax(axis=1) if budget is None else within_budget(worth, prices, budget)
    models: Columns = order[chosen]
    return models


def single_best(
    skills: ArrayLike, costs: ArrayLike | None = None, budget: float | None = None
) -> int:
    """The column of the one model to ask everything: the most skilled that the budget allows.

    Parameters
    ----------
    skills
        Shape (models,): accuracies on questions other than those to be routed.
    costs, budget
        As for `route_questions`.

    Raises
    ------
    SpecError, DataError, ValueError
        As for `route_questions`.

    Examples
    --------
    >>> single_best([0.5, 0.9, 0.7]), single_best([0.5, 0.9, 0.7], costs=[1, 9, 2], budget=3)
    (1, 2)
    """
    return int(route_questions(np.asarray(skills)[np.newaxis], costs, budget)[0])


def route_mix(chosen: Columns, models: Sequence[str]) -> tuple[RouteShare, ...]:
    """The share of the questions that each model is given, greatest first, without the idle ones.

    Examples
    --------
    >>> for one in route_mix(np.array([2, 0, 2, 2]), ["a", "b", "c"]):
    ...     print(one.model, one.share)
    c 0.75
    a 0.25
    """
    counts = Counter(models[column] for column in chosen.tolist())
    by_share = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return tuple(RouteShare(model=model, share=count / len(chosen)) for model, count in by_share)


def _checked_costs(costs: ArrayLike, models: int) -> Costs:
    found = np.asarray(costs, dtype=np.float64)
    if found.shape != (models,):
        raise ValueError(f"costs of shape {found.shape} for {models} models")
    wrong = ~(np.isfinite(found) & (found >= 0))
    if wrong.any():
        column = int(np.argmax(wrong))
        raise DataError(
            f"the cost {found[column]:g} of the model in column {column}",
            expected="a number of 0 or more for every model",
            fix="correct the cost, or leave the model out",
        )
    return found
