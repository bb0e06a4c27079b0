"""Kinds: contracts, among them real processes that are killed while they write."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from kept_results import kept

from scope.answers import Run
from scope.answers.run import keep_search, searched
from scope.errors import RunError
from scope.records import Perturbation, Prediction
from scope.store.folder import RunFolder, list_runs, run_folder

QUESTION = {"job": "audit", "seed": 0}

COMPARISON = kept("fleet-map")


def test_a_run_goes_on_where_it_was(tmp_path: Path) -> None:
    folder = tmp_path / "deep" / "run"
    found = Perturbation(example_id="1", trial=1, text="changed", score=0.5, queries=3)
    with Run.open(folder, QUESTION, notes={"versions": {}}) as run:
        run.keep("model", {"text": Prediction(probabilities=(0.1, 0.9), truncated=True)})
        keep_search(run, "typo", [found])
        assert run.read_result() is None
        run.write_result(COMPARISON)
        run.write_report("<p>page</p>")
    with Run.open(folder, QUESTION) as run:
        assert run.known("model", ["text"])["text"].truncated
        assert searched(run, "typo", ["1"]) == {("1", 1): found}
        assert run.read_result() == COMPARISON
        assert run.read_configuration() == QUESTION
    assert not list(folder.glob(".*"))


def test_a_result_is_read_and_reported_again_while_the_run_is_held(tmp_path: Path) -> None:
    with Run.open(tmp_path / "run", QUESTION) as run:
        run.write_result(COMPARISON)
        folder = RunFolder(tmp_path / "run")
        assert folder.read_result() == COMPARISON
        folder.write_report("<p>page</p>")
        assert run.report_path.read_text(encoding="utf-8") == "<p>page</p>"


def test_a_run_of_another_question_is_refused_and_unlocked(tmp_path: Path) -> None:
    Run.open(tmp_path / "run", QUESTION).close()
    with pytest.raises(RunError, match="seed is 0 in the run, 1 here"):
        Run.open(tmp_path / "run", {**QUESTION, "seed": 1})
    Run.open(tmp_path / "run", QUESTION).close()


def test_a_run_is_unlocked_when_its_database_does_not_open(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    Run.open(folder, QUESTION).close()
    (folder / "run.sqlite").write_bytes(b"garbage" * 1000)
    for _ in range(2):
        with pytest.raises(RunError, match=r"run\.sqlite` is damaged"):
            Run.open(folder, QUESTION)


def test_a_folder_of_other_files_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").touch()
    with pytest.raises(RunError, match=r"it has no manifest\.json, but contains `thesis\.tex`"):
        Run.open(tmp_path, QUESTION)
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.tex"]


def test_a_run_killed_in_its_first_moments_begins_again(tmp_path: Path) -> None:
    for name in ("run.lock", "lock.txt", ".manifest.json.99.tmp"):
        (tmp_path / name).touch()
    Run.open(tmp_path, QUESTION).close()
    assert json.loads((tmp_path / "manifest.json").read_text())["question"] == QUESTION
    assert not list(tmp_path.glob(".*.tmp"))


@pytest.mark.parametrize("name", ["", ".", "..", "a\\b", "-x", ".x", "a b", "x\n", "x" * 101])
def test_a_name_that_is_not_plain_is_refused(name: str) -> None:
    with pytest.raises(RunError, match="is not a valid run name"):
        run_folder(name, Path("runs"))


def test_the_store_is_imported_without_the_libraries_it_rarely_needs() -> None:
    code = "import sys, scope.store; print(*{'pydantic', 'filelock', 'numpy'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""


WRITE = """
import sys
from pathlib import Path
from scope.records import Perturbation, Prediction
from scope.answers import Run
from scope.answers.run import keep_search
with Run.open(Path(sys.argv[1]), {"job": "audit", "seed": 0}) as run:
    for batch in range(100_000):
        texts = [f"{batch}-{i}" for i in range(200)]
        half = Prediction(probabilities=(1 / (batch + 2), 0.5))
        run.keep("model", dict.fromkeys(texts, half))
        keep_search(run, "typo", [Perturbation(example_id=str(batch), trial=1, text="t")])
        run.write_report(f"{batch} " * 20_000)
        print(batch, flush=True)
"""


@pytest.mark.parametrize(
    "moment", [0.013, *(pytest.param(one, marks=pytest.mark.slow) for one in (0.0, 0.037, 0.111))]
)
def test_what_was_kept_survives_a_kill_at_any_moment(tmp_path: Path, moment: float) -> None:
    folder = tmp_path / "run"
    with subprocess.Popen(
        [sys.executable, "-c", WRITE, str(folder)], stdout=subprocess.PIPE, text=True
    ) as process:
        process.stdout.readline()
        time.sleep(moment)
        process.send_signal(signal.SIGKILL)
        done = 1 + len(process.stdout.read().splitlines())
    assert process.returncode == -signal.SIGKILL
    expected = {
        f"{batch}-{i}": Prediction(probabilities=(1 / (batch + 2), 0.5))
        for batch in range(done)
        for i in range(200)
    }
    with Run.open(folder, QUESTION) as run:
        assert run.known("model", list(expected)) == expected
        ids = [str(batch) for batch in range(done)]
        assert {(one, 1) for one in ids} == set(searched(run, "typo", ids))
        report = run.report_path.read_text(encoding="utf-8").split()
        assert set(report) == {report[0]}
        assert len(report) == 20_000
        assert int(report[0]) >= done - 1
        assert not list(folder.glob(".*.tmp"))


def test_the_last_changed_run_is_listed_first(tmp_path: Path) -> None:
    for number, name in enumerate(("a", "c", "b")):
        Run.open(tmp_path / name, QUESTION).close()
        for file in (tmp_path / name).iterdir():
            os.utime(file, (10**9, 10**9 + 100 * number))
    assert [entry.name for entry in list_runs(tmp_path)] == ["b", "c", "a"]


def test_runs_are_listed_by_name_with_what_they_ask(tmp_path: Path) -> None:
    question = {
        "job": "audit",
        "reference": {"spec": "hf:a", "fingerprint": "f"},
        "targets": ["hf:b", {"name": "c", "spec": "hf:c"}],
    }
    Run.open(tmp_path / "second", question).close()
    Run.open(tmp_path / "first", {"job": "reuse"}).close()
    (tmp_path / "second" / "result.json").write_text("{}")
    (tmp_path / "note.txt").touch()
    first, second = list_runs(tmp_path)
    assert (first.name, first.job, first.finished) == ("first", "reuse", False)
    assert (second.name, second.job, second.finished) == ("second", "audit", True)
    assert (second.reference, second.targets) == ("hf:a", ("hf:b", "c"))
    assert re.fullmatch(r"\d{4}-\d\d-\d\d \d\d:\d\d", second.changed)
    files = [path for path in (tmp_path / "second").iterdir() if path.is_file()]
    assert second.size == sum(path.stat().st_size for path in files) > 0


def test_broken_folders_are_listed_with_the_reason(tmp_path: Path) -> None:
    for name, content in {"a": None, "b": "{", "c": '{"format": 10, "question": {}}'}.items():
        (tmp_path / name).mkdir()
        if content is not None:
            (tmp_path / name / "manifest.json").write_text(content)
    (tmp_path / "d" / "manifest.json").mkdir(parents=True)
    reasons = [entry.broken for entry in list_runs(tmp_path)]
    assert reasons[0] == "it has no manifest.json"
    assert "is damaged: " in reasons[1]
    assert "has format 10" in reasons[2]
    assert "cannot be read" in reasons[3]
