"""The data of the strip charts, which show the suspect among the controls. No drawing."""

from __future__ import annotations

import math
from collections.abc import Sequence

from reports.view import wording
from scope.records import Estimate, ModelScore
from scope.sections.charts import SmallStrip, StripDot


def strip_dot(standing: ModelScore) -> StripDot:
    """A model's value as text and as a number.

    >>> strip_dot(ModelScore(model="other", value=-0.25)).title
    'other: −0.250'
    """
    title = f"{standing.model}: {wording.number(standing.value)}"
    return StripDot(title=title, value=standing.value)


def small_strip(
    kind: str, suspect: str, estimate: Estimate, controls: Sequence[ModelScore]
) -> SmallStrip:
    """The strip of one kind of evidence, with its numbers as text."""
    above = at_least(estimate.value, controls)
    return SmallStrip(
        label=f"{kind}: the suspect at {wording.number(estimate.value)}; {above} of "
        f"{len(controls)} controls reach that; the numbers are in the tables",
        controls=tuple(map(strip_dot, controls)),
        suspect=strip_dot(ModelScore(model=suspect, value=estimate.value)),
        low=estimate.low,
        high=estimate.high,
    )


def at_least(value: float, controls: Sequence[ModelScore]) -> int:
    """How many controls are at least as similar to the reference as a model with this value.

    >>> at_least(0.5, [ModelScore(model="a", value=0.5), ModelScore(model="b", value=0.25)])
    1
    """
    return sum(control.value >= value for control in controls)


def threshold(alpha: float, controls: Sequence[ModelScore]) -> float | None:
    """The value that a suspect must exceed for a p-value of at most ``alpha``.

    p = (1 + controls at least as similar) / (controls + 1), so that at most
    ``alpha`` · (controls + 1) − 1 controls may be as similar: the value of the next one is the
    threshold. None if there are too few controls.

    >>> controls = [ModelScore(model=str(place), value=float(place)) for place in range(9)]
    >>> threshold(0.1, controls), threshold(0.2, controls), threshold(0.05, controls)
    (8.0, 7.0, None)
    """
    # α = 0.05 with 19 controls allows none as similar: rounding must not make that −1.
    allowed = math.floor(alpha * (len(controls) + 1) + 1e-9) - 1
    if allowed < 0:
        return None
    return sorted((control.value for control in controls), reverse=True)[allowed]
