"""Uncertainty of the numbers: intervals, paired tests, ranks among controls and corrections.

The trials of one example are dependent, so examples, not pairs, are the units of analysis.
"""

from scope.statistics.conformal import (
    conformal_p_value,
    controls_needed,
    joint_statistic,
    threshold_rank,
)
from scope.statistics.intervals import chance_corrected_estimate, mean_estimate
from scope.statistics.paired import (
    PairedPValues,
    absolute,
    holm,
    paired_difference,
    paired_p_values,
    sign_flip_p_value,
    sum_estimate,
)
from scope.statistics.sequential import SequentialTest

__all__ = [
    "PairedPValues",
    "SequentialTest",
    "absolute",
    "chance_corrected_estimate",
    "conformal_p_value",
    "controls_needed",
    "holm",
    "joint_statistic",
    "mean_estimate",
    "paired_difference",
    "paired_p_values",
    "sign_flip_p_value",
    "sum_estimate",
    "threshold_rank",
]
