"""A test of reuse that was killed goes on where it was, and asks the suspect nothing again."""

import pytest
from killing import asked, count_rows, end_of, kill_when, result, run_afresh, start

from scope.jobs.canaries import CANARIES

CONTROLS, TEXTS, BATCH = 19, 60, 5


@pytest.fixture
def arguments(sentences_csv):
    controls = [f"python:toy_suspects:Pupil{place + 2}" for place in range(CONTROLS)]
    return [
        *("reuse", "--suspect", "python:toy_suspects:SlowPupil"),
        *("--reference", "python:toy_suspects:Pupil1"),
        *(word for one in controls for word in ("--control", one)),
        *("--data", str(sentences_csv), "--capability", "none", "--run", "mine"),
        *("--sequential", "--batch", str(BATCH)),
    ]


def test_two_kills_and_another_hash_seed_leave_the_result_as_it_is(arguments, tmp_path):
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    whole.mkdir()
    killed.mkdir()
    run_afresh(arguments, whole, PYTHONHASHSEED="1")
    others = (CONTROLS + 1) * TEXTS
    kept = in_flight = 0
    for _ in range(2):
        process = start(arguments, killed)
        least = others + kept
        kill_when(process, lambda least=least: count_rows(killed, "predictions") > least)
        kept = count_rows(killed, "predictions") - others
        in_flight = asked(killed).total() - kept
    assert 0 < kept < TEXTS
    assert end_of(start(arguments, killed)) == 0
    assert result(killed) == result(whole)
    assert set(asked(killed)) == set(asked(whole))
    assert len(asked(whole)) == asked(whole).total() == TEXTS
    # What the suspect was answering at the moment of a kill is asked again, and its canaries.
    assert asked(killed).total() - TEXTS == in_flight + CANARIES
    assert in_flight <= 2 * BATCH + CANARIES
