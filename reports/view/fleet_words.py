"""The words of a report on a fleet: forecasters and routing strategies."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import TypeVar

from scope.records import Estimate, ForecastScore, RouterScore, Undefined
from scope.records.fleet import FEW_QUESTIONS

OPEN_ROWS, OPEN_TALL_ROWS = 28, 12
"""The most rows of a table that is not folded, of one line and of three lines a row."""

MEAN, ROUTER, SINGLE = "mean", "router", "single best"
SAME_MIX = "random with the same mix"
"""The forecaster that predicts each model's mean, and routing strategies."""

_ROUTERS: Mapping[str, str] = MappingProxyType(
    {
        SINGLE: "always the model with the highest skill, its accuracy on the training questions, "
        "shrunk towards the fleet’s mean if few of its answers are known",
        SAME_MIX: "a random model, with the same frequencies as the router",
        "oracle": "a model that answers correctly, if there is one: the upper bound of any router",
    }
)

_BY_SKILL_AND_TEXT = (
    "the model with the highest routing score, subject to costs. The score is a model’s skill plus "
    "the prediction from the text, with a weight from cross-validation; with weight 0 one model "
    "gets all questions"
)
_BY_PROBABILITY = (
    "the model with the highest predicted probability of a correct answer, subject to costs"
)
_WEIGHED = ("factors", "irt")
"""The forecasters that learn a weight of the text for routing."""

Score = TypeVar("Score", ForecastScore, RouterScore)


def router_meanings(scores: Iterable[RouterScore], forecaster: str) -> tuple[tuple[str, str], ...]:
    """The routing strategies that need an explanation, each once, with it.

    The explanation of the router depends on the forecaster in use, given by its spelling.
    """
    weighed = forecaster.partition("(")[0] in _WEIGHED
    meanings = {**_ROUTERS, ROUTER: _BY_SKILL_AND_TEXT if weighed else _BY_PROBABILITY}
    names = dict.fromkeys(score.router for score in scores)
    return tuple((name, meanings[name]) for name in names if name in meanings)


def forecaster_names(spellings: Iterable[str]) -> dict[str, str]:
    """Short names of forecasters: without parameters if these are still distinct.

    >>> forecaster_names(["mean", "knn(neighbours=15)", "factors(dimensions=8)"])
    {'mean': 'mean', 'knn(neighbours=15)': 'knn', 'factors(dimensions=8)': 'factors'}
    >>> forecaster_names(["knn(neighbours=15)", "knn()"])
    {'knn(neighbours=15)': 'knn(neighbours=15)', 'knn()': 'knn()'}
    """
    every = tuple(dict.fromkeys(spellings))
    heads = Counter(one.partition("(")[0] for one in every)
    return {
        one: one.partition("(")[0] if heads[one.partition("(")[0]] == 1 else one for one in every
    }


def overall(scores: Sequence[ForecastScore]) -> tuple[ForecastScore, ...]:
    """The scores on all questions."""
    return tuple(score for score in scores if score.category is None)


def by_category(scores: Iterable[Score]) -> list[Score]:
    """The scores by category, those of the same category together."""
    parts = [score for score in scores if score.category is not None]
    place = {name: number for number, name in enumerate(dict.fromkeys(x.category for x in parts))}
    return sorted(parts, key=lambda score: place[score.category])


def in_use(scores: Sequence[ForecastScore]) -> ForecastScore | None:
    """The overall score of the forecaster in use: the chosen one, otherwise the first."""
    every = overall(scores)
    return next((score for score in every if score.chosen), every[0] if every else None)


def of_mean(scores: Sequence[ForecastScore]) -> ForecastScore | None:
    """The overall score of predicting each model's mean."""
    every = overall(scores)
    return next((one for one in every if one.forecaster.partition("(")[0] == MEAN), None)


def beyond_chance(difference: Estimate | Undefined | None) -> str | None:
    """The side of 0 of an interval: ``more``, ``less`` or ``unclear``; None without an interval.

    With very few questions it is ``few``.

    >>> beyond_chance(Estimate(value=0.1, low=0.05, high=0.2, n=90, method="bootstrap"))
    'more'
    >>> beyond_chance(Estimate(value=0.1, low=-0.05, high=0.2, n=90, method="bootstrap"))
    'unclear'
    >>> beyond_chance(Estimate(value=0.1, low=0.05, high=0.2, n=9, method="bootstrap"))
    'few'
    """
    if not isinstance(difference, Estimate):
        return None
    if difference.n < FEW_QUESTIONS:
        return "few"
    return difference.side
