"""``scope fleet`` as a user meets it, on made-up models that know some topics and not others."""

import csv
import json
import shlex
import shutil

import numpy as np
import pytest
from made_up_fleet import MODELS, TOPICS, lay_out

import scope
from scope.jobs.fleet.stored_fleet import load_fleet
from scope.records.fleet import EVERY
from scope.serialization import from_json, to_json

LAST = MODELS[-1]


@pytest.fixture(scope="module")
def prepared(tmp_path_factory):
    """A folder with encoder, answers, and the finished run ``ours``; the made-up fleet itself."""
    folder = tmp_path_factory.mktemp("fleet")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setenv("SCOPE_CACHE", str(folder / "cache"))
        made_up = lay_out(folder)
        scope.embed_fleet(data="train.csv", encoder="./encoder", forecaster="factors", run="ours")
    return folder, made_up


@pytest.fixture
def fleet(command, prepared, tmp_path, monkeypatch):
    """Runs a command on fleets in a copy of the prepared folder; it must succeed."""
    shutil.copytree(prepared[0], tmp_path, dirs_exist_ok=True)
    monkeypatch.setenv("SCOPE_CACHE", str(tmp_path / "cache"))

    def run(*arguments):
        done = command("fleet", *arguments)
        assert done.returncode == 0, done.stderr
        assert "Traceback" not in done.stderr
        return done

    return run


@pytest.fixture
def made_up(prepared):
    return prepared[1]


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


def test_json_has_every_model_with_its_skill_place_and_nearest(fleet, made_up):
    done = fleet("embed", "--data", "answers.csv", "--encoder", "./encoder", "--json-full")
    found = findings(done)
    assert [one["name"] for one in found["fleet"]] == list(MODELS)
    for member, share in zip(found["fleet"], made_up.correct.mean(axis=0), strict=True):
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


def test_a_forecaster_that_is_named_is_used(fleet):
    asked = ("embed", "--data", "answers.csv", "--forecaster", "mean", "--run", "plain")
    found = findings(fleet(*asked, "--json-full"))
    assert found["forecaster"] == "mean"
    assert found["encoder"] == "none"
    assert "no vectors of models" in " ".join(found["notes"])


def test_forecasts_of_every_model_and_question_are_written(fleet, tmp_path, made_up):
    fleet("forecast", "--fleet", "ours", "--questions", "new.csv", "--run", "mine")
    written = rows(tmp_path / "runs/mine/forecasts.csv")
    assert [row["question"] for row in written[:: len(MODELS) - 1]] == made_up.ids[120:]
    assert [row["model"] for row in written[: len(MODELS) - 1]] == list(MODELS[:-1])
    probabilities = np.array([float(row["probability"]) for row in written]).reshape(40, -1)
    assert ((probabilities > 0.5) == made_up.correct[120:, :-1]).mean() > 0.7
    found = result(tmp_path / "runs/mine")
    expected = {one["model"]: one["accuracy"] for one in json.loads(found)["expected"]}
    assert [expected[name]["value"] for name in MODELS[:-1]] == pytest.approx(
        probabilities.mean(axis=0).tolist(), abs=1e-6
    )
    shares = [one["value"] for one in expected.values()]
    assert shares == sorted(shares, reverse=True)
    assert {one["n"] for one in expected.values()} == {40}


def test_only_questions_that_the_fleet_has_not_seen_are_scored(fleet):
    found = findings(fleet("forecast", "--fleet", "ours", "--questions", "test.csv", "--json-full"))
    scores = overall(found["scores"])
    assert scores["mean"]["accuracy"]["n"] == scores["factors"]["accuracy"]["n"] == 40
    assert scores["factors"]["chosen"]
    assert scores["factors"]["gain"]["low"] > 0.1
    assert {one["category"] for one in found["scores"]} == {None, *TOPICS}
    notes = " ".join(found["notes"])
    assert "the fleet was fitted on 20 of the 60 questions" in notes
    assert f"answers of 1 model not in the fleet are ignored: `{LAST}`" in notes


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


def test_costs_and_a_budget_decide_who_is_asked(fleet, tmp_path):
    (tmp_path / "costs.csv").write_text("model,cost\nmodel-00,1\nmodel-01,5\n", encoding="utf-8")
    named = ("--model", "model-00", "--model", "model-01", "--costs", "costs.csv")
    asked = ("route", "--fleet", "ours", "--questions", "new.csv", *named)
    fleet(*asked, "--cost", "model-01=3", "--budget", "1.5", "--run", "mine")
    written = [row["model"] for row in rows(tmp_path / "runs/mine/routes.csv")]
    assert set(written) == {"model-00", "model-01"}
    # What stands on the command line comes before what stands in the file.
    assert 1.4 < np.mean([{"model-00": 1, "model-01": 3}[one] for one in written]) <= 1.5


def test_each_benchmark_is_predicted_from_the_others(fleet):
    asked = ("predict", "--data", "answers.csv", "--splits", "10", "--json-full")
    found = findings(fleet(*asked))
    assert [one["benchmark"] for one in found["predictions"]] == sorted(TOPICS)
    (one,) = findings(fleet(*asked, "--benchmark", "laws"))["predictions"]
    assert (one["benchmark"], one["questions"], one["splits"]) == ("laws", 40, 10)
    assert len(one["points"]) == len(MODELS)


@pytest.mark.parametrize("forecaster", [pytest.param("mf", marks=pytest.mark.slow), "knn"])
def test_benchmarks_are_predicted_as_published_with_the_matrix_of_contributions(fleet, forecaster):
    found = findings(
        fleet(
            *("predict", "--data", "answers.csv", "--splits", "5", "--encoder", "./encoder"),
            *("--forecaster", forecaster, "--contributions", "--json-full"),
        )
    )
    assert [one["benchmark"] for one in found["predictions"]] == sorted(TOPICS)
    assert "plain linear regression" in found["notes"][-1]
    places = {(one["source"], one["target"]) for one in found["contributions"]}
    each = {(one, other) for one in TOPICS for other in TOPICS}
    assert places == each | {(one, EVERY) for one in TOPICS} | {(EVERY, one) for one in TOPICS}


def test_tuned_forecasters_are_chosen_on_training_questions(fleet):
    asked = ("forecast", "--data", "answers.csv", "--encoder", "./encoder", "--forecaster", "knn")
    (whole, tuned) = (
        findings(fleet(*asked, *more, "--json-full"))["forecaster"] for more in ((), ("--tune",))
    )
    assert (whole, tuned.partition("(")[0]) == ("knn", "knn")
    # With 128 training questions, 131 neighbours are each model's mean.
    assert tuned != "knn"


def test_a_map_shows_communities_that_hang_together(fleet, tmp_path):
    labels = "".join(f"{name},{('even', 'odd')[int(name[-2:]) % 2]}\n" for name in MODELS)
    (tmp_path / "families.csv").write_text(f"model,community\n{labels}", encoding="utf-8")
    found = findings(
        fleet("map", "--data", "answers.csv", "--communities", "families.csv", "--json-full")
    )
    within, between, other = found["communities"]
    assert within["p_value"] == other["p_value"] == 0.001
    assert within["distance"]["high"] < between["distance"]["low"]
    assert {one["community"] for one in found["fleet"]} == {"even", "odd"}
    assert " % of the variance of the models' vectors" in " ".join(found["notes"])


def test_contributions_of_benchmarks_are_read_off_held_out_questions(fleet):
    asked = ("map", "--data", "answers.csv", "--contributions", "--encoder", "./encoder")
    found = findings(fleet(*asked, "--json-full"))
    values = {(one["source"], one["target"]): one["value"] for one in found["contributions"]}
    assert set(values) == {(one, other) for one in TOPICS for other in TOPICS}
    assert values["birds", "birds"]["value"] > 0.2


def test_a_further_model_joins_forecasts_and_map_without_retraining(fleet, tmp_path, made_up):
    add = ("--fleet", "ours", "--add", "newcomer.csv")
    fleet("forecast", *add, "--questions", "new.csv", "--run", "mine")
    written = [row for row in rows(tmp_path / "runs/mine/forecasts.csv") if row["model"] == LAST]
    predicted = np.array([float(row["probability"]) > 0.5 for row in written])
    assert (predicted == made_up.correct[120:, -1]).mean() > 0.7
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
        "--cost model-00=0.1 --cost model-01=0.30000000000000004 --budget 0.2",
        "predict --data train.csv --benchmark laws --splits 5 --train-share 0.6",
        "map --data train.csv --contributions --encoder ./encoder",
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


def test_a_fleet_is_found_by_name_path_and_its_own_folder(fleet):
    found = [
        findings(fleet("map", "--fleet", named, "--json-full"))
        for named in ("ours", "./runs/ours", "runs/ours/embedder")
    ]
    assert found[0] == found[1] == found[2]


def test_the_runs_are_listed_and_their_reports_written_again(fleet, command, tmp_path):
    assert '"fleet-embed"' in command("list", "runs", "--json").stdout
    page = tmp_path / "runs/ours/report.html"
    before = page.read_bytes()
    page.unlink()
    assert command("report", "ours").returncode == 0
    assert page.read_bytes() == before
