"""May a target replace the reference? Its endpoints, from values by text, and the decision.

`ENDPOINTS` has all of them. Each is one number with a limit.

An endpoint is *within* where the one-sided 97.5 % bound clears its limit, *beyond* where the other
bound lies past it. Over several capabilities it is the unweighted mean of their means by text, with
its variance over texts (`pooled`); each capability is an endpoint of its own, at twice the margin.

Where a claim may err less than `ERROR`, as at one look of several (``error``), intervals are as
much wider, and p-values are multiplied by the ratio, so that they are compared with `ERROR`.

A look at part of the planned texts claims with a smaller error than `ERROR`, so that all looks
together have it: the boundaries of O'Brien and Fleming (Biometrics 35, 1979, 549-556) for equally
many texts a look ask for a normal score of c √(K / k) at look k of K. The looks of one plan
and that of a second run err .028 in all (benchmarks/verdict_error_rates_looks.py).

*May replace* if every needed endpoint is within: each must be, so this needs no correction; and no
other one fails alone. *May not* if an endpoint is beyond, corrected by Holm over the endpoints.
Both are said of one target, whatever other targets there are.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Literal, NamedTuple

import numpy as np

from scope.errors import counted
from scope.records import (
    ERROR,
    Endpoint,
    Estimate,
    Replacement,
    ReplacementDecision,
    Undefined,
    are_clustered,
    unit_of,
)
from scope.statistics.intervals import (
    ByText,
    Tails,
    binomial_estimate,
    discordance,
    fewest_texts,
    loss_tails,
    normal_quantile,
    numbers_and_ids,
    paired_tails,
    score_estimate,
    student_quantile,
)
from scope.statistics.paired import holm

Kind = Literal["unchanged", "changed"]


class Measure(NamedTuple):
    """What endpoints of a name measure.

    ``metric`` is that of the measurements; empty where they hold no number of each model. A target
    that is within may replace the reference in ``replaces_in``. ``words`` are its name as people
    read it, ``finding`` what is said of a number. ``differs`` is whether it is written as a
    difference in points even where no limit says so, ``kind`` that of the texts.
    """

    metric: str
    replaces_in: str
    words: str
    finding: str
    differs: bool = False
    kind: Kind = "unchanged"


ENDPOINTS: Mapping[str, Measure] = MappingProxyType(
    {
        "agreement": Measure(
            "iid_agreement", "same answers", "same answers", "other answer on {otherwise} of texts"
        ),
        "accuracy": Measure("iid_accuracy_gap", "accuracy", "accuracy", "{name} {lower}", True),
        "mean score": Measure("", "accuracy", "mean score", "{name} {lower}", True),
        "recovery": Measure("", "accuracy", "recovery", "{share} of {reference}'s accuracy"),
        "recall": Measure("", "accuracy", "recall", "{name} {lower}", True),
        "keeps": Measure(
            "base_rate",
            "robustness",
            "keeps its answer",
            "keeps its answer under {changes} {less}",
            True,
            "changed",
        ),
        "concordance": Measure(
            "concordance",
            "reaction",
            "same reaction",
            "same reaction in {pairs} of 100 pairs of {changes}",
            kind="changed",
        ),
        "reach": Measure(
            "reach", "", "strength of reaction", "reacts{to} {share} as strongly", kind="changed"
        ),
        "accuracy on changed texts": Measure("changed_accuracy", "", "", "", True, "changed"),
    }
)
"""Every measure of an endpoint, what a person cares about first."""

IN_POINTS = {name for name, measure in ENDPOINTS.items() if measure.differs}
"""Measures that are differences even where no limit says so."""


NO_TEXT = Undefined(reason="no text counts")

FEWEST_FOR_A_SLOPE = 20
"""Texts, or clusters of texts, below which a slope's interval is no evidence."""

FEWEST_CLUSTERS = 10
"""Clusters below which no verdict is given."""


def lacking_clusters(example_ids: Collection[str]) -> str:
    """Why texts in few clusters allow no verdict; empty for ten clusters, or without any.

    Examples
    --------
    >>> lacking_clusters(["page 1␟a", "page 2␟b"])
    'the texts lie in 2 clusters, and a verdict needs 10'
    """
    count = len(set(map(unit_of, example_ids)))
    if count >= FEWEST_CLUSTERS or not are_clustered(example_ids):
        return ""
    return f"the texts lie in {counted(count, 'cluster')}, and a verdict needs {FEWEST_CLUSTERS}"


_FEWER = Tails(np.array(1.0), np.array(1.0))

UNEVEN = 1.1
"""Chosen by simulation: with 40 of 300 texts 1 errs up to .033, 1.1 up to .026."""


class Pooled(NamedTuple):
    """One value a text over several capabilities.

    ``unevenness`` is the mean square of the greatest difference that each text can have, to the
    power of 1.1: 1 where each text has all capabilities, more where one has few texts, which weigh
    more.
    """

    values: Mapping[str, float]
    unevenness: float = 1.0


def pooled(parts: Sequence[Mapping[str, float]], *, missing: float | None = 0.0) -> Pooled:
    """One value a text, whose mean is the unweighted mean of the means of the parts.

    Parameters
    ----------
    parts
        The values of each capability, by text; a text may lack some of them.
    missing
        What a text has for a part that it lacks: 0 for differences and 1 for shares, as most texts
        have; None for the part's mean, as slopes need it.

    Examples
    --------
    Of the two texts of the first part the second has one, so that "a" can differ by 1.5, "b" by .5:

    >>> values, unevenness = pooled([{"a": 1.0, "b": 0.0}, {"a": 0.5}])
    >>> values, round(unevenness, 2)
    ({'a': 1.0, 'b': 0.0}, 1.28)
    """
    texts = list(dict.fromkeys(text for part in parts for text in part))
    values, most = np.zeros(len(texts)), np.zeros(len(texts))
    for part in filter(None, parts):
        usual = math.fsum(part.values()) / len(part) if missing is None else missing
        weights = np.array([text in part for text in texts]) * (len(texts) / len(part) / len(parts))
        most += weights
        values += weights * [part.get(text, usual) - usual for text in texts] + usual / len(parts)
    unevenness = float((most**2).mean()) ** UNEVEN if texts else 1.0
    return Pooled(dict(zip(texts, values.tolist(), strict=True)), unevenness)


def judge_differences(
    name: str, differences: ByText, *, margin: float, unevenness: float = 1.0, error: float = ERROR
) -> Endpoint:
    """Judge whether the first model is at most a margin below the second.

    Parameters
    ----------
    name
        The name of the endpoint.
    differences
        First minus second, one number a text, or by its id: fewer than ten clusters of texts show
        nothing.
    margin
        In 0..1.
    unevenness
        That of `pooled`.

    Examples
    --------
    >>> judge_differences("accuracy", [0.0] * 35, margin=0.1).state
    'within'
    """
    values, ids = numbers_and_ids(differences)
    if not values:
        return Endpoint(name=name, estimate=NO_TEXT, limit=-margin)
    seen = discordance(values, ids, unevenness=unevenness)
    estimate = score_estimate(values, ids, unevenness=unevenness, error=error)
    tails = _FEWER if seen.freedom < FEWEST_CLUSTERS - 1 else paired_tails(seen, margin)
    return endpoint_of(name, estimate, tails, error, least=-margin)


def judge_share(
    name: str, scores: ByText, *, least: float, unevenness: float = 1.0, error: float = ERROR
) -> Endpoint:
    """Judge whether the mean of scores in 0..1 is at least ``least``, by exact binomial tails.

    The interval is Clopper and Pearson's, of the effective number of texts.

    Examples
    --------
    >>> print(judge_share("agreement", [1.0] * 100, least=0.95).estimate)
    1.000 [0.964, 1.000]
    """
    values, ids = numbers_and_ids(scores)
    if not values:
        return Endpoint(name=name, estimate=NO_TEXT, limit=least)
    below = np.array(values) - 1
    seen = discordance(below, ids, unevenness=unevenness)
    estimate = binomial_estimate(below, ids, unevenness=unevenness, error=error)
    tails = _FEWER if seen.freedom < FEWEST_CLUSTERS - 1 else loss_tails(seen, 1 - least)
    return endpoint_of(name, estimate, tails, error, least=least)


def judge_slope(
    name: str,
    estimate: Estimate | Undefined,
    *,
    least: float,
    most: float | None = None,
    error: float = ERROR,
) -> Endpoint:
    """Judge whether a mean of any range lies above a limit, and below another one, by Student's t.

    Fewer than twenty texts show nothing. Without a width, as for a copy of the reference, the value
    decides.

    Strength, simulated on moves with heavy tails (benchmarks/verdict_error_rates.py), at 20,
    50, 100 and 300 texts and at the limits .7, 1/.7, .49 and 1/.49: its interval covers .94 to .98.
    A strength at a limit is wrongly within in .03 of cases, wrongly beyond, before the correction
    for all endpoints, in .04; where the strength itself varies twofold between texts, .04 each.

    Examples
    --------
    >>> strength = Estimate(value=0.9, low=0.8, high=1.0, n=50, method="Student")
    >>> judge_slope("reach", strength, least=0.7, most=1.43).state
    'within'
    """
    if isinstance(estimate, Undefined) or estimate.n < FEWEST_FOR_A_SLOPE:
        return Endpoint(name=name, estimate=estimate, limit=least, most=most)
    # Here and not above: scipy.special takes half a second to import.
    from scipy.special import stdtr

    freedom = estimate.n - 1
    deviation = (estimate.high - estimate.low) / 2 / student_quantile(estimate.level, freedom)
    distances = [estimate.value - least, *([] if most is None else [most - estimate.value])]
    t = np.divide(distances, deviation) if deviation else np.copysign(math.inf, distances)
    tails = Tails(stdtr(freedom, -t).max(), stdtr(freedom, t).min())
    return endpoint_of(name, estimate, tails, error, least=least, most=most)


def texts_lacking(endpoint: Endpoint) -> int:
    """Return how many texts an open endpoint needs at least, if it has fewer; else 0.

    Examples
    --------
    >>> texts_lacking(judge_differences("accuracy", [0.0] * 35, margin=0.02))
    189
    """
    needed, limit = FEWEST_FOR_A_SLOPE, endpoint.limit or 0.0
    if limit < 0:
        needed = fewest_texts(-limit)
    elif endpoint.measure == "recovery":
        needed = fewest_texts(1 - limit)
    elif limit and endpoint.measure in ("agreement", "concordance"):
        needed = math.ceil(math.log(ERROR) / math.log(limit))  # all of them alike
    return needed if endpoint.state == "not shown" and endpoint.estimate.n < needed else 0


def endpoint_of(
    name: str,
    estimate: Estimate | Undefined,
    tails: Tails,
    error: float,
    *,
    least: float,
    most: float | None = None,
) -> Endpoint:
    """Return the endpoint of two tails, at the ``error`` of a claim."""
    within, beyond = (min(float(tail) * ERROR / error, 1.0) for tail in tails)
    return Endpoint(
        name=name, estimate=estimate, limit=least, most=most, p_within=within, p_beyond=beyond
    )


SCORES = (normal_quantile(1 - 2 * ERROR), 1.9774, 2.0040, 2.0243)
"""The score that the last of one, two, three or four looks asks for."""

SHARES = (0.0, 0.25, 0.5, 0.75, 0.9, 0.97, 1.0)
ERRORS_OF_SECOND = (0.0031, 0.0042, 0.0062, 0.0105, 0.0167, 0.0229, ERROR)
"""By the share of the first run: with these either run errs in .028, by the two's normal scores.

Holm's correction keeps that less exactly: over fourteen endpoints it is .030.
"""


def error_at(look: int, looks: int) -> float:
    """The one-sided error of a claim at a look, the first being 1.

    Examples
    --------
    >>> [round(error_at(look, 4), 5) for look in (1, 2, 3, 4)]
    [3e-05, 0.0021, 0.00971, 0.02147]
    >>> error_at(1, 1)
    0.025
    """
    return round(math.erfc(SCORES[looks - 1] * math.sqrt(looks / look / 2)) / 2, 9)


def error_of_second(share: float) -> float:
    """The one-sided error of a claim on the texts of two runs, if the first claimed nothing.

    ``share`` is that of the first run's texts, or the squared correlation of the scores of the
    first run and of both, where texts count anew.

    Examples
    --------
    >>> error_of_second(0.5), round(error_of_second(0.6), 4)
    (0.0062, 0.0079)
    """
    return float(np.interp(share, SHARES, ERRORS_OF_SECOND))


def decide(
    endpoints: Mapping[str, Sequence[Endpoint]],
    *,
    degenerate: Mapping[str, str] = MappingProxyType({}),
) -> Iterator[Replacement]:
    """The verdict on each target.

    Parameters
    ----------
    endpoints
        Those of each target, by its name.
    degenerate
        Why a target's answers are no evidence; such a target never may replace.

    Examples
    --------
    >>> from scope.records import Undefined
    >>> none = Undefined(reason="left out")
    >>> good = Endpoint(name="accuracy", estimate=none, limit=-0.02, p_within=0.01)
    >>> bad = Endpoint(name="concordance", estimate=none, limit=-0.05, p_beyond=0.001)
    >>> [verdict.decision for verdict in decide({"one": [good], "two": [good, bad]})]
    ['may replace', 'may not']
    """
    for target, group in endpoints.items():
        yield _verdict(target, corrected(group), degenerate.get(target))


def corrected(endpoints: Sequence[Endpoint]) -> list[Endpoint]:
    """The endpoints of one target, with *beyond* corrected for all that are judged."""
    judged = [end for end in endpoints if end.limit is not None]
    adjusted = iter(holm([end.p_beyond for end in judged]))
    return [
        end if end.limit is None else replace(end, p_adjusted=next(adjusted)) for end in endpoints
    ]


def _verdict(target: str, endpoints: Sequence[Endpoint], degenerate: str | None) -> Replacement:
    judged = [end for end in endpoints if end.limit is not None]
    beyond = tuple(end.name for end in judged if end.state == "beyond")
    unmet = tuple(end.name for end in judged if end.state not in ("within", "not judged"))
    decision: ReplacementDecision = "not shown"
    reason = None
    if beyond:
        decision = "may not"
    elif degenerate:
        reason = degenerate
    elif not judged:
        reason = "no number is judged"
    elif not unmet:
        decision = "may replace"
    measures = (ENDPOINTS[end.measure] for end in judged if end.measure in ENDPOINTS)
    replaces = dict.fromkeys(measure.replaces_in for measure in measures)
    return Replacement(
        target=target,
        decision=decision,
        endpoints=tuple(endpoints),
        may_replace_in=tuple(filter(None, replaces)) if decision == "may replace" else (),
        beyond=beyond,
        open=unmet,
        not_judged=tuple(end.name for end in endpoints if end.limit is None),
        reason=reason,
    )
