"""``scope reuse`` as a user meets it, on tables of made-up answers."""

import json
import re

import pytest
from made_up_suspects import letters, reuse_arguments, write_table

from scope.serialization import from_json, to_json


def result_of(folder, run="mine"):
    return json.loads((folder / "runs" / run / "result.json").read_text(encoding="utf-8"))


def only_verdict(done):
    (verdict,) = json.loads(done.stdout)["verdicts"]
    return verdict


def of_controls(count):
    return [f"controls.tsv#c{place}" for place in range(count)]


def numbers(verdict):
    """Everything of a verdict but the order in which it lists the controls."""
    return {
        **verdict,
        "standings": sorted(map(str, verdict["standings"])),
        "controls": sorted(map(str, verdict["controls"])),
        "agreement": {
            **verdict["agreement"],
            "controls": sorted(map(str, verdict["agreement"]["controls"])),
        },
        "warnings": sorted(verdict["warnings"]),
        "evidence": [
            {**one, "controls": sorted(map(str, one["controls"]))} for one in verdict["evidence"]
        ],
    }


def test_a_copy_is_related_with_the_smallest_p_that_the_controls_allow(copy_found, tmp_path):
    assert copy_found.stdout.startswith("RELATED: copy is related to ours: ")
    assert "report: runs/mine/report.html" in copy_found.stderr
    assert "Traceback" not in copy_found.stderr
    (verdict,) = result_of(tmp_path)["verdicts"]
    assert verdict["p_value"] == verdict["p_adjusted"] == 1 / 25
    assert verdict["queries"] == verdict["shared"] == 400
    page = (tmp_path / "runs/mine/report.html").read_text(encoding="utf-8")
    assert "copy is related to ours" in page


def test_nineteen_controls_suffice_and_give_a_larger_smallest_p(reuse):
    verdict = only_verdict(reuse("copy", "--json-full", controls=of_controls(19)))
    assert verdict["decision"] == "related"
    assert verdict["p_value"] == pytest.approx(1 / 20, abs=1e-6)


def test_the_gate_does_not_fail_for_a_suspect_that_guesses(reuse):
    done = reuse("guesser", "--fail-on", "related")
    assert done.returncode == 0, done.stderr
    assert "gate: " not in done.stderr


def test_three_controls_decide_nothing_and_the_same_command_finds_its_run(reuse, tmp_path):
    first = reuse("copy", controls=of_controls(3))
    assert first.returncode == 0
    assert first.stdout.startswith("UNDECIDED: ")
    assert re.search(r"at least 19 are\s+needed, 16 more", first.stdout)
    assert "16 more independent controls" in first.stdout
    (said,) = re.findall(r"report: (.+)/report\.html", first.stderr)
    assert (tmp_path / said / "report.html").is_file()
    again = reuse("copy", controls=of_controls(3))
    assert f"report: {said}/report.html" in again.stderr
    assert len(list((tmp_path / "runs").iterdir())) == 1


def test_an_independent_suspect_among_its_equals_is_cleared(reuse, tmp_path):
    done = reuse("other", "--assume-no-label-training", "--fail-on", "undecided", "--run", "mine")
    assert done.returncode == 0
    assert done.stdout.startswith("NOT RELATED: other is not related to ours")
    assert result_of(tmp_path)["manifest"]["settings"]["assume_no_label_training"]


def test_without_the_assumption_nobody_is_cleared_and_it_is_said_what_is_ruled_out(reuse):
    done = reuse("other", "--fail-on", "undecided")
    assert done.returncode == 1
    assert done.stdout.startswith("UNDECIDED: ")
    assert "There is no evidence of reuse of its weights: on" in " ".join(done.stdout.split())
    assert "gate: other against ours: undecided" in done.stderr


def test_all_of_a_table_but_suspect_and_references_are_its_controls(command, world, tmp_path):
    write_table(tmp_path / "all.tsv", world)
    done = command(
        *("reuse", "--suspect", "predictions:all.tsv#copy", "--json-full"),
        *("--reference", "predictions:all.tsv#ours", "--control", "predictions:all.tsv#*"),
        *("--task", "choice", "--data", "questions.jsonl"),
    )
    names = {one["model"] for one in only_verdict(done)["controls"]}
    assert len(names) == 24 + 6
    assert not names & {"copy", "ours"}


def test_a_folder_of_saved_answers_is_a_set_of_controls(reuse, copy_found, world, tmp_path):
    (tmp_path / "saved").mkdir()
    for name in (f"c{place}" for place in range(24)):
        rows = (
            json.dumps({"id": f"q{place}", "answer": letter})
            for place, letter in enumerate(letters(world[name]))
        )
        (tmp_path / "saved" / f"{name}.jsonl").write_text("\n".join(rows), encoding="utf-8")
    from_folder = only_verdict(reuse("copy", "--json-full", controls=("saved",)))
    (from_table,) = result_of(tmp_path)["verdicts"]
    assert from_folder["decision"] == "related"
    assert sorted(one["value"] for one in from_folder["standings"]) == sorted(
        one["value"] for one in from_table["standings"]
    )


def test_the_order_of_the_controls_leaves_the_numbers_as_they_are(reuse):
    turned = [f"controls.tsv#c{place}" for place in (*range(4, 8), *reversed(range(4)))]
    one, other = (
        only_verdict(reuse("other", "--json-full", "--run", run, controls=controls))
        for run, controls in (("a", of_controls(8)), ("b", turned))
    )
    assert numbers(other) == numbers(one)


def test_several_references_give_the_set_of_sources(reuse, tmp_path):
    done = reuse("partly", "--reference", "predictions:suspects.tsv#theirs", "--run", "a")
    assert done.returncode == 0
    # Two references share the error rate: 0.025 each takes 39 controls, and there are 24.
    assert (
        re.findall(r"^(?:ours|theirs) .*?(\w+)  ", done.stdout, re.MULTILINE) == ["undecided"] * 2
    )
    assert "15 more" in done.stdout
    more = ("--reference", "predictions:suspects.tsv#theirs", "--alpha", "0.1", "--run", "b")
    found = reuse("partly", *more)
    assert re.search(r"^ours +related ", found.stdout, re.MULTILINE)
    document = result_of(tmp_path, "b")
    p_values = {one["reference"]: one["p_value"] for one in document["verdicts"]}
    adjusted = {one["reference"]: one["p_adjusted"] for one in document["verdicts"]}
    # Holm: the smaller of two is doubled, and the greater is no smaller than that.
    assert p_values["ours"] == 1 / 25
    assert adjusted["ours"] == 2 / 25
    assert adjusted["theirs"] == max(p_values["theirs"], 2 / 25)
    assert document["verdicts"][1]["decision"] != "related"


def test_the_command_in_the_result_asks_the_same_again(reuse, command, tmp_path):
    more = ("--sequential", "--batch", "50", "--alpha", "0.04", "--n", "150", "--seed", "2")
    first = reuse("partly", *more, "--json-full")
    words = json.loads(first.stdout)["manifest"]["command"].replace("'", "").split()
    again = command(*words[1:], "--run", "again", "--json-full")
    assert again.returncode == 0, again.stderr
    assert to_json(from_json(again.stdout), clock=False) == to_json(
        from_json(first.stdout), clock=False
    )


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


def test_the_run_is_listed_and_its_report_written_again_from_the_run_alone(
    copy_found, command, tmp_path
):
    for name in ("controls.tsv", "suspects.tsv", "questions.jsonl"):
        (tmp_path / name).unlink()
    path = tmp_path / "runs/mine/report.html"
    page = path.read_bytes()
    path.unlink()
    again = command("report", "mine")
    assert again.returncode == 0, again.stderr
    assert path.read_bytes() == page
    assert again.stdout == copy_found.stdout
    (row,) = json.loads(command("list", "runs", "--json").stdout)
    assert (row["run"], row["job"], row["state"]) == ("mine", "reuse", "done")
    assert row["models"] == "ours -> copy"


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
