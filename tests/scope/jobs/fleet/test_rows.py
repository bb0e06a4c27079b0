"""Every number of a fleet as a row."""

from made_up_fleet_comparison import (
    CATEGORIES,
    COMMUNITIES,
    KNN,
    MODELS,
    RECORDS,
    USED,
    build_comparison,
)


def found(job, metric):
    return [row for row in build_comparison(f"fleet-{job}").rows() if row.metric == metric]


def test_forecasts_have_accuracy_gain_and_brier_score_by_forecaster_and_category():
    accuracies = found("embed", "forecast_accuracy")
    assert [(row.target, row.subset) for row in accuracies[:4]] == [
        ("mean", ""),
        (KNN, ""),
        (USED, ""),
        ("mean", CATEGORIES[0]),
    ]
    assert (accuracies[2].value, accuracies[2].low, accuracies[2].high, accuracies[2].n) == (
        0.703125,
        0.671875,
        0.734375,
        400,
    )
    assert accuracies[2].capability == "fleet-embed"
    # The mean has no gain over itself.
    assert [row.target for row in found("embed", "forecast_gain")[:2]] == [KNN, USED]
    assert {row.against for row in found("embed", "forecast_gain")} == {"mean"}
    undefined = found("embed", "forecast_brier")[1]
    assert undefined.value is None
    assert undefined.reason.startswith("undefined (no probabilities")


def test_a_gain_of_routing_names_what_the_router_is_held_against():
    assert [row.target for row in found("route", "route_accuracy")[:2]] == [
        "router",
        f"single best: {MODELS[1]}",
    ]
    gain = found("route", "route_gain")[0]
    assert (gain.target, gain.against, gain.value) == (
        "router",
        f"single best: {MODELS[1]}",
        0.015625,
    )


def test_benchmarks_contributions_communities_models_and_bins_are_rows_too():
    assert [row.target for row in found("predict", "benchmark_tau")] == list(CATEGORIES)
    assert found("predict", "benchmark_mse")[0].value == 0.03125
    contribution = found("map", "contribution")[0]
    assert (contribution.target, contribution.against) == CATEGORIES[:2]
    assert (
        next((row.target, row.against) for row in found("map", "community_distance")) == COMMUNITIES
    )
    assert [row.target for row in found("map", "accuracy")] == list(MODELS)
    assert found("embed", "reliability")[1].subset == "forecast 0.25 to 0.5"


def test_what_is_expected_of_models_is_rows():
    rows = found("forecast", "expected_accuracy")
    assert [(row.target, row.value) for row in rows] == [
        (MODELS[0], 0.75),
        (MODELS[1], None),
        (MODELS[2], 0.25),
    ]


def test_the_frame_of_each_job_holds_every_row_in_its_order():
    lengths = {}
    for job in RECORDS:
        result = build_comparison(job)
        frame = result.to_frame()
        assert list(frame["metric"]) == [row.metric for row in result.rows()]
        assert list(frame.columns)[:3] == ["capability", "metric", "target"]
        lengths[job] = len(frame)
    # 18 numbers of forecasters and 5 gains, 4 bins and 6 models; 3 expected and 3
    # observed accuracies and their shift; 4 contributions and 3 distances; 6 of benchmarks and 4
    # contributions; 12 accuracies and 9 gains of routing.
    assert lengths == {
        "fleet-embed": 33,
        "fleet-forecast": 40,
        "fleet-map": 13,
        "fleet-predict": 10,
        "fleet-route": 50,
    }
