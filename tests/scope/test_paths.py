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


def test_a_tilde_in_the_variable_means_the_home(monkeypatch):
    monkeypatch.setenv("HOME", "/home/someone")
    monkeypatch.setenv("SCOPE_CACHE", "~/scope")
    assert cache_folder() == Path("/home/someone/scope")


def test_a_home_stands_for_its_sign(monkeypatch):
    monkeypatch.setenv("HOME", "/home/somebody")
    assert expanded("~/x") == Path("/home/somebody/x")
    assert expanded("x/~") == Path("x/~")


def test_a_user_who_is_not_there_is_named():
    with pytest.raises(SpecError, match="the path `~nosuchuser/x`"):
        expanded("~nosuchuser/x")


def test_an_error_that_is_none_of_the_file_system_is_left_alone():
    assert from_system(ConnectionRefusedError(111, "refused")) is None


def test_a_deleted_working_folder_is_named(tmp_path, monkeypatch):
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    with pytest.raises(FileNotFoundError) as raised:
        Path("x").absolute()
    assert "the working folder, which has been deleted" in str(from_system(raised.value))
