"""What is measured: pure functions from answers to one value per example or pair.

The mean of those values is the metric; `scope.statistics` takes it and says how sure it is. What is
corrected for chance is no mean: there each item has an influence instead of a value.
"""

from scope.metrics.catalog import Metric as Metric
from scope.metrics.concordance import (
    Reach as Reach,
    concordance_values as concordance_values,
    moves as moves,
    reach as reach,
)
from scope.metrics.consistency import (
    ChanceCorrected as ChanceCorrected,
    accuracy_difference_values as accuracy_difference_values,
    agreement_values as agreement_values,
    capa as capa,
    capa_discrete as capa_discrete,
    cohen_kappa as cohen_kappa,
    error_consistency as error_consistency,
    js_divergence_values as js_divergence_values,
)
from scope.metrics.invariance import (
    flip_scope_values as flip_scope_values,
    hard_scope_values as hard_scope_values,
    in_both as in_both,
    informedness_values as informedness_values,
    means_by_example as means_by_example,
    ood_agreement_values as ood_agreement_values,
    soft_scope_values as soft_scope_values,
)
from scope.metrics.metric import (
    METRICS as METRICS,
    MetricName as MetricName,
    known_metrics as known_metrics,
    metric_name as metric_name,
    parse_metric as parse_metric,
)
from scope.metrics.texts import (
    best_against_gold as best_against_gold,
    character_f1_values as character_f1_values,
    cosine_values as cosine_values,
    exact_match_values as exact_match_values,
    squad_normalized as squad_normalized,
    text_cosine_values as text_cosine_values,
    text_likeness_values as text_likeness_values,
    word_f1_values as word_f1_values,
)
