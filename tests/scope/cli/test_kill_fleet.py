"""An embedding that was killed goes on where it was: vectors that were kept are not made again."""

import sqlite3

import pytest
from killing import end_of, kill_when, result, run_afresh, start
from made_up_fleet import MadeUpFleet, write_word_table

QUESTIONS = 1200


def count_vectors(folder):
    """How many vectors are kept in the cache under a folder."""
    files = list((folder / "cache" / "question-vectors").glob("*.sqlite"))
    if not files:
        return 0
    try:
        with sqlite3.connect(f"file:{files[0]}?mode=ro", uri=True, timeout=5) as connection:
            return connection.execute("SELECT count(*) FROM vectors").fetchone()[0]
    except sqlite3.OperationalError:
        return 0


@pytest.mark.slow
def test_a_kill_and_another_hash_seed_leave_the_fleet_as_it_is(tmp_path):
    encoder = write_word_table(tmp_path / "encoder")
    made_up = MadeUpFleet(questions=QUESTIONS, models=("one", "two", "three"))
    data = made_up.write(tmp_path / "answers.csv")
    arguments = [
        *("fleet", "embed", "--data", str(data), "--encoder", str(encoder), "--run", "mine"),
        *("--embedder", "knn", "--folds", "2"),
    ]
    whole, killed = tmp_path / "whole", tmp_path / "killed"

    whole.mkdir()
    killed.mkdir()

    def begin():
        return start(arguments, killed, SCOPE_CACHE=str(killed / "cache"))

    kill_when(begin(), lambda: count_vectors(killed) > 0)
    assert 0 < count_vectors(killed) < QUESTIONS
    assert not (killed / "runs/mine/result.json").exists()
    assert end_of(begin()) == 0
    run_afresh(arguments, whole, SCOPE_CACHE=str(whole / "cache"), PYTHONHASHSEED="1")
    assert count_vectors(killed) == QUESTIONS
    assert result(killed) == result(whole)
    for name in ("embedder.json", "embedder.safetensors"):
        one, other = (folder / "runs/mine/embedder" / name for folder in (killed, whole))
        assert one.read_bytes() == other.read_bytes()
