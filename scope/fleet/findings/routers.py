"""A router, compared with the single best model, a random choice and an oracle."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from scope.fleet.findings.budgets import Columns, Costs
from scope.fleet.findings.by_question import (
    Part,
    Shares,
    known_gain,
    known_mean,
    names_at,
    question_parts,
)
from scope.fleet.layout import Answers
from scope.records import RouterScore
from scope.records.fleet import ORACLE, ROUTER, SAME_MIX, SINGLE_BEST


class Router(NamedTuple):
    """A way of routing: how often it is right on each question, and what each costs.

    ``model`` names the one that the single best is.
    """

    name: str
    model: str | None
    shares: Shares
    costs: Costs | None


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
    """Accuracy, cost and the router's gain, of four ways to route: of all, then by category.

    The random router draws a model for each question, with the shares that the router gives to
    the models over all questions; its accuracy is the expected one, not that of a draw. An oracle
    is right wherever any model is known to be; it asks the cheapest one that is right, and the
    cheapest at all where none is.

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

    Raises
    ------
    ValueError
        If lengths do not go together.

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
    if not len(chosen) == len(answers) == len(ids) == len(groups):
        raise ValueError(
            f"{len(chosen)} choices, {len(answers)} questions, {len(ids)} ids, "
            f"{len(groups)} categories"
        )
    if len(models) != answers.shape[1]:
        raise ValueError(f"{len(models)} names for {answers.shape[1]} models")
    prices = None if costs is None else np.asarray(costs, dtype=np.float64)
    routers = (
        _asking(ROUTER, None, chosen, answers, prices),
        _asking(SINGLE_BEST, models[single], np.full(len(answers), single), answers, prices),
        _drawing(chosen, answers, prices),
        _oracle(answers, prices),
    )
    return tuple(
        _score(router, routers[0], part, ids)
        for part in question_parts(groups)
        for router in routers
    )


def _asking(
    name: str, model: str | None, columns: Columns, answers: Answers, costs: Costs | None
) -> Router:
    shares = answers[np.arange(len(answers)), columns].astype(np.float64)
    return Router(name, model, shares, None if costs is None else costs[columns])


def _drawing(chosen: Columns, answers: Answers, costs: Costs | None) -> Router:
    mix = np.bincount(chosen, minlength=answers.shape[1]) / max(len(chosen), 1)
    asked = np.flatnonzero(mix)
    known = ~np.isnan(answers[:, asked])
    right = np.where(known, answers[:, asked], 0) @ mix[asked]
    weight = known @ mix[asked]
    shares = np.divide(right, weight, out=np.full(len(answers), np.nan), where=weight > 0)
    # A sum of shares may exceed 1 by its last bit.
    return Router(
        SAME_MIX,
        None,
        np.minimum(shares, 1.0),
        None if costs is None else np.full(len(answers), costs @ mix),
    )


def _oracle(answers: Answers, costs: Costs | None) -> Router:
    right = answers == 1
    known = ~np.isnan(answers).all(axis=1)
    shares = np.where(known, right.any(axis=1), np.nan)
    if costs is None:
        return Router(ORACLE, None, shares, None)
    cheapest_right = np.where(right, costs, np.inf).min(axis=1)
    return Router(
        ORACLE, None, shares, np.where(np.isinf(cheapest_right), costs.min(), cheapest_right)
    )


def _score(router: Router, judged: Router, part: Part, ids: Sequence[str]) -> RouterScore:
    """How a way of routing does on a part of the questions, and how far the judged one is ahead."""
    rows, names = part.rows, names_at(part.rows, ids)
    return RouterScore(
        router=router.name,
        model=router.model,
        accuracy=known_mean(router.shares[rows], names),
        cost=None if router.costs is None or not len(rows) else float(router.costs[rows].mean()),
        gain=(
            None
            if router is judged
            else known_gain(judged.shares[rows], router.shares[rows], names)
        ),
        category=part.category,
    )
