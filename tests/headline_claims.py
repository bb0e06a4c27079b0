"""What the sentences of a page's first section claim, compared with the numbers that are shown.

A test lists the sentences that its kind of page may hold, each with what must be true for it. A
sentence that is not among them is a fault, too: whoever writes a new one says what carries it.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from hypothesis import HealthCheck, Phase, settings, strategies as st

from scope.records import Estimate

_NUMBER = r"[−+]?[\d,]*\.?\d+"
_ESTIMATE = re.compile(rf"({_NUMBER})( %| points)? \[({_NUMBER}), ({_NUMBER})\] \(n = ([\d,]+)\)")
OVERLAPS = r"(?: \(the intervals? of (?P<{}>\d+) other\w*(?: pairs?)? overlaps? with it\))?"
"""The remark behind a greatest or least number; the name of its group is to be filled in."""

drawn = settings(
    max_examples=40,
    deadline=None,
    # Pages take too long to look for the smallest one.
    phases=(Phase.explicit, Phase.generate),
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


class Shown(NamedTuple):
    """A number of a page with its interval, as it is written."""

    value: float
    low: float
    high: float
    n: int


class Said(NamedTuple):
    """A sentence, its numbers, and those of the last sentence before it that has any."""

    match: re.Match
    numbers: Sequence[Shown]
    before: Sequence[Shown]


@dataclass(frozen=True)
class Claim:
    """A sentence, ``#`` for each number with its interval, and what must be true for it."""

    pattern: str
    holds: Callable[[Said, Any], bool] = lambda said, facts: True


def faults(document, claims, facts):
    """The sentences of the first section that are not known, or that nothing carries."""
    for item in document.section("answer").all("li"):
        before = ()
        for sentence in re.split(r"(?<=\.) (?=[A-Z])", item.words):
            numbers = [_shown(match) for match in _ESTIMATE.finditer(sentence)]
            bare = _ESTIMATE.sub("#", sentence)
            known = [(one, re.fullmatch(one.pattern, bare)) for one in claims]
            fitting = [(one, match) for one, match in known if match]
            if not fitting:
                yield f"not known: {bare}"
            elif not any(one.holds(Said(match, numbers, before), facts) for one, match in fitting):
                yield f"not carried: {sentence}"
            before = numbers or before


def strays(document, *, in_percent=False):
    """The numbers of the first section that no table below it has, digit by digit.

    With ``in_percent`` the tables have the shares of which the sentences have per cent.
    """
    below = [
        " ".join(row).replace("+", "")
        for section in document.all("section")
        if section.attributes["id"] != "answer"
        for row in section.cells()
    ]
    for match in _ESTIMATE.finditer(document.section("answer").words):
        value, unit, low, high, n = (part.lstrip("+") for part in match.groups(default=""))
        if in_percent and unit == " %":
            value, low, high = (f"{float(one) / 100:.3f}" for one in (value, low, high))
            unit = ""
        written = (value + unit, f"[{low}, {high}]", n)
        # Of two models the better one is named first, whichever the table has first.
        turned = (_turned(value) + unit, f"[{_turned(high)}, {_turned(low)}]", n)
        if not any(
            all(part in row for part in parts) for row in below for parts in (written, turned)
        ):
            yield match[0]


def _turned(number):
    """The number with the other sign, as pages write it."""
    return number[1:] if number.startswith("−") else number if not float(number) else f"−{number}"


def page_of(comparison, parse):
    """The page as a tree."""
    return parse(comparison.html())


def _shown(match):
    value, _, low, high, n = match.groups()
    numbers = (float(one.replace("−", "-").replace(",", "")) for one in (value, low, high))
    return Shown(*numbers, int(n.replace(",", "")))


def estimates(low=-0.2, high=0.2, least_n=1):
    """Estimates whose intervals often touch or hold 0, or each other."""

    def build(value, below, above, n):
        return Estimate(value=value, low=value - below, high=value + above, n=n, method="made up")

    halves = st.sampled_from((0.0, 0.0003, 0.01, 0.05, 0.3))
    return st.builds(
        build,
        st.floats(low, high, allow_nan=False),
        halves,
        halves,
        st.sampled_from([n for n in (5, 29, 30, 400) if n >= least_n]),
    )


def overlapping(one, others):
    """How many of the others have an interval that overlaps with that of the one."""
    return sum(
        other is not one and one.low <= other.high and other.low <= one.high for other in others
    )


def remarked(said, group):
    """How many rivals the remark names; 0 without one."""
    return int(said.match[group] or 0)


def above_zero(number):
    return number.low > 0


def below_zero(number):
    return number.high < 0


def holds_zero(number):
    return number.low <= 0 <= number.high
