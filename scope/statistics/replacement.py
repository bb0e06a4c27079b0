"""May a target replace the reference? One verdict from several endpoints, corrected.

*May replace* needs all endpoints within: a target's p-value is the greatest of its endpoints', so
it needs no correction over endpoints, and Holm's over targets. *May not* needs one beyond: Holm
over all endpoints of all targets. Either claim is nominally wrong for any target 2.5 % of the time.
"""

from collections.abc import Mapping, Sequence

from scope.records import ERROR, Endpoint, Replacement, ReplacementDecision
from scope.statistics.paired import holm


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
        target: [one for one in given if one.limit is not None]
        for target, given in endpoints.items()
    }
    tests = [(target, one) for target, given in judged.items() for one in given]
    corrected = holm([one.p_beyond for _, one in tests])
    beyond: dict[str, list[str]] = {target: [] for target in endpoints}
    for (target, one), p_value in zip(tests, corrected, strict=True):
        if p_value < ERROR:
            beyond[target].append(one.name)
    worst = [max((one.p_within for one in given), default=1.0) for given in judged.values()]
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
    unmet = tuple(one.name for one in endpoints if one.state in ("beyond", "not shown"))
    decision: ReplacementDecision = "not shown"
    reason = None
    if beyond:
        decision = "may not"
    elif degenerate:
        reason = degenerate
    elif p_within < ERROR:
        decision = "may replace"
    elif all(one.limit is None for one in endpoints):
        reason = "no endpoint is judged"
    elif not unmet:
        doubtful = max(endpoints, key=lambda one: 0.0 if one.limit is None else one.p_within)
        reason = f"{doubtful.name} is within alone, but not once corrected over the targets"
    return Replacement(
        target=target,
        decision=decision,
        endpoints=tuple(endpoints),
        beyond=tuple(beyond),
        open=unmet,
        not_judged=tuple(one.name for one in endpoints if one.limit is None),
        reason=reason,
    )
