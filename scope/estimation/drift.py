"""From how two models follow texts to the numbers that releasers of copies print.

The unit is the text, or its cluster: places of one text are alike. A mean has Student's interval; a
share Wilson's. A quantile has the quantiles at the ends of the interval of the share of places up
to it (Woodruff 1952), the greatest value none. The ratio of perplexities is *e* to a mean.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from operator import attrgetter

import numpy as np
from numpy.typing import NDArray

from scope.records import Estimate, Measurement, Prediction, TextDrift, Undefined
from scope.statistics.intervals import mean_estimate, student_estimate

Number = Estimate | Undefined

Values = NDArray[np.float64]


def drift_measurements(
    texts: Mapping[str, TextDrift], target: str, against: str, capability: str | None = None
) -> tuple[Measurement, ...]:
    """The drift of a target from a reference: KL divergence, top token, perplexity, correlation.

    Parameters
    ----------
    texts
        How both follow each text, by its id; those without numbers are left out.
    capability
        The task whose answers, or whose texts, were followed.

    Examples
    --------
    >>> first = TextDrift(reference=(-1.0, -2.0), target=(-1.5, -2.0), same=(True, False), size=4)
    >>> texts = {"a": first, "b": replace(first, target=(-1.5, -2.5), same=(True, True))}
    >>> by_metric = {row.metric: row.estimate for row in drift_measurements(texts, "copy", "base")}
    >>> print(by_metric["byte_perplexity_ratio"], by_metric["kl"], sep="; ")
    1.206 [0.545, 2.669]; undefined (vocabularies differ)
    """
    # Sorted: a sum's last bits depend on the order of its terms.
    some = {text: drift for text, drift in sorted(texts.items()) if not drift.missing}
    shared = all(drift.divergence for drift in some.values())
    why = Undefined(reason="vocabularies differ" if some else "no text could be followed")
    (divergence, ids), (lost, places), (same, tops) = (
        _by_place(some, values) for values in (attrgetter("divergence"), _lost, attrgetter("same"))
    )
    numbers: dict[str, Number] = {
        "perplexity_ratio" if shared else "byte_perplexity_ratio": _mean(
            lost, places, lambda end: math.exp(min(end, 700.0))
        )
        if some
        else why,
        "log_probability_correlation": why,
        **dict.fromkeys(("kl", *QUANTILES), why),
        "same_top_token": mean_estimate(same, tops, empty=why.reason),
    }
    if shared and some:
        first, second = (_by_place(some, attrgetter(side))[0] for side in ("reference", "target"))
        numbers["log_probability_correlation"] = _correlation(first, second, ids)
        numbers["kl"] = _mean(divergence, ids, lambda end: max(0.0, end))
        for name, share in QUANTILES.items():
            numbers[name] = _quantile(divergence, ids, share)
    return tuple(
        Measurement(
            metric=metric, target=target, against=against, capability=capability, estimate=number
        )
        for metric, number in numbers.items()
    )


def lower_bound(
    predictions: Mapping[str, tuple[Prediction, Prediction]], target: str, against: str
) -> Measurement:
    """What the KL divergence of the next token is at least, of models that name their likeliest.

    The tokens that both name stand by themselves, all others are one: distributions over parts
    differ at most as much as those over tokens.

    Parameters
    ----------
    predictions
        The reference's and the target's prediction, by the id of the text.

    Examples
    --------
    Both name *a*; ½ ln(½ / ¼) + ½ ln(½ / ¾) is ½ ln(4 / 3):

    >>> first = Prediction(tokens=("a", "b"), probabilities=(0.5, 0.25))
    >>> second = Prediction(tokens=("c", "a"), probabilities=(0.5, 0.25))
    >>> print(lower_bound(dict.fromkeys("xyz", (first, second)), "copy", "base").estimate)
    0.144 [0.144, 0.144]
    """
    values = []
    for reference, other in predictions.values():
        first, second = reference.shares(), other.shares()
        named = (first.keys() & second.keys()) - {None}
        pairs = [(first[token], second[token]) for token in named]
        rest = [max(0.0, 1 - math.fsum(pair[side] for pair in pairs)) for side in (0, 1)]
        # Probabilities are kept with six decimals.
        terms = (a * math.log(a / (b + 1e-6)) for a, b in (*pairs, rest) if a > 0)
        values.append(math.fsum(terms))
    number = _mean(np.array(values), [*predictions], lambda end: max(0.0, end))
    return Measurement(metric="kl_lower_bound", target=target, against=against, estimate=number)


QUANTILES = {"kl_median": 0.5, "kl_99": 0.99, "kl_max": 1.0}


def _by_place(
    texts: Mapping[str, TextDrift], values: Callable[[TextDrift], Sequence[float] | Values]
) -> tuple[Values, list[str]]:
    """The values of all texts, and the text of each."""
    rows = {text: np.asarray(values(drift), dtype=np.float64) for text, drift in texts.items()}
    every = np.concatenate([*rows.values(), np.zeros(0)])
    return every, [text for text, row in rows.items() for _ in row]


def _lost(drift: TextDrift) -> Values:
    """By token how much less likely it is to the target; by byte where their tokens differ."""
    if drift.divergence:
        return np.subtract(drift.reference, drift.target)
    lost = math.fsum(drift.reference) - math.fsum(drift.target)
    return np.full(drift.size, lost / max(1, drift.size))


def _mean(values: Values, ids: Sequence[str], change: Callable[[float], float]) -> Number:
    """The mean with its interval, of which value and both ends are changed."""
    number = student_estimate(values, ids)
    if isinstance(number, Undefined):
        return number
    value, low, high = map(change, (number.value, number.low, number.high))
    return replace(number, value=value, low=low, high=high, n=len(set(ids)))


def _correlation(first: Values, second: Values, ids: Sequence[str]) -> Number:
    """Pearson's, as the mean of its influence on each place."""
    if min(np.ptp(first), np.ptp(second)) < 1e-12:
        return Undefined(reason="one model finds all tokens equally likely")
    left, right = ((values - values.mean()) / values.std() for values in (first, second))
    value = float((left * right).mean())
    influence = left * right - value / 2 * (left**2 + right**2)
    return _mean(value + influence, ids, lambda end: min(1.0, max(-1.0, end)))


def _quantile(values: Values, ids: Sequence[str], share: float) -> Number:
    """The least value that is at least as great as a share of them."""

    def at(part: float) -> float:
        return float(np.quantile(values, part, method="inverted_cdf"))

    value = at(share)
    up_to = mean_estimate(values <= value, ids)
    if share == 1 or isinstance(up_to, Undefined):
        return Estimate(value=value, low=value, high=value, n=len(set(ids)), method="the greatest")
    low, high = min(value, at(up_to.low)), max(value, at(up_to.high))
    return replace(up_to, value=value, low=low, high=high, method="Woodruff, clustered by text")
