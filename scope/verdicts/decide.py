"""The decision on each target, from its endpoints.

*May replace* if every needed endpoint is within: each must be, so this needs no correction; and no
other one fails alone. *May not* if an endpoint is beyond, corrected by Holm over the endpoints.
Both are said of one target, whatever other targets there are.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

from scope.records import Endpoint, Replacement, ReplacementDecision
from scope.statistics.paired import holm

REPLACES_IN: Mapping[str, str] = MappingProxyType(
    {
        "accuracy": "accuracy",
        "mean score": "accuracy",
        "recovery": "accuracy",
        "recall": "accuracy",
        "agreement": "same answers",
        "keeps": "robustness",
        "concordance": "reaction",
    }
)
"""In what a target that is within on a measure may replace the reference; strength alone in none.
"""


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
    measures = (end.measure for end in judged)
    replaces = dict.fromkeys(REPLACES_IN[name] for name in measures if name in REPLACES_IN)
    return Replacement(
        target=target,
        decision=decision,
        endpoints=tuple(endpoints),
        may_replace_in=tuple(replaces) if decision == "may replace" else (),
        beyond=beyond,
        open=unmet,
        not_judged=tuple(end.name for end in endpoints if end.limit is None),
        reason=reason,
    )
