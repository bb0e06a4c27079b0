"""The words of a report on a fleet: forecasters and ways of routing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import TypeVar

from scope.records import Estimate, ForecastScore, RouterScore, Undefined
from scope.records.fleet import FEW_QUESTIONS

OPEN_ROWS, OPEN_TALL_ROWS = 28, 12
"""A longer table is folded; one whose rows take three lines sooner."""

MEAN, ROUTER, SINGLE = "mean", "router", "single best"
SAME_MIX = "random with the same mix"
"""The forecaster that knows each model's mean alone, and two ways of routing."""

_ROUTERS: Mapping[str, str] = MappingProxyType(
    {
        SINGLE: "always the one model of the greatest skill: its share of right answers on the "
        "questions learned from, drawn to the fleet’s mean where few of its answers are known",
        SAME_MIX: "a model by chance, each as often as the router asks it",
        "oracle": "any model that is right, where there is one: no router can be better",
    }
)

_BY_SKILL_AND_TEXT = (
    "the model with the greatest routing score, as far as costs allow. The score is a model’s "
    "skill, plus as much of what the text predicts as proved useful on left-out questions: where "
    "none of it did, one model is asked all questions"
)
_BY_PROBABILITY = (
    "the model of which a right answer is forecast with the highest probability, as far as costs "
    "allow"
)
_WEIGHED = ("factors", "irt")
"""The forecasters that find out how much of the text to route by."""

Score = TypeVar("Score", ForecastScore, RouterScore)


def router_meanings(scores: Iterable[RouterScore], forecaster: str) -> tuple[tuple[str, str], ...]:
    """The ways of routing that have a meaning to tell, each once, with it.

    By what the router asks depends on the forecaster in use, given by its spelling.
    """
    weighed = forecaster.partition("(")[0] in _WEIGHED
    meanings = {**_ROUTERS, ROUTER: _BY_SKILL_AND_TEXT if weighed else _BY_PROBABILITY}
    names = dict.fromkeys(score.router for score in scores)
    return tuple((name, meanings[name]) for name in names if name in meanings)


def forecaster_names(spellings: Iterable[str]) -> dict[str, str]:
    """What to call forecasters where there is little room: without parameters, if that is clear.

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
    """The scores on parts of the questions, those on the same part together."""
    parts = [score for score in scores if score.category is not None]
    place = {name: number for number, name in enumerate(dict.fromkeys(x.category for x in parts))}
    return sorted(parts, key=lambda score: place[score.category])


def in_use(scores: Sequence[ForecastScore]) -> ForecastScore | None:
    """The score on all questions of the forecaster in use: the chosen one, or else the first."""
    every = overall(scores)
    return next((score for score in every if score.chosen), every[0] if every else None)


def of_mean(scores: Sequence[ForecastScore]) -> ForecastScore | None:
    """The score on all questions of knowing each model's mean alone."""
    every = overall(scores)
    return next((one for one in every if one.forecaster.partition("(")[0] == MEAN), None)


def beyond_chance(difference: Estimate | Undefined | None) -> str | None:
    """What the interval of a difference says: ``more``, ``less`` or ``unclear``; None without one.

    Of very few questions it says ``few``.

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
