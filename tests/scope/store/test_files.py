"""Kinds: contracts of whole-file replacement."""

from __future__ import annotations

from pathlib import Path

import pytest

from scope.errors import RunError
from scope.store.files import read_text, remove_leftovers, write_atomically


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_a_file_is_replaced_and_nothing_else_stays(tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    write_atomically(path, "old")
    write_atomically(path, "“new”\r\n")
    assert path.read_bytes() == "“new”\r\n".encode()
    assert names(tmp_path) == ["report.html"]


def test_who_reads_the_old_content_reads_it_to_the_end(tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    write_atomically(path, "old")
    with path.open(encoding="utf-8") as reader:
        write_atomically(path, "a longer new one")
        assert reader.read() == "old"


def test_a_write_that_fails_leaves_the_old_content(tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    write_atomically(path, "old")
    with pytest.raises(UnicodeEncodeError):
        write_atomically(path, "new \ud800")
    assert read_text(path) == "old"
    assert names(tmp_path) == ["report.html"]


def test_a_missing_file_has_no_content(tmp_path: Path) -> None:
    assert read_text(tmp_path / "none") is None


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(RunError, match="cannot be read or written: Is a directory"):
        read_text(tmp_path)


def test_half_written_files_of_killed_processes_are_removed(tmp_path: Path) -> None:
    (tmp_path / ".report.html.1234.tmp").touch()
    (tmp_path / "mine.tmp").touch()
    (tmp_path / ".hidden").touch()
    remove_leftovers(tmp_path)
    assert names(tmp_path) == [".hidden", "mine.tmp"]
