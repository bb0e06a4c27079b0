"""What is measured: pure functions from answers to one value per example or pair.

The mean of those values is the metric; `scope.statistics` takes it and says how sure it is.
"""

from scope.metrics.agreement import accuracy_difference_values, correctness, iid_agreement_values
from scope.metrics.arrays import predicted_labels
from scope.metrics.invariance import (
    hard_scope_values,
    ood_agreement_values,
    pair_values,
    soft_scope_values,
)
from scope.metrics.metric import METRICS, Metric, parse_metric

__all__ = [
    "METRICS",
    "Metric",
    "accuracy_difference_values",
    "correctness",
    "hard_scope_values",
    "iid_agreement_values",
    "ood_agreement_values",
    "pair_values",
    "parse_metric",
    "predicted_labels",
    "soft_scope_values",
]
