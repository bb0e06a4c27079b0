"""Checkpoints that must not load, or whose answers must not pass."""

import json
import os

import pytest
from hub.tiny import write_tiny_model

from scope.errors import ModelError
from scope.models import ModelOptions, load_classifier
from scope.models.huggingface import load
from scope.models.torch_setup import load_torch


def change_weights(folder, change):
    from safetensors.torch import load_file, save_file

    weights = load_file(folder / "model.safetensors")
    change(weights)
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})


def refusal(folder, **options):
    with pytest.raises(ModelError) as raised:
        load_classifier(str(folder), ModelOptions(device="cpu", **options))
    return raised.value


def test_a_model_that_answers_nan_is_refused_with_the_text(bert_copy):
    change_weights(bert_copy, lambda weights: weights["classifier.bias"].fill_(float("nan")))
    classifier = load(str(bert_copy), ModelOptions(device="cpu"))
    with pytest.raises(ModelError) as raised:
        classifier.classify(["a film"])
    assert str(raised.value) == (
        f"found:    `hf:{bert_copy}` answers NaN or infinity to the text 'a film'\n"
        "expected: finite probabilities\n"
        "fix:      try --dtype float32, or check the checkpoint: its weights may be damaged"
    )


def test_a_head_with_one_label_is_refused(tmp_path):
    write_tiny_model(tmp_path / "score", labels=("score",))
    assert refusal(tmp_path / "score").found.endswith("has the labels ['score']")


def test_a_base_model_without_a_trained_head_is_refused(bert_copy):
    change_weights(bert_copy, lambda weights: weights.pop("classifier.weight"))
    assert refusal(bert_copy).found == f"`{bert_copy}` lacks trained weights for classifier.weight"


def test_a_model_whose_labels_do_not_exclude_each_other_is_refused(bert_copy):
    edit_config(bert_copy, problem_type="multi_label_classification")
    assert "a multi-label classifier" in refusal(bert_copy).found


def test_a_quantization_that_the_library_would_skip_is_refused(bert_copy):
    edit_config(bert_copy, quantization_config={"quant_method": "no-such"})
    assert "is quantized by the method 'no-such', which transformers" in refusal(bert_copy).found


def test_labels_that_the_configuration_leaves_out_go_by_their_number(bert_copy):
    edit_config(bert_copy, id2label={"0": "bad", "5": "good"}, label2id={"bad": 0, "good": 5})
    assert load(str(bert_copy), ModelOptions(device="cpu")).labels == ("bad", "LABEL_1")


def edit_config(folder, **changes):
    path = folder / "config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))


@pytest.fixture
def pickled(bert_copy):
    """The same weights as a pickle alone."""
    from safetensors.torch import load_file

    weights = load_file(bert_copy / "model.safetensors")
    (bert_copy / "model.safetensors").unlink()
    load_torch().save(weights, bert_copy / "pytorch_model.bin")
    return bert_copy


def test_a_pickled_checkpoint_is_refused_and_loads_when_it_is_allowed(pickled, checkpoints):
    assert "has no *.safetensors file among" in refusal(pickled).found
    allowed = load(str(pickled), ModelOptions(device="cpu", allow_pickle=True))
    whole = load(str(checkpoints["bert"]), ModelOptions(device="cpu"))
    texts = ["a good film", "dull"]
    assert allowed.classify(texts) == whole.classify(texts)


class Payload:
    """Makes a folder when it is read from a pickle."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return (os.mkdir, (str(self.path),))


@pytest.mark.parametrize("decoy", [None, "decoy.safetensors"])
def test_a_pickle_that_runs_code_is_not_read(pickled, tmp_path, decoy):
    trace = tmp_path / "trace"
    load_torch().save({"weights": Payload(trace)}, pickled / "pytorch_model.bin")
    if decoy:
        (pickled / decoy).write_bytes(b"")
    refusal(pickled)
    assert not trace.exists()


REMOTE_CODE = """
from pathlib import Path
Path({trace!r}).mkdir()
from transformers import PretrainedConfig
class Config(PretrainedConfig):
    model_type = "foreign"
"""


def test_code_that_comes_with_a_checkpoint_is_not_run(bert_copy, tmp_path):
    trace = tmp_path / "trace"
    (bert_copy / "foreign.py").write_text(REMOTE_CODE.format(trace=str(trace)))
    edit_config(bert_copy, model_type="foreign", auto_map={"AutoConfig": "foreign.Config"})
    error = refusal(bert_copy)
    assert not trace.exists()
    assert "contains custom code" in error.found
    assert "--trust-remote-code" in error.fix


def truncate(path):
    path.write_bytes(path.read_bytes()[:-100])


@pytest.mark.parametrize(
    ("damage", "name"),
    [
        (lambda path: path.write_text('{"model_type": "bert",'), "config.json"),
        (lambda path: path.write_text('{"model_type": "unheard of"}'), "config.json"),
        (lambda path: path.write_text('{"model_type": "bert", "hidden_size": "x"}'), "config.json"),
        (truncate, "model.safetensors"),
        (lambda path: path.write_bytes(b""), "model.safetensors"),
        (lambda path: path.write_text('{"version": "1.0", "model": {}}'), "tokenizer.json"),
        (lambda path: path.unlink(), "config.json"),
    ],
)
def test_damaged_files_are_refused_in_one_short_message(bert_copy, damage, name):
    damage(bert_copy / name)
    error = refusal(bert_copy)
    assert error.found.startswith(f"`{bert_copy}")
    assert "` cannot be loaded (" in error.found
    assert len(str(error).splitlines()) == 3
    assert error.expected == "a folder with config.json, a tokenizer and *.safetensors"


def test_weights_of_another_shape_are_refused(bert_copy):
    edit_config(bert_copy, id2label={"0": "a", "1": "b", "2": "c"})
    assert "cannot be loaded (RuntimeError: " in refusal(bert_copy).found
