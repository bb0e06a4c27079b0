"""A comparison that was killed goes on; of what was kept one answer a model is asked for again."""

import json

import pytest
from killing import asked, count_rows, end_of, kill_when, result, run_afresh, start

QUESTIONS = 150


@pytest.fixture
def arguments(tmp_path):
    path = tmp_path / "questions.jsonl"
    rows = [
        {
            "question": f"What stands by house {place}?",
            "context": f"House {place} stands by a tree, a road and a wall",
            "answers": ["a tree"],
        }
        for place in range(QUESTIONS)
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return [
        *("compare", "--model", "python:toy_answerers:streaming"),
        *("--model", "python:toy_answerers:Reader", "--encoder", "none"),
        *("--task", "extractive_qa", "--data", str(path), "--run", "mine"),
    ]


def test_two_kills_and_another_hash_seed_leave_the_result_as_it_is(arguments, tmp_path):
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    whole.mkdir()
    killed.mkdir()
    run_afresh(arguments, whole, PYTHONHASHSEED="1")
    in_flight = kept = 0
    for _ in range(2):
        process = start(arguments, killed)
        kill_when(process, lambda least=kept: count_rows(killed, "answers") > least)
        kept = count_rows(killed, "answers")
        in_flight += len(asked(killed)) - kept
    assert 0 < kept < QUESTIONS
    assert end_of(start(arguments, killed)) == 0
    assert result(killed) == result(whole)
    assert set(asked(killed)) == set(asked(whole))
    assert asked(killed).total() - len(asked(killed)) <= in_flight + 2 * 2
