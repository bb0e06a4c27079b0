"""What endpoints will be asked, and what that costs at their prices."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import ceil

from scope.errors import SpecError
from scope.jobs.work import Planned, Work
from scope.printing import did_you_mean

_PRICE = re.compile(r"(\d+(?:\.\d+)?)/(\d+(?:\.\d+)?)")


def priced(work: Sequence[Work], prices: Mapping[str, str]) -> dict[str, float]:
    """The most that the work at each endpoint with a price costs, in the currency of the price.

    Parameters
    ----------
    work
        What endpoints do has no ``seconds``; other work costs nothing.
    prices
        By the model's name: of the tokens sent and of those of replies, per million, such as
        ``{"vendor": "0.15/0.60"}``.

    Raises
    ------
    SpecError
        When a price cannot be read or is that of no endpoint.
    """
    rates = {name: _rates(name, price) for name, price in prices.items()}
    return {name: _price(name, rate, work) for name, rate in rates.items()}


def in_cents(price: float) -> str:
    """The next greater cent: what costs at most this is not said to cost nothing.

    Examples
    --------
    >>> in_cents(0.0018), in_cents(0.25), in_cents(0.0), in_cents(1234.5601)
    ('0.01', '0.25', '0.00', '1,234.57')
    """
    return f"{ceil(round(price * 100, 6)) / 100:,.2f}"


def announcements(planned: Iterable[Planned], prices: Mapping[str, str]) -> Iterator[str]:
    """A line for each endpoint: how many requests it will get, and the most that they cost.

    Raises
    ------
    SpecError
        When a price cannot be read or is that of no endpoint.
    """
    work = [one.measured() for one in planned if one.at_endpoint]
    costs = priced(work, prices)
    for name in dict.fromkeys(one.model for one in work):
        queries = sum(one.queries for one in work if one.model == name)
        cost = f", at most {in_cents(costs[name])}" if name in costs else ""
        yield f"{name}: about {queries:,} requests in all{cost}"


def _rates(name: str, price: str) -> tuple[float, float]:
    found = _PRICE.fullmatch(price)
    if not found:
        raise SpecError(
            f"the price `{price}` of `{name}`",
            expected="IN/OUT: the prices of a million tokens sent and of a million in replies",
            fix=f"write for example --price {name}=0.15/0.60",
        )
    return float(found[1]), float(found[2])


def _price(name: str, rates: tuple[float, float], work: Sequence[Work]) -> float:
    endpoints = [one for one in work if one.seconds is None]
    own = [one for one in endpoints if one.model == name]
    if not own:
        known = {one.model for one in endpoints}
        raise SpecError(
            f"a price for `{name}`",
            expected=f"one of the endpoints: {', '.join(sorted(known)) or 'there are none'}",
            fix=did_you_mean(name, known, "leave out --price"),
        )
    sent, replied = rates
    return sum(one.tokens_in * sent + one.tokens_out * replied for one in own) / 1e6
