"""Every number of a fleet as a row."""

import pytest
from kept_results import FLEET, kept

CATEGORIES = [row.benchmark for row in kept("fleet-predict").predictions]
MODELS = [model.name for model in kept("fleet-map").fleet]
SMALL, MEDICAL = (row.first for row in kept("fleet-map").communities[1:])


@pytest.mark.parametrize(
    ("job", "metric", "target", "against", "value"),
    [
        ("embed", "forecast_accuracy", "mean", "", 0.640625),
        # The mean has no gain over itself.
        ("embed", "forecast_gain", "knn(neighbours=131)", "mean", 0.015625),
        ("route", "route_gain", "router", f"single best: {MODELS[1]}", 0.015625),
        ("predict", "benchmark_mse", CATEGORIES[0], "", 0.03125),
        ("predict", "contribution", *CATEGORIES[:2], 0.046875),
        ("map", "community_distance", SMALL, MEDICAL, 2.5),
        ("map", "accuracy", MODELS[0], "", 0.5),
        ("forecast", "expected_accuracy", MODELS[0], "", 0.75),
    ],
)
def test_the_first_row_of_a_metric(job, metric, target, against, value):
    first = next(row for row in kept(f"fleet-{job}").rows() if row.metric == metric)
    assert (first.target, first.against or "", first.value) == (target, against, value)


def test_the_frame_of_each_job_holds_every_row():
    # 18 numbers of forecasters and 5 gains, 4 bins and 6 models; 3 expected and 3
    # observed accuracies and their shift; 3 distances; 6 of benchmarks and 4
    # contributions; 12 accuracies and 9 gains of routing.
    assert {job: len(kept(job).to_frame()) for job in FLEET} == {
        "fleet-embed": 33,
        "fleet-forecast": 40,
        "fleet-map": 9,
        "fleet-predict": 10,
        "fleet-route": 50,
    }
