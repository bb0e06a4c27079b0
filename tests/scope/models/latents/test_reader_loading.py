"""Specs give readers, or say why they do not."""

import json

import pytest

from scope.errors import ModelError, SpecError
from scope.models import load_latent_reader
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


def test_an_object_of_the_users_may_be_a_reader(module):
    name = f"python:{module(MODULE)}"
    assert load_latent_reader(f"{name}:Reader").latents(["a"]).tolist() == [[[1, 1]]]
    with pytest.raises(SpecError, match="the readout mean for the scheme `python`"):
        load_latent_reader(f"{name}:Reader", readout=MEAN)


def test_a_model_that_only_answers_is_refused_with_its_roles(module):
    with pytest.raises(ModelError, match=r"with the roles: classifier\nexpected: .*latent_reader"):
        load_latent_reader(f"python:{module(MODULE)}:classify")


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
