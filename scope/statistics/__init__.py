"""Uncertainty of the numbers: intervals, paired tests, ranks among controls and corrections.

The trials of one example are dependent, so examples, not pairs, are the units of analysis.
"""

from scope.statistics.intervals import (
    chance_corrected_estimate as chance_corrected_estimate,
    mean_estimate as mean_estimate,
    student_estimate as student_estimate,
)
from scope.statistics.paired import (
    absolute as absolute,
    benjamini_hochberg as benjamini_hochberg,
    holm as holm,
    paired_difference as paired_difference,
    resamples_for as resamples_for,
    sign_flip_p_value as sign_flip_p_value,
)
