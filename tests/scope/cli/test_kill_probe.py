"""A probe that was killed goes on where it was: texts that were read are not read again."""

import os
import signal
import sqlite3
import subprocess
import time

import pytest
from conftest import SCOPE, TESTS
from killing import asked, end_of, kill_when, result, run_afresh, start
from made_up_pairs import write_pairs

from scope.jobs.canaries import CANARIES
from scope.probes.saving import DESCRIPTION, NUMBERS

TRAIN, TEST = 500, 150
SENTENCES = 2 * (TRAIN + TEST)


def rows(start, count):
    """Pairs without a common sentence; every fifth says the same of two things."""
    return [
        (
            f"house {place} stands by a tree",
            f"{'house' * (place % 5 == 0) or 'ship'} {place} is",
            float(place % 6),
        )
        for place in range(start, start + count)
    ]


@pytest.fixture
def arguments(tmp_path):
    train = write_pairs(tmp_path / "train.csv", rows(0, TRAIN))
    test = write_pairs(tmp_path / "test.csv", rows(TRAIN, TEST))
    return [
        *("probe", "--model", "python:toy_readers:Slow", "--train", str(train)),
        *("--test", str(test), "--hidden", "4", "--seeds", "2", "--save", "kept", "--run", "mine"),
    ]


def count_latents(folder):
    """How many texts' latents are kept in the cache under a folder."""
    files = list((folder / "cache" / "latents").glob("*/index.sqlite"))
    if not files:
        return 0
    try:
        with sqlite3.connect(f"file:{files[0]}?mode=ro", uri=True, timeout=5) as connection:
            return connection.execute("SELECT count(*) FROM latents").fetchone()[0]
    except sqlite3.OperationalError:
        return 0


@pytest.mark.slow
def test_a_kill_and_other_threads_and_hash_seeds_leave_the_result_as_it_is(arguments, tmp_path):
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    whole.mkdir()
    killed.mkdir()

    def begin():
        return start(arguments, killed, SCOPE_CACHE=str(killed / "cache"))

    # The first text alone shows how many layers there are.
    kill_when(begin(), lambda: count_latents(killed) > 1)
    kept = count_latents(killed)
    in_flight = len(asked(killed)) - kept
    assert 1 < kept < SENTENCES
    assert not (killed / "runs/mine/result.json").exists()
    assert end_of(begin()) == 0
    other = {"SCOPE_CACHE": str(whole / "cache"), "OMP_NUM_THREADS": "2", "PYTHONHASHSEED": "1"}
    run_afresh(arguments, whole, **other)
    assert count_latents(killed) == SENTENCES == len(asked(killed))
    # At most what had not been kept yet is read again, and the canaries.
    assert asked(killed).total() - SENTENCES <= in_flight + CANARIES
    assert set(asked(whole).values()) == {1}
    assert result(killed) == result(whole)
    for name in (DESCRIPTION, NUMBERS):
        one, other = (folder / "kept" / name for folder in (killed, whole))
        assert one.read_bytes() == other.read_bytes()


def test_ctrl_c_says_how_to_go_on(arguments, tmp_path):
    process = subprocess.Popen(
        [str(SCOPE), *arguments],
        cwd=tmp_path,
        env={
            **os.environ,
            "PYTHONPATH": str(TESTS),
            "SCOPE_CACHE": str(tmp_path / "cache"),
            "SCOPE_TEST_LOG": str(tmp_path / "asked.jsonl"),
        },
        stderr=subprocess.PIPE,
        text=True,
    )
    deadline = time.monotonic() + 120
    while count_latents(tmp_path) < 2:
        assert process.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "Traceback" not in said
    assert said.splitlines()[-1].startswith("scope: interrupted; answers are saved")
