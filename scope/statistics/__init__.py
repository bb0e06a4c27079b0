"""Uncertainty of the numbers: intervals, paired tests, ranks among controls and corrections.

The trials of one example are dependent, so examples, not pairs, are the units of analysis.
"""

from scope.statistics.intervals import chance_corrected_estimate, mean_estimate, student_estimate
from scope.statistics.margins import (
    fewest_texts,
    judge_against_one,
    judge_estimate,
    judge_paired,
)
from scope.statistics.paired import (
    absolute,
    benjamini_hochberg,
    holm,
    paired_difference,
    resamples_for,
    sign_flip_p_value,
)
from scope.statistics.power import PlannedEndpoint, joint_power, planned_from, texts_for_power
from scope.statistics.replacement import verdicts

__all__ = [
    "PlannedEndpoint",
    "absolute",
    "benjamini_hochberg",
    "chance_corrected_estimate",
    "fewest_texts",
    "holm",
    "joint_power",
    "judge_against_one",
    "judge_estimate",
    "judge_paired",
    "mean_estimate",
    "paired_difference",
    "planned_from",
    "resamples_for",
    "sign_flip_p_value",
    "student_estimate",
    "texts_for_power",
    "verdicts",
]
