"""From how two models follow texts to the numbers that releasers of copies print.

The unit is the text, or its cluster: places of one text are alike. A mean has Student's interval; a
share Wilson's. A quantile has the quantiles at the ends of the interval of the share of places up
to it (Woodruff 1952), the greatest value none. The ratio of perplexities is *e* to a mean.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from scope.records import Estimate, Measurement, TextDrift, Undefined, unit_of
from scope.statistics.intervals import jackknife_half, mean_estimate, student_estimate

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
    of_tokens: Callable[..., tuple[Values, list[str]]] = partial(_by_place, some)
    divergence, ids = of_tokens(lambda drift: drift.divergence if shared else ())
    lost, tokens = of_tokens(_lost if shared else _lost_by_byte)
    same, places = of_tokens(lambda drift: drift.same)
    none = "no text could be followed" if not some else "" if shared else "vocabularies differ"
    numbers: dict[str, Number] = {
        "perplexity_ratio" if shared else "byte_perplexity_ratio": _exponential(lost, tokens, none),
        "log_probability_correlation": Undefined(reason=none) if none else _correlation(some),
        "kl": Undefined(reason=none) if none else _at_least_0(student_estimate(divergence, ids)),
        **{name: _quantile(divergence, ids, share, none) for name, share in QUANTILES.items()},
        "same_top_token": mean_estimate(same, places, empty=none),
    }
    return tuple(
        Measurement(
            metric=metric, target=target, against=against, capability=capability, estimate=number
        )
        for metric, number in numbers.items()
    )


QUANTILES = {"kl_median": 0.5, "kl_99": 0.99, "kl_max": 1.0}


def _by_place(
    texts: Mapping[str, TextDrift], values: Callable[[TextDrift], Sequence[float]]
) -> tuple[Values, list[str]]:
    """The values of all texts, and the text of each."""
    rows = {text: values(drift) for text, drift in texts.items()}
    every = [np.asarray(row, dtype=np.float64) for row in rows.values()]
    ids = [text for text, row in rows.items() for _ in row]
    return np.concatenate(every) if every else np.zeros(0), ids


def _lost(drift: TextDrift) -> Values:
    return np.subtract(drift.reference, drift.target)


def _lost_by_byte(drift: TextDrift) -> Values:
    """What the target's log-probability of the text is lower, spread over its bytes."""
    lost = math.fsum(drift.reference) - math.fsum(drift.target)
    return np.full(drift.size, lost / max(1, drift.size))


def _exponential(values: Values, ids: Sequence[str], none: str) -> Number:
    mean = student_estimate(values, ids) if len(ids) else Undefined(reason=none)
    if isinstance(mean, Undefined):
        return mean
    value, low, high = np.exp([mean.value, mean.low, mean.high]).tolist()
    if not math.isfinite(high):
        return Undefined(reason="its interval has no end", n=mean.n)
    return replace(mean, value=value, low=low, high=high)


def _at_least_0(mean: Number) -> Number:
    return mean if isinstance(mean, Undefined) else replace(mean, low=max(0.0, mean.low))


def _quantile(values: Values, ids: Sequence[str], share: float, none: str) -> Number:
    """The least value that is at least as great as a share of them."""
    if not len(values):
        return Undefined(reason=none)

    def at(part: float) -> float:
        return float(np.quantile(values, part, method="inverted_cdf"))

    value = at(share)
    up_to = mean_estimate(values <= value, ids)
    if share == 1 or isinstance(up_to, Undefined):
        return Estimate(value=value, low=value, high=value, n=len(set(ids)), method="the greatest")
    low, high = min(value, at(up_to.low)), max(value, at(up_to.high))
    return replace(up_to, value=value, low=low, high=high, method="Woodruff, clustered by text")


def _correlation(texts: Mapping[str, TextDrift]) -> Number:
    """Of both models' log-probabilities of the tokens; texts are left out in turn."""
    sums: dict[str, Values] = {}
    for text, drift in texts.items():
        first, second = np.asarray(drift.reference), np.asarray(drift.target)
        columns = (first * 0 + 1, first, second, first**2, second**2, first * second)
        unit = unit_of(text)
        sums[unit] = sums.get(unit, 0) + np.array([column.sum() for column in columns])
    rows = np.array([sums[unit] for unit in sorted(sums)])
    if len(rows) < 3:
        return Undefined(reason="fewer than 3 texts", n=len(rows))
    total = rows.sum(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        value, without = float(_pearson(total)), _pearson(total - rows)
    if not (math.isfinite(value) and np.isfinite(without).all()):
        return Undefined(reason="one side is the same for all tokens", n=len(rows))
    if max(abs(value), np.abs(without).max()) > 1 - 1e-9:
        value = max(-1.0, min(1.0, value))
        return Estimate(value=value, low=value, high=value, n=len(rows), method="on one line")
    half = float(jackknife_half(np.arctanh(without)))
    low, high = (math.tanh(math.atanh(value) + sign * half) for sign in (-1, 1))
    return Estimate(value=value, low=low, high=high, n=len(rows), method="jackknife over texts")


def _pearson(sums: Values) -> Values:
    """Correlations from sums: of 1, of each side, of their squares, and of their products."""
    count, first, second, squares, others, products = sums.T
    spread = (count * squares - first**2) * (count * others - second**2)
    correlations: Values = (count * products - first * second) / np.sqrt(spread)
    return correlations
