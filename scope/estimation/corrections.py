"""Correction of several differences for multiple tests."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from scope.records import Difference
from scope.statistics import holm


def corrected(differences: Sequence[Difference]) -> tuple[Difference, ...]:
    """The differences with Holm-corrected p-values; those without one are unchanged."""
    tested = [one.p_value for one in differences if one.p_value is not None]
    adjusted = iter(holm(tested))
    return tuple(
        one if one.p_value is None else replace(one, p_adjusted=next(adjusted))
        for one in differences
    )
