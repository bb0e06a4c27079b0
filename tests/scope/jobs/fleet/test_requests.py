"""Requests to the jobs on fleets are refused before anything is read."""

import pytest

from scope.errors import SpecError
from scope.jobs.fleet.requests import (
    EmbedRequest,
    ForecastRequest,
    MapRequest,
    PredictRequest,
    RouteRequest,
)


@pytest.mark.parametrize(
    ("request_of", "found"),
    [
        (lambda: EmbedRequest(data="a.csv", folds=1), "--folds 1"),
        (lambda: EmbedRequest(data="a.csv", dimensions=0), "--dimensions 0"),
        (lambda: EmbedRequest(data="a.csv", seed=-1), "--seed -1"),
        (lambda: ForecastRequest(data="a.csv", test_share=1.0), "--test-share 1.0"),
        (lambda: PredictRequest(data="a.csv", splits=0), "--splits 0"),
        (lambda: PredictRequest(data="a.csv", train_share=0.0), "--train-share 0.0"),
        (lambda: RouteRequest(data="a.csv", budget=float("inf")), "--budget inf"),
    ],
)
def test_numbers_outside_their_limits_are_refused_by_their_option(request_of, found):
    with pytest.raises(SpecError, match=found):
        request_of()


@pytest.mark.parametrize("kind", [ForecastRequest, RouteRequest, MapRequest])
def test_a_fleet_or_answers_are_named_and_never_both(kind):
    with pytest.raises(SpecError, match="neither a fleet nor answers"):
        kind()
    with pytest.raises(SpecError, match="both a fleet and answers"):
        kind(fleet="ours", data="a.csv")
    with pytest.raises(SpecError, match="--add with --data"):
        kind(data="a.csv", add="b.csv")
    assert kind(data="a.csv").data == ("a.csv",)


def test_a_fleet_and_its_questions_belong_together():
    with pytest.raises(SpecError, match="a fleet without questions"):
        ForecastRequest(fleet="ours")
    with pytest.raises(SpecError, match="--questions with --data"):
        ForecastRequest(data="a.csv", questions="new.csv")


def test_options_without_effect_are_named_together():
    with pytest.raises(SpecError, match="--learning-curve with --fleet"):
        ForecastRequest(fleet="ours", questions="new.csv", learning_curve=True)
    with pytest.raises(SpecError, match="--curve-start without --learning-curve"):
        ForecastRequest(data="a.csv", curve_start=20)
    with pytest.raises(SpecError) as refused:
        ForecastRequest(fleet="ours", questions="new.csv", test_share=0.5, forecaster="knn")
    assert "--test-share and --forecaster with --fleet" in str(refused.value)
    with pytest.raises(SpecError, match="--contributions with --fleet"):
        MapRequest(fleet="ours", contributions=True, encoder="hf:any")
