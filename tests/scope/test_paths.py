from pathlib import Path

import pytest

from scope.paths import cache_folder


def test_the_cache_is_where_the_variable_says(monkeypatch):
    monkeypatch.setenv("SCOPE_CACHE", "/some/where")
    assert cache_folder() == Path("/some/where")


@pytest.mark.parametrize("unset", [None, ""])
def test_without_the_variable_the_cache_is_in_the_home(monkeypatch, unset):
    monkeypatch.setenv("HOME", "/home/someone")
    monkeypatch.delenv("SCOPE_CACHE", raising=False)
    if unset is not None:
        monkeypatch.setenv("SCOPE_CACHE", unset)
    assert cache_folder() == Path("/home/someone/.cache/scope")


def test_a_tilde_in_the_variable_means_the_home(monkeypatch):
    monkeypatch.setenv("HOME", "/home/someone")
    monkeypatch.setenv("SCOPE_CACHE", "~/scope")
    assert cache_folder() == Path("/home/someone/scope")
