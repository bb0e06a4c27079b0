"""Latents are computed once, and kept."""

import sqlite3
from contextlib import closing

import numpy as np
import pytest

from scope.answers import vectors as job
from scope.answers.table import Table, answer_file, clear_cache
from scope.answers.vectors import recognise_reader, stored_latents
from scope.errors import DataError, ModelError, RunError


class Counting:
    """Three layers of two numbers: length, vowels; remembers what it was asked."""

    spec = "counting"

    def __init__(self, fingerprint="abc", precision="float32", kill_after=None):
        self.fingerprint, self.precision = fingerprint, precision
        self.asked = []
        self._kill_after = kill_after

    def latents(self, texts):
        assert texts
        if self._kill_after is not None and len(self.asked) >= self._kill_after:
            raise KeyboardInterrupt
        self.asked += texts
        rows = [[len(text), sum(map(text.count, "aeiou"))] for text in texts]
        layers = np.array(rows, dtype=np.float32)[:, None]
        return layers * np.array([1, 2, -4], dtype=np.float32)[:, None]

    def truncated(self, texts):
        return [len(text) > 10 for text in texts]


class Asleep:
    """A reader whose model must not be loaded."""

    spec, fingerprint, precision = "asleep", "abc", "float32"

    def __getattr__(self, name):
        raise AssertionError(f"asked for {name}")


pytestmark = pytest.mark.usefixtures("cache")


TEXTS = ["a dull film", "why", "a dull film", "ann saw bob"]
SEVERAL = ["the film", "a film", "ann", "bob saw ann", "who was dull", "in paris", "was bob good"]


def test_a_reader_of_python_reads_a_text_again_and_another_one_is_refused():
    class OfPython(Counting):
        spec = "python:mine:Reader"

    recognise_reader(SEVERAL, OfPython())
    stored_latents(SEVERAL, OfPython())
    again = OfPython()
    recognise_reader([*SEVERAL, "a new film"], again)
    assert again.asked == SEVERAL[:1]

    class Drifted(OfPython):
        factor = 1.0001

        def latents(self, texts):
            return super().latents(texts) * self.factor

    class Retrained(Drifted):
        factor = 2

    recognise_reader(SEVERAL, Drifted())
    with pytest.raises(ModelError, match="`python:mine:Reader` is not the model"):
        recognise_reader(SEVERAL, Retrained())
    recognise_reader(SEVERAL, Asleep())


def test_rows_are_those_of_the_texts_in_any_order():
    table = stored_latents(TEXTS, Counting())
    assert (table.layers, table.width, table.truncated) == (3, 2, 2)
    found = table.rows(["why", "ann saw bob", "why"])
    assert found.dtype == np.float32
    assert found[:, 0].tolist() == [[3, 0], [11, 3], [3, 0]]
    assert found[0].tolist() == [[3, 0], [6, 0], [-12, 0]]


def test_each_text_is_read_once_and_the_next_time_the_model_is_not_even_loaded():
    reader = Counting()
    first = stored_latents(TEXTS, reader)
    assert sorted(reader.asked) == sorted(set(TEXTS))
    again = stored_latents(TEXTS[::-1], Asleep())
    np.testing.assert_array_equal(again.rows(TEXTS), first.rows(TEXTS))
    assert (again.layers, again.width, again.truncated) == (3, 2, 2)


def test_numbers_of_bfloat16_take_two_bytes_and_lose_nothing():
    table = stored_latents(TEXTS, Counting("half", "bfloat16"))
    np.testing.assert_array_equal(table.rows(TEXTS), stored_latents(TEXTS, Counting()).rows(TEXTS))


@pytest.mark.parametrize(
    ("first", "texts", "size"), [(9, 2, 1 << 20), (1, 1024, 3 * 2 * 4 * 2), (1, 2, 1 << 20)]
)
def test_portions_are_bounded_in_texts_and_bytes(monkeypatch, first, texts, size):
    monkeypatch.setattr(job, "TEXTS_TO_BEGIN_WITH", first)
    monkeypatch.setattr(job, "TEXTS_A_PORTION", texts)
    monkeypatch.setattr(job, "BYTES_A_PORTION", size)
    writes, put = [], Table.put

    def noted(table, kind, *rest):
        writes.append(kind)
        put(table, kind, *rest)

    monkeypatch.setattr(Table, "put", noted)
    table = stored_latents([f"text {number}" for number in range(5)], Counting())
    assert writes.count("latents") == 3
    assert table.rows(["text 4", "text 0"]).shape == (2, 3, 2)


def test_a_call_that_fails_midway_leaves_what_was_finished(monkeypatch):
    monkeypatch.setattr(job, "TEXTS_A_PORTION", 2)
    texts = [f"text {number}" for number in range(10)]
    killed, again = Counting(kill_after=6), Counting()
    with pytest.raises(KeyboardInterrupt):
        stored_latents(texts, killed)
    table = stored_latents(texts, again)
    assert sorted(killed.asked + again.asked) == texts
    np.testing.assert_array_equal(table.rows(texts), Counting().latents(texts))


def test_progress_counts_what_was_known_before(monkeypatch, seen):
    monkeypatch.setattr(job, "TEXTS_A_PORTION", 2)
    stored_latents(TEXTS[:2], Counting())
    stored_latents([*TEXTS, "one", "two"], Counting(), seen)
    assert seen.told == ["latents", 5, 2, 2, 1]


@pytest.mark.parametrize(
    "value",
    [
        "x'00'",
        """CAST('[[3, 2, "int8"], 0, ""]' || char(10) AS BLOB)""",
        """CAST('[[3, 2, "float32"], 0, ""]' || char(10) || 'cut' AS BLOB)""",
        """CAST('[[3, 1, "float32"], 0, ""]' || char(10) || 'twelve bytes' AS BLOB)""",
    ],
    ids=["no head", "int8", "cut", "another shape"],
)
def test_damaged_latents_are_named_with_a_way_out(cache, value):
    table = stored_latents(TEXTS, Counting())
    with closing(sqlite3.connect(answer_file(cache))) as connection, connection:
        connection.execute(f"UPDATE entries SET value = {value} WHERE kind = 'latents'")
    with pytest.raises(RunError, match=r"(?s)is damaged.*delete `.*shared-answers\.sqlite`"):
        table.rows(TEXTS)


def test_empty_texts_are_refused_before_any_is_read():
    with pytest.raises(DataError, match="2 of 3 texts are empty, the first at place 1"):
        stored_latents(["who", "", " \n"], Asleep())


@pytest.mark.parametrize(
    ("latents", "message"),
    [
        (np.full((3, 3, 2), np.inf), r"shape \(3, 3, 2\), not all of them finite, by the reader"),
        (np.ones((3, 2)), r"\(3, 2\), by the reader `counting`\n.* \(3, layers, width\) for 3"),
        (np.ones((2, 3, 2)), r"shape \(2, 3, 2\), by .*\n.* \(3, layers, width\) for 3 texts"),
        (np.ones((3, 0, 2)), r"shape \(3, 0, 2\), by"),
    ],
)
def test_a_reader_must_give_finite_numbers_of_one_shape(latents, message, monkeypatch):
    reader = Counting()
    monkeypatch.setattr(reader, "latents", lambda texts: latents)
    with pytest.raises(ModelError, match=message):
        stored_latents(TEXTS, reader)


def test_a_text_that_cannot_be_read_is_found_before_any_is_computed(monkeypatch):
    monkeypatch.setattr(job, "TEXTS_A_PORTION", 1)
    reader = Counting()

    def truncated(texts):
        raise DataError(texts[-1], expected="others", fix="leave it out")

    monkeypatch.setattr(reader, "truncated", truncated)
    with pytest.raises(DataError, match="ann saw bob"):
        stored_latents(TEXTS, reader)
    assert reader.asked == []


def test_latents_that_were_removed_meanwhile_are_an_error(cache):
    table = stored_latents(TEXTS, Counting())
    clear_cache(cache, "latents")
    with pytest.raises(RunError, match="it lacks the latents of 3 texts"):
        table.rows(TEXTS)


def test_numbers_of_bfloat16_must_have_no_more_bits(monkeypatch):
    reader = Counting("half", "bfloat16")
    monkeypatch.setattr(reader, "latents", lambda texts: np.full((len(texts), 1, 2), 0.1))
    with pytest.raises(ModelError, match=r"more bits than bfloat16 has, by the reader `c"):
        stored_latents(TEXTS, reader)
