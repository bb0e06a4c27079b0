"""How likely does a planned audit show *may replace*, and how many texts does it take?

Power is exact for texts that differ fully or not at all: summed over all counts of gains and
losses. That of a verdict is the product over its endpoints, as if they were independent; where a
text on which one endpoint fails is likely one on which others do, it is greater.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike

from scope.records import ERROR, Endpoint, Replacement, ReplacementDecision
from scope.statistics.margins import (
    Discordance,
    Numbers,
    by_text,
    discordance,
    loss_tails,
    paired_within,
)
from scope.statistics.paired import holm

_DEVIATIONS = 6


@dataclass(frozen=True, kw_only=True, slots=True)
class PlannedEndpoint:
    """An endpoint with its margin, before the target answers.

    ``share`` is how many (effective) texts count for each row of the data: the yield.
    The two models are as good on average; ``discordance`` is the share of texts, half for either,
    that differ; None for two made-up texts however many count.
    ``least`` rows serve the endpoint however few are planned.
    ``against_one`` compares with the score 1, where texts can only be lost: half of them are.
    """

    name: str
    margin: float
    share: float = 1.0
    discordance: float | None = None
    against_one: bool = False
    least: int = 0


def planned_from(
    name: str,
    first: ArrayLike,
    second: ArrayLike | None,
    example_ids: Sequence[str],
    *,
    margin: float,
    rows: int,
    least: int = 0,
) -> PlannedEndpoint:
    """Return an endpoint as ``rows`` rows show it, with two made-up discordant texts.

    Without a second model the first is compared with the score 1, and the losses seen are assumed.

    Examples
    --------
    Of 40 rows 20 count; none differs, so 2 of 20 are assumed to:

    >>> ids = [str(text) for text in range(20)]
    >>> planned_from("synonym", [1] * 20, [1] * 20, ids, margin=0.05, rows=40).discordance
    0.1
    """
    against_one = second is None
    other = np.ones_like(np.asarray(first, dtype=np.float64)) if second is None else second
    seen = discordance(by_text(first, other, example_ids))
    return PlannedEndpoint(
        name=name,
        margin=margin,
        share=float(seen.n) / rows,
        discordance=float(((1 + against_one) * (seen.gains + seen.losses) + 2) / seen.n),
        against_one=against_one,
        least=least,
    )


@lru_cache
def endpoint_power(planned: PlannedEndpoint, rows: int, *, error: float = ERROR) -> float:
    """Return how likely the endpoint is within.

    Examples
    --------
    >>> round(endpoint_power(PlannedEndpoint(name="accuracy", margin=0.05), 200), 2)
    0.99
    """
    # Here and not above: scipy.special takes half a second to import.
    from scipy.special import betainc, gammaln, xlogy

    n = _fewest_that_count(planned, rows)
    if n < 1:
        return 0.0
    discordant = 2 / n if planned.discordance is None else planned.discordance
    loss = min(discordant / 2, 0.5)
    gain = 0.0 if planned.against_one else loss
    losses = _likely(n, loss)
    rest = n - losses
    logs = gammaln(n + 1) - gammaln(losses + 1) - gammaln(rest + 1)
    likely = np.exp(logs + xlogy(losses, loss) + xlogy(rest, 1 - loss))
    gains = _fewest_gains(planned, losses, n, error)
    reached = betainc(np.maximum(gains, 1), np.maximum(rest - gains + 1, 1), gain / (1 - loss))
    reached = np.where(gains > rest, 0.0, np.where(gains == 0, 1.0, reached))
    return float((likely * reached).sum())


def _fewest_gains(planned: PlannedEndpoint, losses: Numbers, n: int, error: float) -> Numbers:
    """Return the fewest gains, by losses, that give *within*: more gains lower the p-value.

    One more than possible if no number suffices.
    """
    few, enough = np.full_like(losses, -1), n - losses + 1
    for _ in range(n.bit_length() + 1):
        gains = np.maximum((few + enough) // 2, 0)
        seen = Discordance(gains, losses, np.full_like(losses, n))
        if planned.against_one:
            within = loss_tails(seen, planned.margin).within < error
        else:
            within = paired_within(seen, planned.margin) < error
        few, enough = np.where(within, few, gains), np.where(within, gains, enough)
    return enough


def joint_power(plan: Sequence[PlannedEndpoint], rows: int, *, targets: int = 1) -> float:
    """Return how likely a target may replace, were all as assumed, with Bonferroni over targets.

    Examples
    --------
    >>> plan = [PlannedEndpoint(name="accuracy", margin=0.05),
    ...         PlannedEndpoint(name="synonym", margin=0.05, share=0.5)]
    >>> joint_power(plan, 100), round(joint_power(plan, 600), 2)
    (0.0, 1.0)
    """
    return math.prod(endpoint_power(endpoint, rows, error=ERROR / targets) for endpoint in plan)


def texts_for_power(
    plan: Sequence[PlannedEndpoint], *, power: float = 0.8, targets: int = 1, most: int = 20_000
) -> int | None:
    """Return the number of rows that gives the verdict this power; None if it exceeds ``most``.

    Examples
    --------
    >>> texts_for_power([PlannedEndpoint(name="accuracy", margin=0.05)])
    124
    """
    few, enough = 0, 32
    while joint_power(plan, enough, targets=targets) < power:
        few, enough = enough, 2 * enough
        if enough > most:
            return None
    while enough - few > 1:
        middle = (few + enough) // 2
        reached = joint_power(plan, middle, targets=targets) >= power
        few, enough = (few, middle) if reached else (middle, enough)
    return enough


def _fewest_that_count(planned: PlannedEndpoint, rows: int) -> int:
    """Return one standard deviation fewer than are expected: the yield varies, too."""
    rows = max(rows, planned.least)
    deviation = math.sqrt(rows * planned.share * max(1 - planned.share, 0.0))
    return max(0, math.floor(rows * planned.share - deviation))


def _likely(n: int, share: float) -> Numbers:
    width = _DEVIATIONS * math.sqrt(n * share) + _DEVIATIONS
    if not share:
        return np.zeros(1)
    low, high = math.floor(n * share - width), math.ceil(n * share + width)
    return np.arange(max(0, low), min(n, high) + 1, dtype=np.float64)


def verdicts(
    endpoints: Mapping[str, Sequence[Endpoint]], *, degenerate: Mapping[str, str] | None = None
) -> tuple[Replacement, ...]:
    """Return the verdict on each target, corrected over all of them.

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
    >>> [verdict.decision for verdict in verdicts({"one": [good], "two": [good, bad]})]
    ['may replace', 'may not']
    """
    judged = {
        target: [endpoint for endpoint in group if endpoint.limit is not None]
        for target, group in endpoints.items()
    }
    tests = [(target, endpoint) for target, group in judged.items() for endpoint in group]
    corrected = holm([endpoint.p_beyond for _, endpoint in tests])
    beyond: dict[str, list[str]] = {target: [] for target in endpoints}
    for (target, endpoint), p_value in zip(tests, corrected, strict=True):
        if p_value < ERROR:
            beyond[target].append(endpoint.name)
    worst = [
        max((endpoint.p_within for endpoint in group), default=1.0) for group in judged.values()
    ]
    return tuple(
        _verdict(target, endpoints[target], beyond[target], p_value, (degenerate or {}).get(target))
        for target, p_value in zip(endpoints, holm(worst), strict=True)
    )


def _verdict(
    target: str,
    endpoints: Sequence[Endpoint],
    beyond: Sequence[str],
    p_within: float,
    degenerate: str | None,
) -> Replacement:
    unmet = tuple(
        endpoint.name for endpoint in endpoints if endpoint.state in ("beyond", "not shown")
    )
    decision: ReplacementDecision = "not shown"
    reason = None
    if beyond:
        decision = "may not"
    elif degenerate:
        reason = degenerate
    elif p_within < ERROR:
        decision = "may replace"
    elif all(endpoint.limit is None for endpoint in endpoints):
        reason = "no endpoint is judged"
    elif not unmet:
        doubtful = max(
            endpoints, key=lambda endpoint: 0.0 if endpoint.limit is None else endpoint.p_within
        )
        reason = (
            f"{doubtful.name}, {doubtful.estimate}, is within alone, but not once corrected over "
            "the targets"
        )
    return Replacement(
        target=target,
        decision=decision,
        endpoints=tuple(endpoints),
        beyond=tuple(beyond),
        open=unmet,
        not_judged=tuple(endpoint.name for endpoint in endpoints if endpoint.limit is None),
        reason=reason,
    )
