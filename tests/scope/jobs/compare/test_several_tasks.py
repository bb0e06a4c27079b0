"""Two runs of several tasks: pooled, judged by the command's exit code, written for others."""

import json

import pytest
from made_up_logs import choice_samples, documents, results_of, write_log
from shared_data import shared_data

SIZES = {"colours": 160, "shapes": 80}


@pytest.fixture
def logs(tmp_path):
    """Logs of three models to two tasks: the second loses, the third hardly ever errs."""
    for seed, (name, skill) in enumerate((("old", 6), ("worse", 0), ("better", 30))):
        samples = {
            task: choice_samples(documents(n, seed=n), skill, seed) for task, n in SIZES.items()
        }
        write_log(tmp_path / "logs" / name, name, samples)
    return tmp_path / "logs"


@pytest.fixture
def compare(command, logs):
    compared = ("compare", "--model", "lm-eval:logs#old", "--task", "choice")

    def run(other, *more, job=compared):
        return command(*job, "--model", f"lm-eval:logs#{other}", "--data", "lm-eval:logs", *more)

    return run


def test_the_mean_over_the_tasks_of_logs_is_judged(compare, logs):
    done = compare("worse", "--json-full", "--run", "mine")
    assert done.returncode == 0, done.stderr
    (verdict,) = json.loads(done.stdout)["verdicts"]
    values = {end["name"]: end["estimate"]["value"] for end in verdict["endpoints"]}
    old, worse = (
        {task: row["acc_norm,none"] for task, row in results_of(logs / name).items()}
        for name in ("old", "worse")
    )
    drops = {f"accuracy on {task}": worse[task] - old[task] for task in SIZES}
    assert values == pytest.approx({"accuracy": sum(drops.values()) / 2} | drops, abs=1e-6)
    assert "on average over colours and shapes: " in verdict["sentence"]


@pytest.mark.usefixtures("without_pages")
@pytest.mark.parametrize(
    ("other", "gate", "code"), [("worse", "beyond", 1), ("better", "not-shown", 0)]
)
def test_a_gate_on_the_verdict_sets_the_exit_code_of_compare_and_pair(compare, other, gate, code):
    for job in ({}, {"job": ("pair", "lm-eval:logs#old")}):
        done = compare(other, "--fail-on", gate, **job)
        assert done.returncode == code, done.stdout
        assert (f"gate: {other} in place of old: may not" in done.stderr) == bool(code)


@pytest.mark.usefixtures("without_pages")
def test_the_numbers_of_two_models_are_valid_in_every_eval_evers_schema(compare, tmp_path):
    schema = json.loads(shared_data("eval_logs/every_eval_ever_eval.schema.json").read_text())
    done = compare("worse", "--eee", "new/worse.json", "--json-full")
    assert done.returncode == 0, done.stderr
    written = json.loads((tmp_path / "new/worse.json").read_text(encoding="utf-8"))
    pytest.importorskip("jsonschema").validate(written, schema)
    assert written["model_info"]["name"] == "worse"
    rows = {
        (row["evaluation_name"], row["metric_config"]["metric_id"]): row
        for row in written["evaluation_results"]
    }
    assert ("choice category = shapes", "accuracy") in rows
    (cells,) = json.loads(done.stdout)["cells"]
    assert {"flips", "recovery", "accuracy"} < {metric for _, metric in rows}
    row, gap = rows["choice", "accuracy_difference"], cells["difference"]
    assert row["metric_config"]["metric_parameters"] == {"reference": "old"}
    score, uncertainty = row["score_details"], row["score_details"]["uncertainty"]
    bounds = uncertainty["confidence_interval"]
    numbers = [score["score"], bounds["lower"], bounds["upper"], uncertainty["num_samples"]]
    expected = [-gap["value"], -gap["high"], -gap["low"], sum(SIZES.values())]
    assert numbers == pytest.approx(expected, abs=1e-5)
    more = compare("worse", "--model", "lm-eval:logs#better", "--eee", "x.json", "--run", "more")
    assert (more.returncode, "--eee with 3 models" in more.stderr) == (2, True)
    assert not (tmp_path / "runs/more").exists()
