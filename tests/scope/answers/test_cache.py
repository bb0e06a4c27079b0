"""All caches of the folder: sizes, the limit, and removal."""

import sqlite3
from contextlib import closing

import pytest

from scope.answers.table import (
    answer_file,
    bytes_of_cache,
    clear_cache,
    enforce_limit,
    shared_table,
    size_limit,
    sizes,
)
from scope.errors import RunError, SpecError


@pytest.fixture
def folder(tmp_path):
    """Two answers of 50 kB each, a search, a vector, and latents of a day ago."""
    with shared_table(tmp_path) as file:
        file.put("answers", "model", {"old": "x" * 50_000, "new": "x" * 50_000})
        file.put("searches", "model", {"example": "[]"})
        file.put("vectors", "encoder", {"text": b"AAAA"})
        file.put("latents", "model", {"text": b"A" * 1000})
    with closing(sqlite3.connect(answer_file(tmp_path))) as connection, connection:
        connection.execute("UPDATE entries SET used = 9 WHERE kind IN ('searches', 'latents')")
    return tmp_path


def entries(folder):
    return {one.kind: one.entries for one in sizes(folder)}


def test_a_damaged_file_is_cleared(folder):
    answer_file(folder).write_bytes(b"damaged")
    clear_cache(folder, "answers")
    assert entries(folder)["searches"] == 0


def test_the_least_recently_used_goes_first(folder):
    enforce_limit(folder, bytes_of_cache(folder) - 10)
    assert entries(folder) == {"answers": 2, "searches": 0, "vectors": 1, "latents": 0}


def test_latents_that_may_be_in_use_stay(folder):
    with shared_table(folder) as table:
        table.get("latents", "model", ["text"], len)
    enforce_limit(folder, 0)
    assert entries(folder) == {"answers": 0, "searches": 0, "vectors": 0, "latents": 1}


@pytest.mark.parametrize(
    ("given", "bytes_"),
    [("", 5e9), ("0", 0), ("1000", 1000), ("1.5GB", 1.5e9), ("20 mb", 2e7), ("3K", 3000)],
)
def test_the_limit_is_a_size(monkeypatch, given, bytes_):
    monkeypatch.setenv("SCOPE_CACHE_LIMIT", given)
    assert size_limit() == bytes_


def test_a_file_that_another_process_writes_is_not_removed(folder, monkeypatch):
    monkeypatch.setattr("scope.answers.table.SECONDS_TO_WAIT", 0.1)
    with closing(sqlite3.connect(answer_file(folder), isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(RunError):
            clear_cache(folder, "searches")
        other.execute("ROLLBACK")
    assert entries(folder)["searches"] > 0


@pytest.mark.parametrize("given", ["much", "-1", "5 XB", "1e9"])
def test_another_limit_is_refused(monkeypatch, given):
    monkeypatch.setenv("SCOPE_CACHE_LIMIT", given)
    with pytest.raises(SpecError, match="SCOPE_CACHE_LIMIT=5GB"):
        size_limit()
