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
    ("kind", "option", "value"),
    [
        (EmbedRequest, "folds", 1),
        (EmbedRequest, "dimensions", 0),
        (EmbedRequest, "seed", -1),
        (ForecastRequest, "test_share", 1.0),
        (PredictRequest, "splits", 0),
        (PredictRequest, "train_share", 0.0),
    ],
)
def test_numbers_outside_their_limits_are_refused_by_their_option(kind, option, value):
    with pytest.raises(SpecError, match=f"--{option.replace('_', '-')} {value}"):
        kind(data="a.csv", **{option: value})


FORECAST = {"fleet": "ours", "questions": "new.csv"}


@pytest.mark.parametrize("kind", [ForecastRequest, RouteRequest, MapRequest])
def test_a_fleet_or_answers_are_named_and_never_both(kind):
    with pytest.raises(SpecError, match="neither a fleet nor answers"):
        kind()
    with pytest.raises(SpecError, match="both a fleet and answers"):
        kind(fleet="ours", data="a.csv")
    with pytest.raises(SpecError, match="--add with --data"):
        kind(data="a.csv", add="b.csv")
    assert kind(data="a.csv").data == ("a.csv",)


@pytest.mark.parametrize(
    ("kind", "options", "found"),
    [
        (ForecastRequest, {"fleet": "ours"}, "a fleet without questions"),
        (ForecastRequest, {"data": "a.csv", "questions": "b.csv"}, "--questions with --data"),
        (
            ForecastRequest,
            FORECAST | {"test_share": 0.5, "forecaster": "knn"},
            "--test-share and --forecaster with --fleet",
        ),
    ],
)
def test_options_that_are_missing_or_without_effect_are_named(kind, options, found):
    with pytest.raises(SpecError, match=found):
        kind(**options)
