import pytest
import tiny_zoo
import torch
from safetensors.torch import load_file
from zoo.storing import save_compactly

from scope.demo_models.bases import load_base
from scope.models import ModelOptions, load_model
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


@pytest.mark.parametrize("kind", ["llama", "bert"])
def test_a_spec_answers_as_the_model_that_was_stored(kind, tmp_path):
    texts = ["so good", "the film was so so dull", "warm"]
    base = tiny_zoo.BASES[kind](texts, None, 0)
    save_compactly(base, tmp_path / "model")
    answers = load_model(str(tmp_path / "model"), "classifier", ModelOptions()).classify(texts)
    for text, answer in zip(texts, answers, strict=True):
        encoded = base.tokenizer(text, return_tensors="pt", return_token_type_ids=False)
        with torch.inference_mode():
            expected = base.model.eval()(**encoded).logits.softmax(dim=-1)[0]
        assert answer.probabilities == pytest.approx(expected.tolist(), abs=2e-6)
