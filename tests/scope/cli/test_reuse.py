"""``scope reuse`` as a user meets it, on tables of made-up answers."""

import json
import re

import pytest
from made_up_suspects import reuse_arguments

from scope.serialization import from_json, to_json


def result_of(folder, run="mine"):
    return json.loads((folder / "runs" / run / "result.json").read_text(encoding="utf-8"))


def only_verdict(done):
    (verdict,) = json.loads(done.stdout)["verdicts"]
    return verdict


def of_controls(count):
    return [f"controls.tsv#c{place}" for place in range(count)]


def test_a_copy_is_related_with_the_smallest_p_that_the_controls_allow(reuse, tmp_path):
    done = reuse("copy", "--run", "mine")
    assert done.stdout.startswith("copy is related to ours: derived from it, or of")
    assert "report: runs/mine/report.html" in done.stderr
    assert "Traceback" not in done.stderr
    (verdict,) = result_of(tmp_path)["verdicts"]
    assert verdict["p_rank"] == pytest.approx(1 / 325, abs=1e-6)
    assert verdict["queries"] == verdict["shared"] == 400
    page = (tmp_path / "runs/mine/report.html").read_text(encoding="utf-8")
    assert "copy is related to ours" in page


def test_three_controls_decide_nothing_and_the_same_command_finds_its_run(reuse, tmp_path):
    first = reuse("copy", controls=of_controls(3))
    assert first.returncode == 0
    assert first.stdout.startswith("? It is too early")
    assert re.search(r"at least 5\s+are\s+needed", first.stdout)
    assert "2 more independent controls" in first.stdout
    (said,) = re.findall(r"report: (.+)/report\.html", first.stderr)
    assert (tmp_path / said / "report.html").is_file()
    again = reuse("copy", controls=of_controls(3))
    assert f"report: {said}/report.html" in again.stderr
    assert len(list((tmp_path / "runs").iterdir())) == 1


def test_an_independent_suspect_is_cleared_beside_derivatives_alone(reuse, tmp_path):
    more = ("--fail-on", "undecided", "--run", "mine")
    done = reuse("other", "--derivative", "predictions:tuned.tsv#*", *more)
    assert done.returncode == 0
    assert done.stdout.startswith("other is not a derivative of ours like ")
    roles = [model["role"] for model in result_of(tmp_path)["manifest"]["models"]]
    assert roles.count("derivative") == 19
    alone = reuse("other", "--fail-on", "undecided")
    assert alone.returncode == 1
    assert alone.stdout.startswith("? No sign that other is related to ours")
    assert "gate: other against ours: undecided" in alone.stderr


def test_the_command_about_texts_asks_the_same_again_too(command, sentences, tmp_path):
    data = tmp_path / "sentences.csv"
    rows = ["text,label", *(",".join(one) for one in sentences)]
    data.write_text("\n".join(rows), encoding="utf-8")
    # Some of them nearly always give one answer, and have no rank.
    controls = [f"python:toy_suspects:Pupil{place}" for place in range(1, 26)]
    first = command(
        *("reuse", "--suspect", "python:toy_suspects:Copy"),
        *("--reference", "python:toy_suspects:Pupil0"),
        *(word for one in controls for word in ("--control", one)),
        *("--data", data, "--capability", "none", "--seed", "1", "--json-full"),
        *("--label-map", "LABEL_0=positive", "--label-map", "LABEL_1=negative"),
    )
    assert first.returncode == 0, first.stderr
    assert only_verdict(first)["decision"] == "related"
    words = json.loads(first.stdout)["manifest"]["command"].split()
    again = command(*words[1:], "--run", "again", "--json-full")
    assert again.returncode == 0, again.stderr
    assert to_json(from_json(again.stdout), clock=False) == to_json(
        from_json(first.stdout), clock=False
    )


def test_in_a_shell_the_gate_fails_and_json_is_one_document_and_nothing_else(run_scope, world):
    """The one test here that starts a process: exit code, standard output and error."""
    more = ("--fail-on", "related", "--json-full")
    done = run_scope(*reuse_arguments("copy", *more))
    assert done.returncode == 1, done.stderr
    assert only_verdict(done)["decision"] == "related"
    assert json.loads(done.stdout)["manifest"]["job"] == "reuse"
    assert to_json(from_json(done.stdout)) == done.stdout
    gates = [line for line in done.stderr.splitlines() if line.startswith("gate: ")]
    assert gates == ["gate: copy against ours: related"]
