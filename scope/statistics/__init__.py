"""How sure the numbers are: intervals, paired tests and corrections, all by original example.

The trials of one example resemble each other, so examples are the units that count, not pairs.
"""

from scope.statistics.corrections import holm
from scope.statistics.differences import absolute, paired_difference, sign_flip_p_value
from scope.statistics.intervals import mean_estimate
from scope.statistics.ratios import chance_corrected_estimate

__all__ = [
    "absolute",
    "chance_corrected_estimate",
    "holm",
    "mean_estimate",
    "paired_difference",
    "sign_flip_p_value",
]
