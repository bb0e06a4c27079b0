"""Vectors of questions are computed once, and kept."""

import sqlite3
import subprocess
import sys
from contextlib import closing
from hashlib import blake2b

import numpy as np
import pytest

from scope.answers.cache import answer_file
from scope.answers.vectors import question_vectors
from scope.errors import ModelError, RunError


class Counting:
    """Encodes by a hash, and remembers what it was asked."""

    spec = "counting"

    def __init__(self, fingerprint="abc"):
        self.fingerprint = fingerprint
        self.asked = []

    def encode(self, texts):
        self.asked += texts
        digests = [blake2b(text.encode(), digest_size=3).digest() for text in texts]
        return np.array([list(digest) for digest in digests], dtype=np.float64) / 7


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("SCOPE_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


TEXTS = ["Who is it?", "Why?", "Who is it?", "2 + 2"]


def test_an_encoder_of_python_encodes_a_text_again_and_another_one_is_refused():
    class OfPython(Counting):
        spec = "python:mine:Encoder"

    question_vectors(TEXTS, OfPython())
    again = OfPython()
    question_vectors(TEXTS, again)
    assert again.asked == ["Why?"]

    class Retrained(OfPython):
        def encode(self, texts):
            return super().encode(texts) * 2

    with pytest.raises(ModelError, match="`python:mine:Encoder` is not the model"):
        question_vectors(TEXTS, Retrained())


def test_rows_are_those_of_the_texts_in_their_order():
    found = question_vectors(TEXTS, Counting())
    assert found.dtype == np.float32
    np.testing.assert_array_equal(found, Counting().encode(TEXTS).astype(np.float32))


def test_each_text_is_encoded_once_and_the_next_time_not_at_all():
    first, second = Counting(), Counting()
    found = question_vectors(TEXTS, first)
    assert sorted(first.asked) == sorted(set(TEXTS))
    np.testing.assert_array_equal(question_vectors(TEXTS[::-1], second), found[::-1])
    assert second.asked == []


PROGRAM = """
import sys, time
import numpy as np
from scope.answers import vectors as job
job.TEXTS_A_PORTION = 8

class Encoder:
    spec, fingerprint = "e", "shared"
    def encode(self, texts):
        time.sleep(0.002)
        return np.array([[len(text), float(text)] for text in texts])

print("ready", flush=True)
sys.stdin.readline()
found = job.question_vectors([str(number) for number in range(400)], Encoder())
assert found[:, 1].tolist() == list(range(400))
"""


def test_processes_at_once_do_not_harm_each_other(cache):
    running = [
        subprocess.Popen(
            [sys.executable, "-c", PROGRAM],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for _ in range(3)
    ]
    for process in running:
        assert process.stdout.readline() == "ready\n"
    for process in running:
        process.stdin.write("\n")
        process.stdin.flush()
    said = [process.communicate(timeout=120)[1] for process in running]
    assert [process.returncode for process in running] == [0, 0, 0], said
    encoder = Counting("shared")
    assert question_vectors(["7"], encoder).tolist() == [[1, 7]]
    assert encoder.asked == []


def test_no_texts_have_no_vectors():
    assert question_vectors([], Counting()).shape == (0, 0)


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([[1.0, np.nan]] * 3, r"numbers of shape \(3, 2\), not all of them finite"),
        ([[1.0]], r"numbers of shape \(1, 1\), by the encoder `counting` of 3 texts"),
    ],
)
def test_an_encoder_must_give_finite_rows(rows, message, monkeypatch):
    encoder = Counting()
    monkeypatch.setattr(encoder, "encode", lambda texts: np.array(rows))
    with pytest.raises(ModelError, match=message):
        question_vectors(TEXTS, encoder)


def test_a_damaged_file_is_named_with_a_way_out(cache):
    cache.mkdir()
    answer_file(cache).write_text("no database " * 100)
    with pytest.raises(
        RunError, match=r"(?s)is damaged.*delete `.*shared-answers\.sqlite`, which is then rebuilt"
    ):
        question_vectors(TEXTS, Counting())


@pytest.mark.parametrize("change", ["value = x'00'", "value = 'text!'"])
def test_a_damaged_vector_is_named_with_a_way_out(change, cache):
    question_vectors(TEXTS, Counting())
    with closing(sqlite3.connect(answer_file(cache))) as connection, connection:
        connection.execute(f"UPDATE entries SET {change}")
    with pytest.raises(RunError, match=r"(?s)is damaged.*delete `.*shared-answers\.sqlite`"):
        question_vectors(TEXTS, Counting())


def test_a_cache_that_cannot_be_written_says_which_variable_names_another(cache):
    cache.write_text("a file where the folder shall be")
    with pytest.raises(RunError, match="SCOPE_CACHE"):
        question_vectors(TEXTS, Counting())
