"""Which adapter asks a checkpoint, and what it can be asked for."""

import json
import math

import pytest
from hub.tiny import write_tiny_model

from scope.errors import ModelError
from scope.models import ModelOptions
from scope.models.causal import CausalModel
from scope.models.extractive import ExtractiveModel
from scope.models.heads import load
from scope.models.huggingface import HuggingFaceClassifier
from scope.models.loading import load_model
from scope.models.masked import MaskedModel
from scope.models.text_to_text import SentinelModel, TextToTextModel
from scope.models.torch_setup import load_torch
from scope.protocols import PROTOCOLS
from scope.records import Question

CPU = ModelOptions(device="cpu")
WRITTEN = ["answerer", "choice_scorer"]
CAUSAL = ["mask_filler", *WRITTEN, "next_token", "text_scorer"]
WORDS = {name: f"{{text}} {name}" for name in ("answer", "cloze", "choice", "text_to_text_answer")}
ASKED = Question(id="0", text="who was ____?", context="ann was dull", options=("ann", "bob"))


@pytest.fixture
def folder(heads, llama_folders):
    return lambda name: llama_folders[True] if name == "llama" else heads[name]


@pytest.mark.parametrize(
    ("name", "kind", "roles"),
    [
        ("bert", MaskedModel, ["mask_filler"]),
        ("bert_qa", ExtractiveModel, ["answerer"]),
        ("t5", SentinelModel, ["mask_filler", *WRITTEN]),
        ("bart", TextToTextModel, WRITTEN),
        ("classifier", HuggingFaceClassifier, ["classifier"]),
        ("llama", CausalModel, CAUSAL),
    ],
)
def test_an_architecture_has_an_adapter_with_roles(folder, adapter, name, kind, roles):
    model = adapter(folder(name), CPU)
    assert type(model) is kind
    assert [role for role, protocol in PROTOCOLS.items() if isinstance(model, protocol)] == roles


@pytest.mark.parametrize("architectures", [None, ["SomethingElse"], 7])
def test_an_architecture_of_no_family_is_taken_for_a_classifier(tmp_path, architectures):
    write_tiny_model(tmp_path)
    path = tmp_path / "config.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "architectures": architectures}))
    assert type(load_model(str(tmp_path), "classifier", CPU)) is HuggingFaceClassifier


@pytest.mark.parametrize(
    ("name", "changes", "prompts"),
    [
        ("bert", {}, ()),
        ("bert_qa", {"max_answer_tokens": 5}, ()),
        ("t5", {"max_answer_tokens": 5}, ("text_to_text_answer", "choice")),
        ("llama", {"max_answer_tokens": 5, "next_tokens": 19}, ("answer", "cloze", "choice")),
    ],
)
def test_the_fingerprint_covers_what_changes_answers_and_no_more(
    folder, adapter, name, changes, prompts
):
    def print_of(**changed):
        options = ModelOptions(**{"device": "cpu", "prompts": WORDS} | changed)
        return adapter(folder(name), options).fingerprint

    other = [{"dtype": "bfloat16"}, *({option: value} for option, value in changes.items())]
    other += [{"prompts": WORDS | {prompt: "{text}"}} for prompt in prompts]
    prints = {print_of(**changed) for changed in other} | {print_of()}
    assert len(prints) == len(other) + 1
    assert print_of(token_budget=7, threads=1) == print_of()


@pytest.mark.parametrize("name", ["bert", "bert_qa", "t5", "llama"])
def test_no_question_has_no_answer_and_weights_that_give_no_numbers_are_refused(folder, name):
    model = load(str(folder(name)), CPU)
    body = model._head.model if hasattr(model, "_head") else model._model
    load_torch().nn.init.constant_(body.get_input_embeddings().weight, math.nan)
    methods = [method for method in ("answer", "choose", "fill") if hasattr(model, method)]
    for ask in (getattr(model, method) for method in methods):
        assert list(ask([])) == []
        with pytest.raises(ModelError, match="answers NaN"):
            list(ask([ASKED]))
