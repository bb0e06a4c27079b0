"""A killed run goes on where it was, and ends as if nothing had happened; so does another seed of
Python's hashes."""

import time

import pytest
from killing import asked, count_rows, end_of, kill_when, result, run_afresh, start

from scope.answers.asking import TOGETHER


@pytest.fixture
def arguments(sentences_csv):
    return [
        *("audit", "--reference", "python:toy_models:Slow"),
        *("--target", "python:toy_models:SlowStudent"),
        *("--data", str(sentences_csv), "--n", "24", "--run", "mine", "--parallel-texts", "4"),
        *("--capability", "typo", "--encoder", "none"),
    ]


@pytest.fixture
def folders(tmp_path):
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    whole.mkdir()
    killed.mkdir()
    return whole, killed


MOMENTS = {
    "the first answers": lambda folder: count_rows(folder, "answers") > 0,
    "many perturbations": lambda folder: count_rows(folder, "searches") > 6,
    "the target has answered": lambda folder: count_rows(folder, "facts") > 1,
}


@pytest.mark.parametrize(
    "moments", [("many perturbations",), pytest.param(tuple(MOMENTS), marks=pytest.mark.slow)]
)
def test_kills_and_another_hash_seed_leave_the_result_as_it_is(arguments, folders, moments):
    whole, killed = folders
    run_afresh(arguments, whole, PYTHONHASHSEED="1")
    in_flight = 0
    for moment in moments:
        process = start(arguments, killed)
        kill_when(process, lambda reached=MOMENTS[moment]: reached(killed))
        assert not (killed / "runs/mine/result.json").exists()
        in_flight += len(asked(killed)) - count_rows(killed, "answers")
    assert end_of(start(arguments, killed)) == 0
    assert result(killed) == result(whole)

    # Of what was kept one answer of both models is asked for again in each session; at the start
    # eight texts are asked alone and together.
    canaries = 2 * (TOGETHER + len(moments))
    assert set(asked(killed)) == set(asked(whole))
    assert asked(whole).total() == len(asked(whole)) + 2 * TOGETHER
    assert asked(killed).total() - len(asked(killed)) <= in_flight + canaries


def test_a_run_that_another_process_writes_is_refused(arguments, command, monkeypatch, tmp_path):
    monkeypatch.setenv("SCOPE_TEST_LOG", str(tmp_path / "second.jsonl"))
    process = start(arguments, tmp_path)
    try:
        deadline = time.monotonic() + 120
        while not count_rows(tmp_path, "answers"):
            assert time.monotonic() < deadline
            time.sleep(0.01)
        second = command(*arguments)
        assert second.returncode == 2
        assert str(process.pid) in second.stderr
        assert "Traceback" not in second.stderr
    finally:
        process.kill()
        end_of(process)
