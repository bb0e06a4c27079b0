"""On which terms verdicts are reached."""

from __future__ import annotations

import math
from dataclasses import dataclass

COMPARABLE_SHARE = 0.5
"""Of the controls that an error rate takes, so many must be comparable with the suspect."""

NO_POWER_KNOWN = (
    "it may have been trained on answers of the reference, which this test can miss; if you know "
    "that it was not, add --assume-no-label-training"
)
"""Why a suspect is not cleared of all reuse without the assumption."""


@dataclass(frozen=True, kw_only=True)
class Terms:
    """On which terms the verdicts are reached.

    ``needed`` is the least number of controls, ``comparable`` of those comparable with the suspect.
    ``available`` is the number of questions in the data, None where it is not known.
    """

    alpha: float
    needed: int
    assume_no_label_training: bool = False
    available: int | None = None

    @property
    def comparable(self) -> int:
        """The least number of controls that are comparable with the suspect."""
        return math.ceil(COMPARABLE_SHARE * self.needed)
