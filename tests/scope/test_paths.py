from pathlib import Path

import pytest

from scope.errors import SpecError
from scope.paths import cache_folder, expanded, from_system


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


def test_a_user_who_is_not_there_is_named():
    with pytest.raises(SpecError, match="the path `~nosuchuser/x`"):
        expanded("~nosuchuser/x")


def test_an_error_that_is_none_of_the_file_system_is_left_alone():
    assert from_system(ConnectionRefusedError(111, "refused")) is None
