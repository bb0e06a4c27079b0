"""Vectors of questions are computed once, and kept."""

import math
import sqlite3
from contextlib import closing
from hashlib import blake2b

import numpy as np
import pytest

from scope.answers.asking import difference_of_numbers
from scope.answers.table import answer_file
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


pytestmark = pytest.mark.usefixtures("cache")


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


def test_each_text_is_encoded_once_and_the_next_time_not_at_all():
    first, second = Counting(), Counting()
    found = question_vectors(TEXTS, first)
    assert sorted(first.asked) == sorted(set(TEXTS))
    np.testing.assert_array_equal(question_vectors(TEXTS[::-1], second), found[::-1])
    assert second.asked == []


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


@pytest.mark.parametrize("change", ["value = x'00'", "value = 'text!'"])
def test_a_damaged_vector_is_named_with_a_way_out(change, cache):
    question_vectors(TEXTS, Counting())
    with closing(sqlite3.connect(answer_file(cache))) as connection, connection:
        connection.execute(f"UPDATE entries SET {change}")
    with pytest.raises(RunError, match=r"(?s)is damaged.*delete `.*shared-answers\.sqlite`"):
        question_vectors(TEXTS, Counting())


def test_vectors_of_another_shape_or_without_numbers_are_another_models():
    row = np.ones(3, dtype=np.float32)
    assert difference_of_numbers(row, row) == 0
    assert difference_of_numbers(row, np.ones(4, dtype=np.float32)) == math.inf
    assert difference_of_numbers(row, row * np.float32(math.nan)) == math.inf
