"""The conditions of a verdict."""

from __future__ import annotations

import math
from dataclasses import dataclass

COMPARABLE_SHARE = 0.5
"""The share of the required controls that must be comparable with the suspect."""

NO_POWER_KNOWN = (
    "it may have been trained on answers of the reference, which this test can miss; if you know "
    "that it was not, add --assume-no-label-training"
)
"""The reason why a suspect is not cleared without the assumption."""


@dataclass(frozen=True, kw_only=True)
class Terms:
    """The conditions of all verdicts of a test.

    ``needed`` is the least number of controls. ``available`` is the number of questions in the
    data, None if unknown.
    """

    alpha: float
    needed: int
    assume_no_label_training: bool = False
    available: int | None = None

    @property
    def comparable(self) -> int:
        """The least number of controls that are comparable with the suspect."""
        return math.ceil(COMPARABLE_SHARE * self.needed)
