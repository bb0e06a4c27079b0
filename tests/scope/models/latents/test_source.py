"""The processor is made up: what it says of itself decides, whatever this machine is."""

import shutil

import pytest
from safetensors.torch import load_file, save_file
from seeded import save

from scope.errors import ModelError
from scope.models.huggingface import checkpoint_source, family_of
from scope.models.options import ModelOptions
from scope.models.torch_setup import load_torch, natural_dtype, quiet_transformers

OPTIONS = ModelOptions(device="cpu")


@pytest.mark.parametrize(
    ("config", "family"),
    [
        ({"model_type": "gpt2", "architectures": ["GPT2ForSequenceClassification"]}, "causal"),
        ({"model_type": "bert", "architectures": ["BertModel"]}, "masked"),
        ({"model_type": "bert", "is_decoder": True}, "causal"),
        ({"model_type": "t5", "is_encoder_decoder": False}, "encoder_decoder"),
        ({"model_type": "own", "is_encoder_decoder": True}, "encoder_decoder"),
        ({"model_type": "own", "architectures": ["OwnForCausalLM"]}, "causal"),
        ({}, "masked"),
    ],
)
def test_the_family_is_that_of_the_body_whatever_head_it_bears(config, family):
    assert family_of(config) == family


def copy_without(folder, part, copy):
    """A copy of a checkpoint without the weights that have this part in their names."""
    shutil.copytree(folder, copy, dirs_exist_ok=True)
    weights = load_file(folder / "model.safetensors")
    kept = {name: value for name, value in weights.items() if part not in name}
    assert len(kept) < len(weights)
    save_file(kept, copy / "model.safetensors", metadata={"format": "pt"})
    return checkpoint_source(str(copy), OPTIONS)


def test_a_checkpoint_without_the_weights_of_a_layer_is_refused(folders, tmp_path):
    source = copy_without(folders["bert"], "layer.1.attention", tmp_path / "copy")
    with pytest.raises(ModelError, match=r"lacks trained weights for .*layer\.1\.attention"):
        source.load()


def test_layers_that_are_called_a_decoder_are_no_less_needed(folders, tmp_path):
    """All weights of OPT are."""
    transformers = quiet_transformers()
    folder = shutil.copytree(folders["gpt2"], tmp_path / "opt")
    small = {"hidden_size": 16, "ffn_dim": 16, "num_hidden_layers": 2, "num_attention_heads": 2}
    config = transformers.OPTConfig(vocab_size=90, word_embed_proj_dim=16, **small)
    save(transformers.OPTModel, config, folder)
    assert all(name.startswith("decoder.") for name in load_file(folder / "model.safetensors"))
    checkpoint_source(str(folder), OPTIONS).load()
    source = copy_without(folder, "layers.1.fc1", tmp_path / "damaged")
    with pytest.raises(ModelError, match=r"lacks trained weights for decoder\.layers\.1\.fc1"):
        source.load()


def test_an_encoder_decoder_needs_no_decoder(folders, tmp_path):
    copy_without(folders["bart"], "decoder.layers", tmp_path / "copy").load()


@pytest.fixture
def cpu(monkeypatch):
    """Gives the processor these instructions, and no others."""

    def offer(**instructions):
        offered = {"architecture": "x86_64", "avx512_f": True, **instructions}
        monkeypatch.setattr(load_torch().cpu, "get_capabilities", lambda: offered, raising=False)

    return offer


@pytest.mark.parametrize(
    ("instructions", "dtype"),
    [
        ({"amx_bf16": True}, "bfloat16"),
        ({"avx512_bf16": True}, "bfloat16"),
        ({"amx_tile": True}, "float32"),
    ],
)
def test_a_cpu_reads_in_bfloat16_if_it_multiplies_it(cpu, instructions, dtype):
    cpu(**instructions)
    assert natural_dtype("cpu") == dtype


@pytest.mark.parametrize(("amx", "avx512"), [(True, False), (False, True)])
def test_an_earlier_torch_is_asked_under_its_own_names(monkeypatch, amx, avx512):
    module = load_torch().cpu
    monkeypatch.delattr(module, "get_capabilities", raising=False)
    monkeypatch.setattr(module, "_is_amx_tile_supported", lambda: amx)
    monkeypatch.setattr(module, "_is_avx512_bf16_supported", lambda: avx512)
    assert natural_dtype("cpu") == "bfloat16"


@pytest.mark.parametrize(("native", "dtype"), [(True, "bfloat16"), (False, "float32")])
def test_a_graphics_card_must_not_emulate_it(cpu, monkeypatch, native, dtype):
    cpu(amx_bf16=not native)
    cuda = load_torch().cuda
    monkeypatch.setattr(cuda, "is_available", lambda: True)
    monkeypatch.setattr(
        cuda, "is_bf16_supported", lambda including_emulation=True: native or including_emulation
    )
    assert natural_dtype("cuda") == natural_dtype("auto") == dtype
