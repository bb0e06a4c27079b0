import os
from pathlib import Path

import pytest

from scope.errors import ModelError
from scope.models.files import is_left_out, read_json, wanted_files

PATTERNS = ("*.json", "*.safetensors")


def refusal(folder):
    with pytest.raises(ModelError) as raised:
        wanted_files("mine", folder, PATTERNS)
    return raised.value.found


def test_matching_files_at_any_depth_are_found_in_order(tmp_path):
    for name in ("b.json", "1/a.json", "onnx/c.json", ".git/d.json", "e.txt"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.touch()
    found = wanted_files("mine", tmp_path, PATTERNS)
    assert [str(path.relative_to(tmp_path)) for path in found] == ["1/a.json", "b.json"]


def test_a_link_to_a_file_elsewhere_is_a_file_as_in_the_hubs_cache(tmp_path):
    (tmp_path / "blob").touch()
    (tmp_path / "model").mkdir()
    (tmp_path / "model" / "a.json").symlink_to(tmp_path / "blob")
    assert len(wanted_files("mine", tmp_path / "model", PATTERNS)) == 1


def test_a_dangling_link_matters_where_the_file_is_read(tmp_path):
    (tmp_path / "README.md").symlink_to("nowhere")
    assert wanted_files("mine", tmp_path, PATTERNS) == []
    (tmp_path / "a.json").symlink_to("nowhere")
    assert refusal(tmp_path) == "`mine` cannot be loaded (a.json: No such file or directory)"


def test_a_pipe_is_refused_whatever_its_name(tmp_path):
    os.mkfifo(tmp_path / "README.md")
    assert refusal(tmp_path) == "`mine` cannot be loaded (README.md is not a regular file)"


def test_a_file_too_large_for_its_kind_is_not_read(tmp_path):
    with (tmp_path / "a.json").open("wb") as file:
        file.truncate(10**9)
    with (tmp_path / "b.safetensors").open("wb") as file:
        file.truncate(10**9)
    assert "a.json has 954 MiB: more than 32 MiB are not read" in refusal(tmp_path)


@pytest.mark.parametrize("content", [b"{", b"\xff", b"[" * 200_000])
def test_json_that_cannot_be_read_names_its_file(tmp_path, content):
    (tmp_path / "a.json").write_bytes(content)
    with pytest.raises(ModelError, match=r"`mine` cannot be loaded \(a\.json: "):
        read_json("mine", tmp_path / "a.json")


def test_a_pipe_in_place_of_json_is_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "a.json")
    with pytest.raises(ModelError, match=r"a\.json is not a regular file"):
        read_json("mine", tmp_path / "a.json")


@pytest.mark.parametrize(
    ("path", "left_out"),
    [(".x/a", True), ("a/.x", True), ("onnx", True), ("a/onnx", False), ("1_Pooling", False)],
)
def test_what_is_left_out_is_what_is_not_looked_at(path, left_out):
    assert is_left_out(Path(path)) == left_out
