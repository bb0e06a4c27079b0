"""May a target replace the reference? Endpoints with limits, the decision, and its power.

An audit, a comparison and the logs of another tool bring differences by text; see `endpoints`.
"""

from scope.statistics.margins import fewest_texts as fewest_texts
from scope.verdicts.endpoints import (
    Pooled as Pooled,
    decide as decide,
    error_at as error_at,
    error_of_second as error_of_second,
    judge_differences as judge_differences,
    judge_share as judge_share,
    judge_slope as judge_slope,
    lacking_clusters as lacking_clusters,
    pooled as pooled,
    texts_lacking as texts_lacking,
)
from scope.verdicts.plan import (
    ALL_GOLD as ALL_GOLD,
    MOST_TEXTS as MOST_TEXTS,
    Evidence as Evidence,
    PlannedEndpoint as PlannedEndpoint,
    Scores as Scores,
    accuracy_evidence as accuracy_evidence,
    joint_power as joint_power,
    planned_differences as planned_differences,
    planned_slope as planned_slope,
    texts_for_power as texts_for_power,
    with_texts_needed as with_texts_needed,
)
