"""Routing under a budget, and scores of routers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from scope.errors import SpecError
from scope.jobs.fleet.questions import Answers
from scope.jobs.fleet.scores import (
    Part,
    Shares,
    known_gain,
    known_mean,
    means_of_known,
    names_at,
    question_parts,
)
from scope.records import RouterScore, RouteShare
from scope.records.fleet import BEST_PER_BENCHMARK, ORACLE, ROUTER, SAME_MIX, SINGLE_BEST

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

    Examples
    --------
    >>> scores = [[0.7, 0.9], [0.6, 0.6], [0.2, 0.8]]
    >>> route_questions(scores).tolist(), route_questions(scores, costs=[3, 1]).tolist()
    ([1, 0, 1], [1, 1, 1])
    >>> route_questions(scores, costs=[1, 3], budget=2).tolist()
    [0, 0, 1]
    """
    worth = np.asarray(scores, dtype=np.float64)
    if costs is None and budget is not None:
        raise SpecError(
            f"a budget of {budget:g} a question, and no costs",
            expected="a budget together with what each model costs",
            fix="give the models' costs, or leave the budget out",
        )
    prices = _prices(costs, worth.shape[1])
    # The first of equals is taken below, and so the cheapest.
    order = np.argsort(prices, kind="stable")
    worth, prices = worth[:, order], prices[order]
    chosen = worth.argmax(axis=1) if budget is None else within_budget(worth, prices, budget)
    models: Columns = order[chosen]
    return models


def _prices(costs: ArrayLike | None, models: int) -> Costs:
    """The models' costs, NaN where they are unknown."""
    return np.full(models, np.nan) if costs is None else np.asarray(costs, dtype=np.float64)


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
    SpecError
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
    >>> for row in route_mix(np.array([2, 0, 2, 2]), ["a", "b", "c"]):
    ...     print(row.model, row.share)
    c 0.75
    a 0.25
    """
    counts = Counter(models[column] for column in chosen.tolist())
    by_share = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return tuple(RouteShare(model=model, share=count / len(chosen)) for model, count in by_share)


class Router(NamedTuple):
    """A way of routing: how often it is right on each question, and what each costs.

    ``model`` names the one that the single best is.
    """

    name: str
    model: str | None
    shares: Shares
    costs: Costs


def router_scores(
    chosen: Columns,
    answers: Answers,
    ids: Sequence[str],
    *,
    models: Sequence[str],
    single: int,
    categories: Sequence[str | None] | None = None,
    costs: ArrayLike | None = None,
) -> tuple[RouterScore, ...]:
    """Accuracy, cost and the router's gain, of the ways to route: of all, then by category.

    The random router draws a model for each question, with the shares that the router gives to
    the models over all questions; its accuracy is the expected one, not that of a draw. An oracle
    is right wherever any model is known to be; it asks the cheapest one that is right, and the
    cheapest at all where none is. Where there are categories, the best model of each on these same
    questions is a bound on every router that sees the category alone; with few questions it is
    flattered by chance.

    A question counts for a way of routing only where an answer that it might get is known, and for
    a gain only where it counts for both; ``n`` says how many do. Of the random router's models,
    those with a known answer share what the others would have been given.

    Parameters
    ----------
    chosen
        Shape (questions,): the router's columns, as by `route_questions`.
    answers
        Shape (questions, models): 1 right, 0 wrong, NaN unknown.
    ids
        The questions'; those of one id count as one in the intervals.
    models
        Their names.
    single
        The column of the single best model, as by `single_best`.
    categories
        The questions'; None for a question that counts towards all alone.
    costs
        Shape (models,): what a question costs.

    Examples
    --------
    Two models, each right on one of two questions, and a router that knows which:

    >>> answers = np.array([[1, 0], [0, 1]], dtype=np.float32)
    >>> scores = router_scores(
    ...     np.array([0, 1]), answers, ["a", "b"], models=["this", "that"], single=0
    ... )
    >>> for score in scores:
    ...     print(score.router, score.model, score.accuracy.value)
    router None 1.0
    single best this 0.5
    random with the same mix None 0.5
    oracle None 1.0
    """
    groups = [None] * len(ids) if categories is None else categories
    prices = _prices(costs, len(models))
    routers = (
        _asking(ROUTER, None, chosen, answers, prices),
        _asking(SINGLE_BEST, models[single], np.full(len(answers), single), answers, prices),
        *([_best_per_benchmark(answers, groups, prices)] if any(groups) else []),
        _drawing(chosen, answers, prices),
        _oracle(answers, prices),
    )
    return tuple(
        _score(router, routers[0], part, ids)
        for part in question_parts(groups)
        for router in routers
    )


def _asking(
    name: str, model: str | None, columns: Columns, answers: Answers, costs: Costs
) -> Router:
    shares = answers[np.arange(len(answers)), columns].astype(np.float64)
    return Router(name, model, shares, costs[columns])


def _best_per_benchmark(answers: Answers, categories: Sequence[str | None], costs: Costs) -> Router:
    columns = np.zeros(len(answers), dtype=np.int64)
    for part in question_parts(categories)[1:]:
        inside = answers[part.rows].T
        shares = means_of_known(inside, ~np.isnan(inside))
        columns[part.rows] = np.nan_to_num(shares, nan=-1).argmax()
    router = _asking(BEST_PER_BENCHMARK, None, columns, answers, costs)
    without = np.array([category is None for category in categories])
    return router._replace(shares=np.where(without, np.nan, router.shares))


def _drawing(chosen: Columns, answers: Answers, costs: Costs) -> Router:
    mix = np.bincount(chosen, minlength=answers.shape[1]) / max(len(chosen), 1)
    known = ~np.isnan(answers)
    right, weight = np.where(known, answers, 0) @ mix, known @ mix
    shares = np.divide(right, weight, out=np.full(len(answers), np.nan), where=weight > 0)
    # A sum of shares may exceed 1 by its last bit.
    return Router(SAME_MIX, None, np.minimum(shares, 1.0), np.full(len(answers), costs @ mix))


def _oracle(answers: Answers, costs: Costs) -> Router:
    right = answers == 1
    shares = np.where(np.isnan(answers).all(axis=1), np.nan, right.any(axis=1))
    cheapest_right = np.where(right, costs, np.inf).min(axis=1)
    spent = np.where(np.isinf(cheapest_right), costs.min(), cheapest_right)
    return Router(ORACLE, None, shares, spent)


def _score(router: Router, judged: Router, part: Part, ids: Sequence[str]) -> RouterScore:
    """The score of a router on some questions, and the gain of ``judged`` over it."""
    rows, names = part.rows, names_at(part.rows, ids)
    cost = float(router.costs[rows].mean()) if len(rows) else np.nan
    return RouterScore(
        router=router.name,
        model=router.model,
        accuracy=known_mean(router.shares[rows], names),
        cost=None if np.isnan(cost) else cost,
        gain=None
        if router is judged
        else known_gain(judged.shares[rows], router.shares[rows], names),
        category=part.category,
    )
