import json
import subprocess
import sys

import huggingface_hub
import pytest
from hub.server import hub_environment, serve

from scope.errors import ModelError
from scope.models import ModelOptions
from scope.models.checkpoint import fetch_checkpoint

FETCH = """
import json, sys
from scope.errors import ModelError
from scope.models import ModelOptions
from scope.models.checkpoint import fetch_checkpoint
answers = []
for name, pickle, remote in json.loads(sys.argv[1]):
    try:
        options = ModelOptions(allow_pickle=pickle, trust_remote_code=remote)
        found = fetch_checkpoint(name, options)
        files = {str(p.relative_to(found.folder)) for p in found.folder.rglob("*") if p.is_file()}
        answers.append(sorted(files))
    except ModelError as error:
        answers.append(str(error))
print(json.dumps(answers))
"""


def write(folder, **contents):
    """Files named by stem and suffix, an underscore for the last dot."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in contents.items():
        (folder / ".".join(name.rsplit("_", 1))).write_text(content)
    return folder


@pytest.fixture
def checkpoint(tmp_path):
    return write(tmp_path / "model", config_json="{}", model_safetensors="weights")


def fingerprint(folder, **options):
    return fetch_checkpoint(str(folder), ModelOptions(**options)).fingerprint


def test_a_folder_is_used_where_it_stands(checkpoint):
    found = fetch_checkpoint(str(checkpoint), ModelOptions())
    assert found.folder == checkpoint
    assert len(found.fingerprint) == 16


def test_a_home_folder_may_be_written_with_a_tilde(checkpoint, monkeypatch):
    monkeypatch.setenv("HOME", str(checkpoint.parent))
    assert fetch_checkpoint("~/model", ModelOptions()).folder == checkpoint


def test_the_fingerprint_covers_content_names_and_dtype(checkpoint):
    seen = {fingerprint(checkpoint), fingerprint(checkpoint, dtype="float16")}
    for name, content in (
        ("model_safetensors", "weighty"),
        ("config_json", "{ }"),
        ("vocab_txt", "a"),
        ("tokenizer_model", "a"),
    ):
        write(checkpoint, **{name: content})
        seen.add(fingerprint(checkpoint))
    (checkpoint / "vocab.txt").rename(checkpoint / "vocabulary.txt")
    seen.add(fingerprint(checkpoint))
    assert len(seen) == 7


def test_the_fingerprint_knows_neither_place_nor_reading_matter_nor_speed(checkpoint, tmp_path):
    first = fingerprint(checkpoint)
    write(checkpoint, README_md="x", modeling_py="x", pytorch_model_bin="x")
    moved = checkpoint.rename(tmp_path / "elsewhere")
    assert fingerprint(moved, token_budget=7, device="cpu") == first
    assert fingerprint(moved, allow_pickle=True) != first
    assert fingerprint(moved, trust_remote_code=True) != first


def test_a_folder_with_pickles_alone_is_refused_unless_they_are_allowed(tmp_path):
    folder = write(tmp_path / "model", config_json="{}", pytorch_model_bin="weights")
    with pytest.raises(ModelError) as raised:
        fetch_checkpoint(str(folder), ModelOptions())
    assert str(raised.value) == (
        f"found:    `{folder}` has no *.safetensors file among "
        "['config.json', 'pytorch_model.bin']\n"
        "expected: weights as safetensors: a pickle can run any code when it is read\n"
        "fix:      convert it to safetensors, or, if you trust its author, add --allow-pickle"
    )
    assert fetch_checkpoint(str(folder), ModelOptions(allow_pickle=True)).folder == folder


def test_a_folder_without_weights_is_refused_even_with_pickles_allowed(tmp_path):
    folder = write(tmp_path / "model", config_json="{}")
    with pytest.raises(ModelError, match=r"no \*\.safetensors file among \['config\.json'\]"):
        fetch_checkpoint(str(folder), ModelOptions(allow_pickle=True))


def test_a_missing_folder_that_can_be_no_hub_name_is_named(tmp_path):
    with pytest.raises(ModelError) as raised:
        fetch_checkpoint(str(tmp_path / "none"), ModelOptions())
    assert raised.value.found.startswith(
        f"no folder `{tmp_path}/none`, and the hub did not give a model of that name "
        "(HFValidationError: "
    )


def test_the_revision_is_what_follows_the_at_sign(checkpoint, monkeypatch):
    asked = []

    def download(name, *, revision, **patterns):
        asked.append((name, revision))
        return str(checkpoint)

    monkeypatch.setattr(huggingface_hub, "snapshot_download", download)
    fetch_checkpoint("a/b@v1.0", ModelOptions())
    fetch_checkpoint("a/b", ModelOptions())
    assert asked == [("a/b", "v1.0"), ("a/b", None)]


def test_from_the_hub_come_neither_pickles_nor_code_nor_other_formats_unless_asked_for(tmp_path):
    repository = tmp_path / "hub" / "models" / "tiny" / "model"
    write(
        repository,
        config_json="{}",
        model_safetensors="weights",
        pytorch_model_bin="x",
        modeling_py="x",
        README_md="x",
    )
    write(repository / "onnx", config_json="{}")
    write(repository / "1_Pooling", config_json="{}")
    write(tmp_path / "hub" / "models" / "tiny" / "pickle", pytorch_model_bin="x", config_json="{}")
    asked = [
        ("tiny/model", False, False),
        ("tiny/pickle", False, False),
        ("tiny/none", False, False),
        ("tiny/model", True, True),
    ]
    with serve(tmp_path / "hub") as url:
        done = subprocess.run(
            [sys.executable, "-c", FETCH, json.dumps(asked)],
            env=hub_environment(url, tmp_path / "home"),
            capture_output=True,
            text=True,
            check=True,
        )
    plain, pickled, missing, everything = json.loads(done.stdout)
    assert plain == ["1_Pooling/config.json", "config.json", "model.safetensors"]
    assert "`tiny/pickle` has no *.safetensors file among ['config.json']" in pickled
    assert "no folder `tiny/none`, and the hub did not give a model of that name" in missing
    assert set(everything) == {*plain, "pytorch_model.bin", "modeling.py"}
