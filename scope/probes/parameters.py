"""What the parameters of a probe may be."""

from __future__ import annotations

import math
from typing import Any

from scope.errors import SpecError
from scope.probes.losses import LOSSES
from scope.probes.recipes import checked_step

_LEAST = {
    "seed": 0,
    "hidden": 1,
    "outputs": 2,
    "components": 1,
    "epochs": 1,
    "batch": 2,
    "patience": 1,
}


def check_parameters(probe: Any) -> None:
    """Raise a SpecError for a parameter of a probe that cannot be, whatever the pairs are."""
    checked_step(probe.step)
    if not (probe.low < probe.high and math.isfinite(probe.high - probe.low)):
        raise SpecError(
            f"scores from {probe.low:g} to {probe.high:g}",
            expected="a finite range, and `low` below `high`",
            fix="give the range of the scores, such as low=0, high=5",
        )
    for name, least in _LEAST.items():
        value = getattr(probe, name)
        if value is not None and value < least:
            raise SpecError(
                f"{name}={value}",
                expected=f"a number from {least}",
                fix=f"give another `{name}`, or leave it out",
            )
    if probe.loss is not None and probe.loss not in LOSSES:
        raise SpecError(
            f"the loss `{probe.loss}`",
            expected=f"one of {', '.join(LOSSES)}",
            fix="name one of these, or leave it out",
        )
