"""``scope fleet`` as a user meets it, on made-up models that know some topics and not others."""

import csv
import json
import shlex

import numpy as np
import pytest
from made_up_fleet import MODELS, TOPICS, MadeUpFleet

from scope.jobs.fleet.stored_fleet import load_fleet
from scope.serialization import from_json, to_json

LAST = MODELS[-1]
LAID_OUT = "fleets"
MADE_UP = MadeUpFleet()


@pytest.fixture
def fleet(command, laid_out):
    """Runs a command on fleets in a copy of the prepared folder; it must succeed."""

    def run(*arguments):
        done = command("fleet", *arguments)
        assert done.returncode == 0, done.stderr
        assert "Traceback" not in done.stderr
        return done

    return run


def findings(done):
    """The result without what differs from run to run."""
    found = json.loads(done.stdout)
    return {key: found[key] for key in found if key not in {"checksum", "clock", "manifest"}}


def rows(path):
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def result(folder):
    text = (folder / "result.json").read_text(encoding="utf-8")
    return to_json(from_json(text), clock=False)


def overall(scores):
    return {one["forecaster"]: one for one in scores if one["category"] is None}


def test_embedding_prints_a_table_and_keeps_the_fleet(fleet, tmp_path):
    asked = ("embed", "--data", "answers.csv", "--encoder", "./encoder")
    done = fleet(*asked, "--forecaster", "factors", "--run", "mine")
    assert "matrix: 160 questions × 20 models, 3,200 answers known" in done.stdout
    assert "report: runs/mine/report.html" in done.stderr
    assert "trying forecasters" in done.stderr
    kept = load_fleet(tmp_path / "runs/mine/embedder")
    assert kept.models == MODELS
    assert "model-07" in (tmp_path / "runs/mine/report.html").read_text(encoding="utf-8")


def test_json_has_every_model_with_its_skill_place_and_nearest(fleet):
    done = fleet("embed", "--data", "answers.csv", "--encoder", "./encoder", "--json-full")
    found = findings(done)
    assert [one["name"] for one in found["fleet"]] == list(MODELS)
    for member, share in zip(found["fleet"], MADE_UP.correct.mean(axis=0), strict=True):
        assert member["skill"]["value"] == pytest.approx(share, abs=1e-6)
        assert member["skill"]["n"] == 160
        assert len(member["nearest"]) == 5
        # Models of even and of odd number know different topics.
        assert int(member["name"][-2:]) % 2 == int(member["nearest"][0]["model"][-2:]) % 2
    scores = overall(found["scores"])
    assert {name.partition("(")[0] for name in scores} == {"mean", "knn", "factors"}
    (chosen,) = (one for one in scores.values() if one["chosen"])
    assert chosen["forecaster"] == found["forecaster"]
    assert chosen["gain"]["low"] > 0.1
    assert found["reliability"]


def test_held_out_questions_score_the_chosen_beside_the_mean(fleet, tmp_path):
    asked = ("forecast", "--data", "answers.csv", "--encoder", "./encoder", "--test-share", "0.25")
    found = findings(fleet(*asked, "--forecaster", "factors", "--json-full", "--run", "mine"))
    scores = overall(found["scores"])
    assert list(scores) == ["mean", "factors"]
    assert {one["accuracy"]["n"] for one in scores.values()} == {40}
    assert found["questions"] == 120
    assert len(rows(tmp_path / "runs/mine/forecasts.csv")) == 40 * len(MODELS)


def test_a_router_is_compared_with_simpler_ones(fleet, tmp_path):
    found = findings(
        fleet("route", "--fleet", "ours", "--questions", "test.csv", "--run", "mine", "--json-full")
    )
    routers = {one["router"]: one for one in found["routers"] if one["category"] is None}
    assert set(routers) == {
        *("router", "single best", "random with the same mix", "oracle"),
        "best per benchmark, in hindsight",
    }
    assert routers["single best"]["gain"]["low"] > 0
    assert sum(one["share"] for one in found["mix"]) == pytest.approx(1, abs=1e-5)
    written = rows(tmp_path / "runs/mine/routes.csv")
    assert len(written) == 60
    assert "combines each model's skill with the prediction from the text" in " ".join(
        found["notes"]
    )
    assert {row["model"] for row in written} == {one["model"] for one in found["mix"]}


def test_costs_on_the_command_line_come_before_those_of_the_file(fleet, tmp_path):
    (tmp_path / "costs.csv").write_text("model,cost\nmodel-00,1\nmodel-01,5\n", encoding="utf-8")
    named = ("--model", "model-00", "--model", "model-01", "--costs", "costs.csv")
    asked = ("route", "--fleet", "ours", "--questions", "new.csv", *named)
    found = findings(fleet(*asked, "--cost", "model-01=3", "--run", "mine", "--json-full"))
    written = [row["model"] for row in rows(tmp_path / "runs/mine/routes.csv")]
    mean = np.mean([{"model-00": 1, "model-01": 3}[name] for name in written])
    assert f"all 40 questions cost {mean:.4g} on average" in found["notes"]


def test_each_benchmark_is_predicted_from_the_others(fleet):
    asked = ("predict", "--data", "answers.csv", "--splits", "10", "--json-full")
    found = findings(fleet(*asked))
    assert [one["benchmark"] for one in found["predictions"]] == sorted(TOPICS)
    (one,) = findings(fleet(*asked, "--benchmark", "laws"))["predictions"]
    assert (one["benchmark"], one["questions"], one["splits"]) == ("laws", 40, 10)
    assert len(one["points"]) == len(MODELS)


def test_a_further_model_joins_forecasts_and_map_without_retraining(fleet, tmp_path):
    add = ("--fleet", "ours", "--add", "newcomer.csv")
    fleet("forecast", *add, "--questions", "new.csv", "--run", "mine")
    written = [row for row in rows(tmp_path / "runs/mine/forecasts.csv") if row["model"] == LAST]
    predicted = np.array([float(row["probability"]) > 0.5 for row in written])
    assert (predicted == MADE_UP.correct[120:, -1]).mean() > 0.7
    members = findings(fleet("map", *add, "--json-full"))["fleet"]
    assert [one["name"] for one in members if one["added"]] == [LAST]
    assert members[-1]["skill"]["n"] == 120
    routed = findings(fleet("route", *add, "--questions", "new.csv", "--json-full"))
    assert [one["name"] for one in routed["fleet"]] == [LAST]


@pytest.mark.parametrize(
    "asked",
    [
        "embed --data train.csv --encoder ./encoder --forecaster factors --no-features "
        "--dimensions 3 --folds 3 --seed 4",
        "forecast --fleet ours --questions test.csv --add newcomer.csv",
        "route --fleet ours --questions test.csv --model model-00 --model model-01 "
        "--cost model-00=0.1 --cost model-01=0.30000000000000004",
        "predict --data train.csv --benchmark laws --splits 5 --train-share 0.6",
        "map --data train.csv",
    ],
)
def test_the_command_in_the_result_asks_the_same_again(fleet, command, tmp_path, asked):
    first = fleet(*shlex.split(asked), "--json-full")
    words = shlex.split(json.loads(first.stdout)["manifest"]["command"])
    assert words[0] == "scope"
    again = command(*words[1:], "--json-full")
    assert again.returncode == 0, again.stderr
    one, other = (to_json(from_json(done.stdout), clock=False) for done in (first, again))
    assert one == other
