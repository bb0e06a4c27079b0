"""Specs give readers, or say why they do not."""

import hashlib
import json

import numpy as np
import pytest
from huggingface_hub.errors import LocalEntryNotFoundError
from packages import write_packages

from scope.errors import ModelError, SpecError
from scope.models import ModelOptions, checkpoint, load_latent_reader
from scope.models.latents import Readout

MEAN = Readout(kind="mean")

MODULE = """
import numpy as np

class Reader:
    spec, fingerprint, precision, layers, width = "python:mine", "f", "float32", 1, 2
    def latents(self, texts):
        return np.ones((len(texts), 1, 2), dtype=np.float32)
    def truncated(self, texts):
        return [False] * len(texts)

def classify(texts):
    return [[0.5, 0.5] for _ in texts]

classify.labels = ("no", "yes")
"""


@pytest.fixture
def module(tmp_path, monkeypatch):
    (tmp_path / "reader_of_a_user.py").write_text(MODULE)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    return "python:reader_of_a_user"


def test_an_object_of_the_users_may_be_a_reader(module):
    assert load_latent_reader(f"{module}:Reader").latents(["a"]).tolist() == [[[1, 1]]]
    with pytest.raises(SpecError, match="the readout mean for the scheme `python`"):
        load_latent_reader(f"{module}:Reader", readout=MEAN)


def test_a_model_that_only_answers_is_refused_with_its_roles(module, tmp_path):
    with pytest.raises(ModelError, match=r"with the roles: classifier\nexpected: .*latent_reader"):
        load_latent_reader(f"{module}:classify")
    answers = tmp_path / "answers.jsonl"
    answers.write_text(
        '{"id": "0", "text": "a", "probabilities": [0.5, 0.5], "labels": ["n", "y"]}\n'
    )
    with pytest.raises(ModelError, match="with the roles: classifier"):
        load_latent_reader(f"predictions:{answers}")


def test_a_server_is_not_even_asked(monkeypatch):
    def fail(*_):
        raise AssertionError("asked")

    monkeypatch.setattr("scope.models.endpoint.SCHEME.load", fail)
    wanted = (
        r"`openai:http://localhost:9/v1#m` runs on a server.*\nexpected: .*hf:NAME or gguf:FILE"
    )
    with pytest.raises(ModelError, match=wanted):
        load_latent_reader("openai:http://localhost:9/v1#m")


def test_a_sentence_encoder_without_layers_is_refused(tmp_path):
    kind = "sentence_transformers.models.StaticEmbedding.StaticEmbedding"
    (tmp_path / "0_StaticEmbedding").mkdir()
    (tmp_path / "modules.json").write_text(json.dumps([{"idx": 0, "name": "0", "type": kind}]))
    with pytest.raises(
        ModelError, match=r"encoder made of StaticEmbedding\nexpected: a transformer"
    ):
        load_latent_reader(str(tmp_path))


def test_an_encoder_that_the_hub_does_not_give_is_taken_from_installed_packages(
    encoder_folder, tmp_path, monkeypatch
):
    name = "somebody/some-encoder"

    def unreachable(*_, **__):
        raise LocalEntryNotFoundError("no network")

    monkeypatch.setattr("huggingface_hub.snapshot_download", unreachable)
    monkeypatch.setenv("SCOPE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(checkpoint, "PACKAGED", {name: packaged_from(encoder_folder)})
    with pytest.raises(ModelError, match=f"no folder `{name}`, and the hub did not give"):
        load_latent_reader(name)
    monkeypatch.syspath_prepend(tmp_path / "site")
    write_packages(tmp_path / "site", ("some-part-001",), contents_of(encoder_folder))
    found = load_latent_reader(name, ModelOptions(device="cpu"))
    wanted = load_latent_reader(str(encoder_folder), ModelOptions(device="cpu"))
    assert found.spec == f"hf:{name}"
    np.testing.assert_array_equal(found.latents(["a film"]), wanted.latents(["a film"]))


def contents_of(folder):
    files = [path for path in folder.rglob("*") if path.is_file()]
    return {f"inner/{path.relative_to(folder)}": path.read_bytes() for path in files}


def packaged_from(folder):
    weights = (folder / "model.safetensors").read_bytes()
    return checkpoint.PackagedEncoder(
        packages=("some-part-001",), sha256=hashlib.sha256(weights).hexdigest(), version="0.0.1"
    )
