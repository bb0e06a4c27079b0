"""Uncertainty of the numbers: intervals, paired tests, ranks among controls and corrections.

The trials of one example are dependent, so examples, not pairs, are the units of analysis.
"""

from scope.statistics.intervals import (
    chance_corrected_estimate as chance_corrected_estimate,
    mean_estimate as mean_estimate,
    student_estimate as student_estimate,
)
from scope.statistics.margins import (
    fewest_texts as fewest_texts,
    judge_against_one as judge_against_one,
    judge_estimate as judge_estimate,
    judge_paired as judge_paired,
    texts_lacking as texts_lacking,
)
from scope.statistics.paired import (
    absolute as absolute,
    benjamini_hochberg as benjamini_hochberg,
    holm as holm,
    paired_difference as paired_difference,
    resamples_for as resamples_for,
    sign_flip_p_value as sign_flip_p_value,
)
from scope.statistics.power import (
    PlannedEndpoint as PlannedEndpoint,
    joint_power as joint_power,
    planned_from as planned_from,
    texts_for_power as texts_for_power,
    verdicts as verdicts,
)
