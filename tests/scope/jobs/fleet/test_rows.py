"""Every number of a fleet as a row; those of other jobs are tested with their tables."""

from made_up_fleet_comparison import CATEGORIES, COMMUNITIES, KNN, MODELS, USED, build_comparison

from scope.tables import rows, to_frame


def found(metric):
    return [row for row in rows(build_comparison()) if row.metric == metric]


def test_forecasts_have_accuracy_gain_and_brier_score_by_forecaster_and_category():
    accuracies = found("forecast_accuracy")
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
    assert accuracies[2].capability == "fleet-map"
    # The mean has no gain over itself.
    assert [row.target for row in found("forecast_gain")[:2]] == [KNN, USED]
    assert {row.against for row in found("forecast_gain")} == {"mean"}
    undefined = found("forecast_brier")[1]
    assert undefined.value is None
    assert undefined.reason.startswith("undefined (no probabilities")


def test_a_gain_of_routing_names_what_the_router_is_held_against():
    assert [row.target for row in found("route_accuracy")[:2]] == [
        "router",
        f"single best: {MODELS[1]}",
    ]
    gain = found("route_gain")[0]
    assert (gain.target, gain.against, gain.value) == (
        "router",
        f"single best: {MODELS[1]}",
        0.015625,
    )


def test_benchmarks_contributions_communities_models_and_bins_are_rows_too():
    assert [row.target for row in found("benchmark_tau")] == list(CATEGORIES)
    assert found("benchmark_mse")[0].value == 0.03125
    contribution = found("contribution")[0]
    assert (contribution.target, contribution.against) == CATEGORIES[:2]
    assert next((row.target, row.against) for row in found("community_distance")) == COMMUNITIES
    assert [row.target for row in found("accuracy")] == list(MODELS)
    assert found("reliability")[1].subset == "forecast 0.25 to 0.5"


def test_the_frame_holds_every_row_in_its_order():
    frame = to_frame(build_comparison())
    assert list(frame["metric"]) == [row.metric for row in rows(build_comparison())]
    assert list(frame.columns)[:3] == ["capability", "metric", "target"]
    # 18 numbers of forecasters and 5 gains, 3 expected accuracies, 4 bins, 12 accuracies and 9
    # gains of routing, 6 of benchmarks, 4 contributions, 3 distances and 6 models.
    assert len(frame) == 70
