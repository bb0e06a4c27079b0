"""``scope logs``, and jobs on nothing but logs."""

import json

import pytest
from made_up_logs import choice_samples, documents, results_of, write_log

DOCS = documents(120)


@pytest.fixture
def logs(tmp_path):
    """Two models in folders of their own, the second with fewer items."""
    for name, docs, skill in (("A", DOCS, 8), ("B", DOCS[:100], 6)):
        samples = choice_samples(docs, skill, len(docs))
        write_log(tmp_path / name / "m", f"org/{name}", {"colours": samples})
    return tmp_path


def test_the_contents_are_shown(command, logs):
    text = command("logs", ".").stdout
    assert "org/A" in text
    assert "acc_norm" in text
    assert "scope compare --model 'lm-eval:.#*' --task choice --data 'lm-eval:.#org/B'" in text


def test_the_json_has_items_overlap_and_scores(command, logs):
    (task,) = json.loads(command("logs", ".", "--json").stdout)
    assert (task["task"], task["shots"], task["items"], task["shared"]) == (
        "colours",
        "0",
        120,
        100,
    )
    for model, name in zip(task["models"], "AB", strict=True):
        results = results_of(logs / name / "m")["colours"]
        assert model["scores"] == {key.partition(",")[0]: one for key, one in results.items()}


def test_pair_and_compare_work_without_a_model(command, logs):
    pair = command("pair", "lm-eval:A", "lm-eval:B", "--data", "lm-eval:B")
    assert "whether B is at worst 2 points less accurate than A" in " ".join(pair.stdout.split())
    two = ("--model", "lm-eval:A", "--model", "lm-eval:B", "--semscore", "none")
    full = command("compare", *two, "--task", "choice", "--data", "lm-eval:B", "--json-full")
    found = json.loads(full.stdout)["measurements"]
    accuracy = next(
        one["estimate"]["value"]
        for one in found
        if one["metric"] == "accuracy" and one["target"] == "org/B"
    )
    assert accuracy == results_of(logs / "B" / "m")["colours"]["acc_norm,none"]


def test_a_task_under_several_conditions_is_chosen_in_full(command, logs):
    write_log(logs / "C", "org/C", {"colours": choice_samples(DOCS, 8, 1)}, shots=5)
    advice = command("logs", ".").stdout.splitlines()[-1]
    assert advice.endswith("--data 'lm-eval:.?task=colours&shots=0#org/B'")


def test_logs_are_controls_of_a_test_of_reuse(command, tmp_path):
    for number in range(20):
        samples = {"colours": choice_samples(DOCS, 5, number)}
        write_log(tmp_path / "logs" / str(number), f"m{number}", samples)
    copied = choice_samples(DOCS, 5, 0)[:110] + choice_samples(DOCS, 5, 99)[110:]
    write_log(tmp_path / "theirs", "theirs", {"colours": copied})
    done = command(
        *("reuse", "--suspect", "lm-eval:theirs", "--reference", "lm-eval:logs/0"),
        *("--control", "lm-eval:logs#*", "--task", "choice"),
        *("--data", "lm-eval:logs/0"),
    )
    assert done.stdout.startswith("theirs is related to m0"), done.stderr
