"""Which module asks a checkpoint, and what it can be asked for."""

import json

import pytest
from hub.tiny import write_tiny_model
from tiny_heads import WRITERS

from scope.errors import ModelError
from scope.models import ModelOptions
from scope.models.extractive import ExtractiveModel
from scope.models.huggingface import HuggingFaceClassifier
from scope.models.loading import load_model
from scope.models.masked import MaskedModel
from scope.models.text_to_text import SentinelModel, TextToTextModel

CPU = ModelOptions(device="cpu")


@pytest.fixture(scope="session")
def folders(tmp_path_factory):
    root = tmp_path_factory.mktemp("families")
    writers = {**WRITERS, "classifier": write_tiny_model}
    for name, write in writers.items():
        write(root / name)
    return {name: root / name for name in writers}


@pytest.mark.parametrize(
    ("name", "role", "kind"),
    [
        ("roberta", "mask_filler", MaskedModel),
        ("bert", "mask_filler", MaskedModel),
        ("bert_qa", "answerer", ExtractiveModel),
        ("t5", "answerer", SentinelModel),
        ("t5", "choice_scorer", SentinelModel),
        ("t5", "mask_filler", SentinelModel),
        ("bart", "answerer", TextToTextModel),
        ("bart", "choice_scorer", TextToTextModel),
        ("classifier", "classifier", HuggingFaceClassifier),
    ],
)
def test_an_architecture_reaches_its_module_in_its_roles(folders, name, role, kind):
    assert type(load_model(f"hf:{folders[name]}", role, CPU)) is kind


@pytest.mark.parametrize(
    ("name", "role", "kind", "has"),
    [
        ("roberta", "answerer", "MaskedModel", "mask_filler"),
        ("bert", "classifier", "MaskedModel", "mask_filler"),
        ("bert_qa", "mask_filler", "ExtractiveModel", "answerer"),
        ("t5", "next_token", "SentinelModel", "mask_filler, answerer, choice_scorer"),
        ("bart", "mask_filler", "TextToTextModel", "answerer, choice_scorer"),
        ("classifier", "answerer", "HuggingFaceClassifier", "classifier"),
    ],
)
def test_a_role_that_a_model_lacks_is_refused_with_those_it_has(folders, name, role, kind, has):
    spec = f"hf:{folders[name]}"
    with pytest.raises(ModelError) as raised:
        load_model(spec, role, CPU)
    assert raised.value.found == f"`{spec}` is a {kind} with the roles: {has}"
    assert raised.value.expected.startswith(f"a model in the role of {role}: with")


@pytest.mark.parametrize("architectures", [None, [], ["SomethingElse"], 7])
def test_an_architecture_of_no_family_is_taken_for_a_classifier(tmp_path, architectures):
    write_tiny_model(tmp_path)
    path = tmp_path / "config.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "architectures": architectures}))
    assert type(load_model(str(tmp_path), "classifier", CPU)) is HuggingFaceClassifier


def test_a_damaged_configuration_is_explained_by_the_loader(tmp_path):
    write_tiny_model(tmp_path)
    (tmp_path / "config.json").write_text("{")
    with pytest.raises(ModelError, match="cannot be loaded"):
        load_model(str(tmp_path), "classifier", CPU)
