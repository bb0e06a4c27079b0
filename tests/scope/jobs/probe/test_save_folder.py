"""The folder of a probe is made sure of before any work, and nothing else is overwritten."""

import json
from dataclasses import asdict, replace
from pathlib import Path

import pytest

from scope.errors import RunError
from scope.jobs.probe.save_folder import prepare_folder
from scope.probes import LatentSource
from scope.probes.saving import DESCRIPTION

SOURCE = LatentSource(
    spec="hf:llama", fingerprint="12ab", readout="last", prompt=None, dtype="float32"
)


def test_a_new_folder_is_made_and_left_empty(tmp_path):
    prepare_folder(tmp_path / "a" / "b", SOURCE)
    assert list((tmp_path / "a" / "b").iterdir()) == []
    prepare_folder(tmp_path / "a" / "b", SOURCE)


def test_a_folder_of_a_probe_is_taken_as_it_is(tmp_path):
    (tmp_path / DESCRIPTION).write_text("old", encoding="utf-8")
    (tmp_path / "notes.txt").write_text("mine", encoding="utf-8")
    prepare_folder(tmp_path, SOURCE)
    assert (tmp_path / DESCRIPTION).read_text(encoding="utf-8") == "old"


def test_other_files_are_never_mixed_with_a_probe(tmp_path):
    (tmp_path / "notes.txt").write_text("mine", encoding="utf-8")
    with pytest.raises(RunError, match=r"contains no probe, but `notes.txt`"):
        prepare_folder(tmp_path, SOURCE)
    with pytest.raises(RunError, match=r"notes.txt` is a file"):
        prepare_folder(tmp_path / "notes.txt", SOURCE)
    assert [path.name for path in tmp_path.iterdir()] == ["notes.txt"]


def test_a_folder_in_which_no_file_can_be_made_is_refused(tmp_path, monkeypatch):
    def forbidden(self, *arguments, **options):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "touch", forbidden)
    with pytest.raises(RunError) as error:
        prepare_folder(tmp_path / "kept", SOURCE)
    assert "cannot be written: Permission denied" in error.value.found
    assert error.value.fix == "choose another folder with --save"


def test_a_probe_of_the_same_model_is_replaced_wherever_the_model_lies(tmp_path):
    kept = json.dumps({"source": asdict(replace(SOURCE, spec="hf:moved"))})
    (tmp_path / DESCRIPTION).write_text(kept, encoding="utf-8")
    prepare_folder(tmp_path, SOURCE)


def test_a_probe_of_another_model_is_not_replaced_and_both_are_named(tmp_path):
    kept = json.dumps({"source": asdict(replace(SOURCE, spec="hf:bert", fingerprint="34cd"))})
    (tmp_path / DESCRIPTION).write_text(kept, encoding="utf-8")
    with pytest.raises(RunError) as error:
        prepare_folder(tmp_path, SOURCE)
    assert "contains a probe of `hf:bert` with the fingerprint `34cd`" in error.value.found
    assert "`hf:llama`" in error.value.expected
    assert "the fingerprint `12ab`" in error.value.expected
    assert (tmp_path / DESCRIPTION).read_text(encoding="utf-8") == kept


@pytest.mark.parametrize("text", ["[]", "{}", '{"source": 3}', '{"source": {"spec": "hf:a"}}'])
def test_a_probe_that_says_nothing_of_its_model_may_be_replaced(tmp_path, text):
    (tmp_path / DESCRIPTION).write_text(text, encoding="utf-8")
    prepare_folder(tmp_path, SOURCE)
