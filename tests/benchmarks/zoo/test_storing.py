import pytest
import tiny_zoo
import torch
from safetensors.torch import load_file
from zoo.storing import save_compactly

from scope.demo_models.bases import load_base
from scope.models.torch_setup import quiet_transformers


@pytest.fixture
def base():
    """A Llama whose embeddings need no more than two bytes a number."""
    made = tiny_zoo.tiny_llama([], None, 0)
    embeddings = made.model.get_input_embeddings().weight.data
    embeddings.copy_(embeddings.to(torch.bfloat16))
    return made


def test_what_two_bytes_hold_is_stored_in_two_bytes_and_all_else_whole(base, tmp_path):
    save_compactly(base, tmp_path / "model")
    stored = load_file(tmp_path / "model" / "model.safetensors")
    assert stored["model.embed_tokens.weight"].dtype == torch.bfloat16
    assert stored["model.layers.0.mlp.up_proj.weight"].dtype == torch.float32


def test_a_stored_model_comes_back_bit_for_bit(base, tmp_path):
    save_compactly(base, tmp_path / "model")
    expected = base.model.state_dict()
    direct = quiet_transformers().AutoModelForSequenceClassification.from_pretrained(
        tmp_path / "model", dtype=torch.float32
    )
    for loaded in (load_base(tmp_path / "model").model, direct):
        found = loaded.state_dict()
        assert found.keys() == expected.keys()
        for name, tensor in found.items():
            assert tensor.dtype == expected[name].dtype, name
            assert torch.equal(tensor, expected[name]), name
