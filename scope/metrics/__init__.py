"""What is measured: pure functions from answers to one value per example or pair.

The mean of those values is the metric; `scope.statistics` takes it and says how sure it is. What is
corrected for chance is no mean: there each item has an influence instead of a value.
"""

from scope.metrics.catalog import Metric as Metric
