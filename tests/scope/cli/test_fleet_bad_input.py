"""Every mistake about a fleet ends in one screen that says what was found and how to fix it."""

import json

import pytest

LAID_OUT = "fleets"


@pytest.fixture
def refused(refused, laid_out):
    """Runs a command on fleets, which must refuse; returns its message."""
    return lambda *arguments: refused("fleet", *arguments)


def test_an_unknown_run_is_told_with_those_that_hold_a_fleet(refused):
    message = refused("forecast", "--fleet", "theirs", "--questions", "new.csv")
    assert "no run `theirs`" in message
    assert "a finished run of `scope fleet embed`: `near`, `ours`" in message


def test_another_encoder_than_the_fleets_is_refused_with_both_fingerprints(refused, tmp_path):
    kept = json.loads((tmp_path / "runs/ours/embedder/embedder.json").read_text())
    asked = ("forecast", "--fleet", "ours", "--questions", "new.csv", "--encoder", "./another")
    message = refused(*asked)
    assert "the encoder `hf:./another` with the fingerprint" in message
    assert f"`hf:./encoder` with the fingerprint {kept['layout']['encoder']}" in message


@pytest.mark.parametrize(
    ("named", "found"),
    [
        (("--model", "model-0"), "no model `model-0` of --model"),
        (("--cost", "model-00=dear"), "`dear` as the cost of a model"),
        (("--cost", "model-00=-1"), "a cost of -1.0 for `model-00`"),
        (("--cost", "model-00=1"), "no cost for 18 of 19 models: `model-01`"),
        (("--costs", "gone.csv"), "gone.csv"),
    ],
)
def test_costs_and_models_that_cannot_be_are_refused(refused, named, found):
    assert found in refused("route", "--fleet", "ours", "--questions", "new.csv", *named)


@pytest.mark.parametrize(
    ("asked", "found"),
    [
        ("", "neither a fleet nor answers"),
        ("--fleet ours --communities strangers.csv", "no model `stranger` of --communities"),
    ],
)
def test_maps_that_cannot_be_drawn_are_refused(refused, tmp_path, asked, found):
    (tmp_path / "strangers.csv").write_text("model,community\nstranger,far\n", encoding="utf-8")
    assert found in refused("map", *asked.split())
