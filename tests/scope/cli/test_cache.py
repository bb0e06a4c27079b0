"""The commands of the cache."""

import json

import pytest

from scope.answers.table import shared_table


@pytest.fixture
def cache(tmp_path, monkeypatch):
    folder = tmp_path / "cache"
    monkeypatch.setenv("SCOPE_CACHE", str(folder))
    monkeypatch.setenv("SCOPE_CACHE_LIMIT", "20 MB")
    with shared_table(folder) as file:
        file.put("answers", "model", {"text": "1", "other": "2"})
        file.put("searches", "model", {"example": "[]"})
    return folder


def shown(command):
    found = json.loads(command("cache", "show", "--json").stdout)
    return {one["kind"]: one["entries"] for one in found["caches"]} | found


def test_the_cache_is_shown_with_folder_and_limit(command, cache):
    text = command("cache", "show").stdout
    assert f"folder: {cache} (" in text
    assert "of at most 20.0 MB" in text
    found = shown(command)
    assert (found["answers"], found["searches"], found["vectors"], found["latents"]) == (2, 1, 0, 0)
    assert (found["folder"], found["limit"]) == (str(cache), 20_000_000)
    assert found["bytes"] > 0


@pytest.mark.parametrize(("kind", "left"), [(["answers"], (0, 1)), ([], (0, 0))])
def test_one_cache_is_cleared_or_all(command, cache, kind, left):
    assert command("cache", "clear", *kind).returncode == 0
    found = shown(command)
    assert (found["answers"], found["searches"]) == left
