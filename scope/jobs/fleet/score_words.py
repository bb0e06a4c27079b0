"""What a page says of scores: those of all questions or of a category, and chance."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

from reports.prose import Text, prose, written
from reports.wording import points
from scope.records import Estimate, ForecastScore, RouterScore, Undefined
from scope.records.fleet import FEW_QUESTIONS

Score = TypeVar("Score", ForecastScore, RouterScore)


def overall(scores: Iterable[Score]) -> tuple[Score, ...]:
    """The scores on all questions."""
    return tuple(score for score in scores if score.category is None)


def by_category(scores: Iterable[Score]) -> list[Score]:
    """The scores on all questions, then those of each category together."""
    scores = tuple(scores)
    place = {name: number for number, name in enumerate(dict.fromkeys(x.category for x in scores))}
    return sorted(scores, key=lambda one: -1 if one.category is None else place[one.category])


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
    return "few" if difference.n < FEW_QUESTIONS else difference.side


def from_greatest(estimate: Estimate | Undefined) -> float:
    """Sort key: the greatest value first, undefined ones last."""
    return -estimate.value if isinstance(estimate, Estimate) else float("inf")


def share(estimate: Estimate | Undefined) -> Text:
    """A share for a sentence, in two digits.

    >>> from reports.prose import plain
    >>> plain(share(Estimate(value=0.688, low=0.679, high=0.697, n=90, method="bootstrap")))
    '69\xa0% [68, 70]'
    """
    return _in_words(estimate, lambda one: f"{100 * one:.0f}", "\u00a0%")


def gap(estimate: Estimate | Undefined) -> Text:
    """A difference of shares for a sentence.

    >>> from reports.prose import plain
    >>> plain(gap(Estimate(value=-0.071, low=-0.109, high=-0.032, n=90, method="bootstrap")))
    '−7.1 points [−10.9, −3.2]'
    """
    return _in_words(estimate, points, " points")


def _in_words(estimate: Estimate | Undefined, write: Callable[[float], str], unit: str) -> Text:
    if isinstance(estimate, Undefined):
        return written(estimate)
    value, low, high = map(write, (estimate.value, estimate.low, estimate.high))
    return prose(f"{value}{unit} [{low}, {high}]")
