"""Numbers in texts: those of like size, and their spelling in words and digits."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache
from itertools import pairwise

from perturbations.edits import any_of

GREATEST_SPELLED = 99
"""Greatest number that is written out in one word."""

_YEARS = range(1900, 2100)

DIGITS = re.compile(r"(?<![\w.,:/#@&%+-])(?:\d{1,3}(?:,\d{3}){1,4}|\d{1,15})(?![\w:/#@%]|[.,-]\d)")
"""A whole number of at most 15 digits that is no part of a link, a time, a date or a code."""


@cache
def spelled() -> Mapping[int, str]:
    """The numbers of one word, as num2words writes them, from two on; "one" mostly is a pronoun.

    Examples
    --------
    >>> spelled()[25]
    'twenty-five'
    """
    from num2words import num2words

    return {number: num2words(number) for number in range(2, GREATEST_SPELLED + 1)}


@cache
def known_words() -> Mapping[str, int]:
    """The number of each word."""
    return {word: number for number, word in spelled().items()}


def numbers_in(text: str) -> Iterator[re.Match[str]]:
    """The numbers of a text, but for those beside another, which are parts of one.

    Examples
    --------
    >>> [found[0] for found in numbers_in("Two calls to 555 1234, twenty one seats, 12 rows")]
    ['Two', '12']
    """
    every = [*DIGITS.finditer(text), *any_of(["one", *known_words()]).finditer(text)]
    every.sort(key=re.Match.start)
    gaps = [text[one.end() : other.start()] for one, other in pairwise(every)]
    beside = [gap.isspace() for gap in gaps]
    for before, found, after in zip([False, *beside], every, [*beside, False], strict=False):
        if not before and not after and found[0].lower() != "one":
            yield found


def of_like_size(number: int, spread: float) -> list[int]:
    """Other numbers of as many digits, at most so far away as a share of the number, and as round.

    A number from 1900 to 2099 counts as a year and stays within ten years. 0 and 1 have none, and
    no number becomes one of them: they ask for another grammar.

    Examples
    --------
    >>> of_like_size(10, 0.5), of_like_size(3, 0.5), of_like_size(1999, 0.5)[:3]
    ([11, 12, 13, 14, 15], [2, 4], [1989, 1990, 1991])
    >>> of_like_size(200, 0.5)
    [100, 150, 250, 300]
    """
    if number < 2:
        return []
    if number in _YEARS:
        return [year for year in range(number - 10, number + 11) if year != number]
    step = next(step for step in _steps(number) if number % step == 0)
    reach = max(int(number * spread), 1)
    least = -(-(number - reach) // step) * step
    candidates = range(max(least, 2), number + reach + 1, step)
    if len(candidates) > 1000:
        candidates = candidates[:: len(candidates) // 1000]
    digits = len(str(number))
    return [
        candidate
        for candidate in candidates
        if candidate != number and len(str(candidate)) == digits
    ]


def _steps(number: int) -> list[int]:
    """How round a number may be, the roundest first; 200 changes by 50, 25 by 5."""
    size = 10 ** (len(str(number)) - 1)
    return (
        [size // 2, size // 10, size // 20, 1]
        if size >= 100
        else [*([5] if number > 20 else []), 1]
    )


def as_digits(number: int, original: str) -> str:
    """The number as the original is written, with commas or without.

    Examples
    --------
    >>> as_digits(2500, "1,200"), as_digits(2500, "1200")
    ('2,500', '2500')
    """
    return f"{number:,}" if "," in original else str(number)
