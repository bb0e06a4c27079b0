"""A test of reuse that was killed goes on where it was, and asks the suspect nothing again."""

import pytest
from killing import asked, count_rows, kill_when, result, start

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
    assert start(arguments, whole, PYTHONHASHSEED="1").wait(timeout=300) == 0
    others = (CONTROLS + 1) * TEXTS
    kept = in_flight = 0
    for seed in ("2", "3"):
        process = start(arguments, killed, PYTHONHASHSEED=seed)
        least = others + kept
        kill_when(process, lambda least=least: count_rows(killed, "predictions") > least)
        kept = count_rows(killed, "predictions") - others
        in_flight = asked(killed).total() - kept
    assert 0 < kept < TEXTS
    assert start(arguments, killed, PYTHONHASHSEED="4").wait(timeout=300) == 0
    assert result(killed) == result(whole)
    assert set(asked(killed)) == set(asked(whole))
    assert len(asked(whole)) == asked(whole).total() == TEXTS
    # What the suspect was answering at the moment of a kill is all that is asked again.
    assert asked(killed).total() - TEXTS == in_flight <= 2 * BATCH
