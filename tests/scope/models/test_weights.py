"""How large a model is, read off its files."""

import pytest

from scope.models import ModelOptions, load_classifier
from scope.models.weights import weights_of


def test_parameters_are_those_of_the_loaded_model_and_memory_follows_the_precision(checkpoints):
    folder = checkpoints["bert"]
    loaded = load_classifier(str(folder))._model
    found = weights_of(str(folder), ModelOptions(dtype="bfloat16"))
    assert found.parameters == sum(one.numel() for one in loaded.parameters())
    assert (found.dtype, found.memory) == ("bfloat16", 2 * found.parameters)
    assert found.stored == (folder / "model.safetensors").stat().st_size


@pytest.mark.parametrize(
    ("spec", "reason"),
    [
        ("openai:http://localhost:8000/v1#ours", "it runs on a server"),
        ("predictions:answers.jsonl", "its answers are saved"),
        ("python:mine:model", "its code is the user's"),
    ],
)
def test_the_size_of_other_models_is_unknown_with_a_reason(spec, reason):
    found = weights_of(spec, ModelOptions())
    assert (found.parameters, found.stored, found.memory, found.reason) == (None,) * 3 + (reason,)
