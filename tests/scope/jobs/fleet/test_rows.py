"""Every number of a fleet as a row."""

import pytest
from made_up_fleet_comparison import CATEGORIES, COMMUNITIES, KNN, MODELS, RECORDS, build_comparison


@pytest.mark.parametrize(
    ("job", "metric", "target", "against", "value"),
    [
        ("embed", "forecast_accuracy", "mean", "", 0.640625),
        # The mean has no gain over itself.
        ("embed", "forecast_gain", KNN, "mean", 0.015625),
        ("route", "route_gain", "router", f"single best: {MODELS[1]}", 0.015625),
        ("predict", "benchmark_mse", CATEGORIES[0], "", 0.03125),
        ("predict", "contribution", *CATEGORIES[:2], 0.046875),
        ("map", "community_distance", *COMMUNITIES, 2.5),
        ("map", "accuracy", MODELS[0], "", 0.5),
        ("forecast", "expected_accuracy", MODELS[0], "", 0.75),
    ],
)
def test_the_first_row_of_a_metric(job, metric, target, against, value):
    first = next(row for row in build_comparison(f"fleet-{job}").rows() if row.metric == metric)
    assert (first.target, first.against or "", first.value) == (target, against, value)


def test_the_frame_of_each_job_holds_every_row():
    # 18 numbers of forecasters and 5 gains, 4 bins and 6 models; 3 expected and 3
    # observed accuracies and their shift; 3 distances; 6 of benchmarks and 4
    # contributions; 12 accuracies and 9 gains of routing.
    assert {job: len(build_comparison(job).to_frame()) for job in RECORDS} == {
        "fleet-embed": 33,
        "fleet-forecast": 40,
        "fleet-map": 9,
        "fleet-predict": 10,
        "fleet-route": 50,
    }
