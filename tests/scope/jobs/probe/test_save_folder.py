"""The folder of a probe is made sure of before any work, and nothing else is overwritten."""

from pathlib import Path

import pytest

from scope.errors import RunError
from scope.jobs.probe.save_folder import prepare_folder
from scope.probes.saved_numbers import DESCRIPTION


def test_a_new_folder_is_made_and_left_empty(tmp_path):
    prepare_folder(tmp_path / "a" / "b")
    assert list((tmp_path / "a" / "b").iterdir()) == []
    prepare_folder(tmp_path / "a" / "b")


def test_a_folder_of_a_probe_is_taken_as_it_is(tmp_path):
    (tmp_path / DESCRIPTION).write_text("old", encoding="utf-8")
    (tmp_path / "notes.txt").write_text("mine", encoding="utf-8")
    prepare_folder(tmp_path)
    assert (tmp_path / DESCRIPTION).read_text(encoding="utf-8") == "old"


def test_other_files_are_never_mixed_with_a_probe(tmp_path):
    (tmp_path / "notes.txt").write_text("mine", encoding="utf-8")
    with pytest.raises(RunError, match=r"holds no probe, but `notes.txt`"):
        prepare_folder(tmp_path)
    with pytest.raises(RunError, match=r"notes.txt` is a file"):
        prepare_folder(tmp_path / "notes.txt")
    assert [path.name for path in tmp_path.iterdir()] == ["notes.txt"]


def test_a_folder_in_which_no_file_can_be_made_is_refused(tmp_path, monkeypatch):
    def forbidden(self, *arguments, **options):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "touch", forbidden)
    with pytest.raises(RunError) as error:
        prepare_folder(tmp_path / "kept")
    assert "cannot be written: Permission denied" in error.value.found
    assert error.value.mend == "name another folder with --save"
