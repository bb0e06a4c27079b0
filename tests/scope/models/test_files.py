import json
import os
from pathlib import Path

import pytest
from hostile.checkpoints import copy_of
from hostile.encoders import change_json

from scope.errors import ModelError
from scope.models.files import is_left_out, read_json, refuse_false_sizes, wanted_files

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


@pytest.fixture
def model(tmp_path):
    """A tiny classifier that a test may change."""
    return copy_of("classifier", tmp_path / "model")


def test_what_the_weights_bear_out_passes(model):
    refuse_false_sizes("mine", model)


@pytest.mark.parametrize(
    ("change", "found"),
    [
        ({"num_hidden_layers": 5000}, "says num_hidden_layers 5000; there are"),
        ({"num_hidden_layers": -1}, "says num_hidden_layers -1; there are"),
        ({"text_config": {"n_layer": 10**9}}, "says n_layer 1000000000; there are"),
        ({"depths": [1], "block_sizes": [1, 10**9]}, "says block_sizes 1000000000; the weights"),
        ({"num_labels": 10**9}, "says num_labels 1000000000; the weights have"),
    ],
)
def test_what_they_do_not_is_refused_by_name(model, change, found):
    change_json(model / "config.json", **change)
    with pytest.raises(ModelError) as raised:
        refuse_false_sizes("mine", model)
    assert found in raised.value.found


def test_numbers_that_are_no_sizes_pass(model):
    change_json(model / "config.json", rope_theta=10**12, eos_token_id=10**12, seed=10**12)
    refuse_false_sizes("mine", model)


def test_a_file_shorter_than_its_header_says_is_named(model):
    weights = model / "model.safetensors"
    size = weights.stat().st_size
    weights.write_bytes(weights.read_bytes()[:-100])
    with pytest.raises(ModelError) as raised:
        refuse_false_sizes("mine", model)
    assert raised.value.found == (
        f"`mine` cannot be loaded (model.safetensors has {size - 100} bytes, and its header "
        f"describes {size}: it is incomplete)"
    )


def test_a_configuration_that_is_a_list_is_refused(model):
    (model / "config.json").write_text(json.dumps([1]))
    with pytest.raises(ModelError, match="holds a list"):
        refuse_false_sizes("mine", model)
