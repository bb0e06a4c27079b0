"""Which module asks a checkpoint, and what it can be asked for."""

import json
import math

import pytest
from hub.tiny import write_tiny_model

from scope.errors import ModelError
from scope.models import ModelOptions, causal, extractive, masked, text_to_text
from scope.models.extractive import ExtractiveModel
from scope.models.huggingface import HuggingFaceClassifier
from scope.models.loading import load_model
from scope.models.masked import MaskedModel
from scope.models.text_to_text import SentinelModel, TextToTextModel
from scope.models.torch_setup import load_torch
from scope.records import Question

CPU = ModelOptions(device="cpu")
CAUSAL_ROLES = ("mask_filler", "answerer", "choice_scorer", "next_token")


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
        *(("llama", role, causal.CausalModel) for role in CAUSAL_ROLES),
    ],
)
def test_an_architecture_reaches_its_module_in_its_roles(folder, name, role, kind):
    assert type(load_model(f"hf:{folder(name)}", role, CPU)) is kind


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
def test_a_role_that_a_model_lacks_is_refused_with_those_it_has(heads, name, role, kind, has):
    spec = f"hf:{heads[name]}"
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


MASKED = (masked, "MaskedLM", ("fill",))
SPANS = (extractive, "QuestionAnswering", ("answer",))
WRITTEN = (text_to_text, "Seq2SeqLM", ("answer", "choose", "fill"))
CAUSAL = (causal, "CausalLM", ("answer", "choose", "fill"))
WORDS = {name: f"{{text}} {name}" for name in ("answer", "cloze", "choice", "text_to_text_answer")}
ASKED = Question(id="0", text="who was ____?", context="ann was dull", options=("ann", "bob"))


@pytest.fixture
def folder(heads, llama_folders):
    return lambda name: llama_folders[True] if name == "llama" else heads[name]


@pytest.mark.parametrize(
    ("name", "module", "kind", "changes"),
    [
        ("bert", *MASKED[:2], {}),
        ("bert_qa", *SPANS[:2], {"max_answer_tokens": 5}),
        (
            "t5",
            *WRITTEN[:2],
            {"max_answer_tokens": 5, "prompts": ("text_to_text_answer", "choice")},
        ),
        (
            "llama",
            *CAUSAL[:2],
            {"max_answer_tokens": 5, "next_tokens": 19, "prompts": ("answer", "cloze", "choice")},
        ),
    ],
)
def test_the_fingerprint_covers_what_changes_answers_and_no_more(
    folder, adapter, name, module, kind, changes
):
    def print_of(**changed):
        options = ModelOptions(**{"device": "cpu", "prompts": WORDS} | changed)
        return adapter(module, folder(name), kind, options).fingerprint

    prompts = changes.pop("prompts", ())
    other = [{"dtype": "bfloat16"}, *({option: value} for option, value in changes.items())]
    other += [{"prompts": WORDS | {prompt: "{text}"}} for prompt in prompts]
    prints = {print_of(**changed) for changed in other} | {print_of()}
    assert len(prints) == len(other) + 1
    assert print_of(token_budget=7, threads=1) == print_of()


@pytest.mark.parametrize(
    ("name", "module", "kind", "methods"),
    [
        ("bert", *MASKED),
        ("bert_qa", *SPANS),
        ("t5", *WRITTEN),
        ("bart", *WRITTEN),
        ("llama", *CAUSAL),
    ],
)
def test_no_question_has_no_answer_and_weights_that_give_no_numbers_are_refused(
    folder, name, module, kind, methods
):
    model = module.load(str(folder(name)), CPU)
    body = model._head.model if hasattr(model, "_head") else model._model
    load_torch().nn.init.constant_(body.get_input_embeddings().weight, math.nan)
    for ask in (getattr(model, method) for method in methods if hasattr(model, method)):
        assert list(ask([])) == []
        with pytest.raises(ModelError, match="answers NaN"):
            list(ask([ASKED]))
