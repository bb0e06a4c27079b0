"""Uncertainty of the numbers: intervals, paired tests, ranks among controls and corrections.

The trials of one example are dependent, so examples, not pairs, are the units of analysis.
"""

from scope.statistics.intervals import chance_corrected_estimate, mean_estimate, student_estimate
from scope.statistics.paired import (
    absolute,
    holm,
    paired_difference,
    sign_flip_p_value,
)

__all__ = [
    "absolute",
    "chance_corrected_estimate",
    "holm",
    "mean_estimate",
    "paired_difference",
    "sign_flip_p_value",
    "student_estimate",
]
