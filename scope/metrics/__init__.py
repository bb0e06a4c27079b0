"""What is measured: pure functions from answers to one value per example or pair.

The mean of those values is the metric; `scope.statistics` takes it and says how sure it is. What is
corrected for chance is no mean: there each item has an influence instead of a value.
"""

from scope.metrics.agreement import accuracy_difference_values, correctness, iid_agreement_values
from scope.metrics.arrays import predicted_labels
from scope.metrics.chance import ChanceCorrected
from scope.metrics.concordance import Reach, concordance_values, moves, reach
from scope.metrics.consistency import (
    agreement_values,
    capa,
    capa_discrete,
    cohen_kappa,
    error_consistency,
)
from scope.metrics.description import Metric
from scope.metrics.divergence import js_divergence_values
from scope.metrics.gold import best_against_gold
from scope.metrics.invariance import (
    flip_scope_values,
    hard_scope_values,
    informedness_values,
    means_by_example,
    ood_agreement_values,
    soft_scope_values,
)
from scope.metrics.metric import (
    METRICS,
    MetricName,
    known_metrics,
    metric_name,
    parse_metric,
)
from scope.metrics.overlap import (
    character_f1_values,
    exact_match_values,
    squad_normalized,
    word_f1_values,
)
from scope.metrics.semantic import cosine_values, text_cosine_values, text_likeness_values

__all__ = [
    "METRICS",
    "ChanceCorrected",
    "Metric",
    "MetricName",
    "Reach",
    "accuracy_difference_values",
    "agreement_values",
    "best_against_gold",
    "capa",
    "capa_discrete",
    "character_f1_values",
    "cohen_kappa",
    "concordance_values",
    "correctness",
    "cosine_values",
    "error_consistency",
    "exact_match_values",
    "flip_scope_values",
    "hard_scope_values",
    "iid_agreement_values",
    "informedness_values",
    "js_divergence_values",
    "known_metrics",
    "means_by_example",
    "metric_name",
    "moves",
    "ood_agreement_values",
    "parse_metric",
    "predicted_labels",
    "reach",
    "soft_scope_values",
    "squad_normalized",
    "text_cosine_values",
    "text_likeness_values",
    "word_f1_values",
]
