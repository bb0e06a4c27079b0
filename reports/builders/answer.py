"""The parts of a first screen: limits as coloured zones, where, which texts, and what to do."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from types import MappingProxyType

from reports.blocks import Beside, Block, heading
from reports.charts import Colour, SmallStrip
from reports.prose import Style
from reports.wording import short, short_points
from scope.records import Endpoint, Estimate, ReplacementDecision
from scope.records.estimates import State

COLOURS: Mapping[State | ReplacementDecision, Colour] = MappingProxyType(
    {
        "within": "good",
        "beyond": "bad",
        "fails alone": "open",
        "not shown": "open",
        "not judged": "pale",
        "may replace": "good",
        "may not": "bad",
    }
)
"""The colour of each state of a number, and of each decision."""

SIGNS: Mapping[ReplacementDecision, tuple[str, Style]] = MappingProxyType(
    {"may replace": ("✓", "good"), "not shown": ("?", "open"), "may not": ("✗", "alarm")}
)
"""The sign of each decision and its colour, which is never the only mark; in a table's order."""


def by_luck(decisions: Container[str], *, often: str = "1 run of 40") -> str:
    """How often such verdicts are wrong; nothing where none is decided.

    >>> by_luck(["may replace"])
    'A model beyond a limit would get this ✓ by luck in at most 1 run of 40.'
    """
    passes, fails = "may replace" in decisions, "may not" in decisions
    if passes and fails:
        return f"A wrong ✓ or ✗ comes up by luck in at most {often}."
    if passes:
        return f"A model beyond a limit would get this ✓ by luck in at most {often}."
    fail = f"A model within its limits would get this ✗ by bad luck in at most {often}."
    return fail if fails else ""


_MOST_BELOW, _MOST_ABOVE = 8, 6
"""How far a scale reaches below the limit and above equality, in distances between the two."""


def limit_strips(
    endpoints: Sequence[Endpoint | None], name: str, *, in_points: bool = False
) -> list[SmallStrip | str]:
    """One column of limits: each model's number, drawn on one scale with the verdict's interval.

    A number that does not exist is its reason; where nothing was measured there is a dash. A star
    marks a number that is outside by itself, but not once it is corrected for the other limits.

    Examples
    --------
    >>> gap = Estimate(value=-0.01, low=-0.03, high=0.01, n=500, method="Tango")
    >>> (strip,) = limit_strips([Endpoint(name="accuracy", estimate=gap, limit=-0.02)], "Accuracy")
    >>> strip.words, strip.verdict, strip.ends
    ('−0.01 [−0.03, 0.01]', 'open', (-0.04, 0.02))
    """
    write = short_points if in_points else short
    known = [end for end in endpoints if end is not None and isinstance(end.estimate, Estimate)]
    if not known:
        return ["–" if end is None else str(end.estimate) for end in endpoints]
    limit = next((end.limit for end in known if end.limit is not None), None)
    intervals = [end.estimate for end in known if isinstance(end.estimate, Estimate)]
    low, high = min(each.low for each in intervals), max(each.high for each in intervals)
    if limit is None:
        low, high = (min(low, -0.05), max(high, 0.05)) if in_points else (min(low, 0), max(high, 1))
    else:
        equal = 0.0 if limit < 0 else 1.0
        unit = equal - limit
        low = max(min(low, limit - unit), limit - _MOST_BELOW * unit)
        high = min(max(high, equal + unit), equal + _MOST_ABOVE * unit)
    return [
        SmallStrip(
            label=f"{name}: {write(end.estimate)}",
            estimate=end.estimate,
            ends=(low, high),
            least=end.limit,
            most=end.most,
            verdict=COLOURS[end.state],
            words=write(end.estimate) + " *" * (end.state == "fails alone"),
        )
        if end is not None and isinstance(end.estimate, Estimate)
        else "–"
        if end is None
        else str(end.estimate)
        for end in endpoints
    ]


def three_parts(where: Sequence[Block], texts: Sequence[Block], to_do: Sequence[Block]) -> Beside:
    """What stands below the answer: where models differ, examples that show it, what to do."""
    return in_two(
        {"Where they differ": where}, {"Texts that show it": texts}, {"What to do": to_do}
    )


def in_two(*columns: Mapping[str, Sequence[Block]]) -> Beside:
    """Columns of blocks under headings; a heading without blocks is left out.

    >>> len(in_two({"Where": (heading("here"),), "Why": ()}, {"How": ()}).groups)
    1
    """
    return Beside(
        tuple(
            tuple(
                part
                for title, blocks in column.items()
                if blocks
                for part in (heading(title), *blocks)
            )
            for column in columns
            if any(column.values())
        )
    )
