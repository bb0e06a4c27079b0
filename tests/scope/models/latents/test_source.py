import shutil

import pytest

from scope.errors import ModelError
from scope.models import ModelOptions
from scope.models.latents.source import checkpoint_source, family_of, gguf_source

OPTIONS = ModelOptions(device="cpu")


@pytest.mark.parametrize(
    ("config", "family"),
    [
        ({"model_type": "gpt2", "architectures": ["GPT2ForSequenceClassification"]}, "causal"),
        ({"model_type": "gemma3_text"}, "causal"),
        ({"model_type": "bert", "architectures": ["BertModel"]}, "masked"),
        ({"model_type": "bert", "is_decoder": True}, "causal"),
        ({"model_type": "bart"}, "encoder_decoder"),
        ({"model_type": "t5", "is_encoder_decoder": False}, "encoder_decoder"),
        ({"model_type": "own", "is_encoder_decoder": True}, "encoder_decoder"),
        ({"model_type": "own", "architectures": ["OwnForCausalLM"]}, "causal"),
        ({"model_type": "own", "architectures": None}, "masked"),
        ({}, "masked"),
    ],
)
def test_the_family_is_that_of_the_body_whatever_head_it_bears(config, family):
    assert family_of(config) == family


def test_a_source_knows_its_fingerprint_before_it_is_loaded(folders, monkeypatch):
    def fail(*_):
        raise AssertionError("loaded")

    monkeypatch.setattr("scope.models.latents.source.load_parts", fail)
    monkeypatch.setattr("scope.models.gguf.load_gguf_parts", fail)
    folder = folders["llama"]
    whole, packed = (
        checkpoint_source(str(folder), OPTIONS),
        gguf_source(str(folder / "tiny.gguf"), OPTIONS),
    )
    assert (whole.spec, packed.spec) == (f"hf:{folder}", f"gguf:{folder / 'tiny.gguf'}")
    assert whole.family == packed.family == "causal"
    assert len({whole.fingerprint, packed.fingerprint}) == 2


@pytest.mark.parametrize(
    "content", ["{", "[1]", '{"architectures": 5}', '{"model_type": ["bert"]}']
)
def test_a_damaged_configuration_is_named(folders, tmp_path, content):
    folder = shutil.copytree(folders["bert"], tmp_path / "copy")
    (folder / "config.json").write_text(content)
    with pytest.raises(ModelError, match=r"config\.json(:| cannot be read \()"):
        checkpoint_source(str(folder), OPTIONS)


def test_a_checkpoint_without_the_weights_of_a_layer_is_refused(folders, tmp_path):
    from safetensors.torch import load_file, save_file

    folder = shutil.copytree(folders["bert"], tmp_path / "copy")
    weights = load_file(folder / "model.safetensors")
    kept = {name: value for name, value in weights.items() if "layer.1.attention" not in name}
    save_file(kept, folder / "model.safetensors", metadata={"format": "pt"})
    source = checkpoint_source(str(folder), OPTIONS)
    with pytest.raises(ModelError, match=r"lacks trained weights for .*layer\.1\.attention"):
        source.load()


def test_layers_that_are_called_a_decoder_are_no_less_needed(folders, tmp_path):
    """All weights of OPT are."""
    import torch
    import transformers
    from safetensors.torch import load_file, save_file

    folder = shutil.copytree(folders["gpt2"], tmp_path / "opt")
    small = {"hidden_size": 16, "ffn_dim": 16, "num_hidden_layers": 2, "num_attention_heads": 2}
    with torch.random.fork_rng():
        config = transformers.OPTConfig(vocab_size=90, word_embed_proj_dim=16, **small)
        transformers.OPTModel(config).save_pretrained(folder)
    weights = load_file(folder / "model.safetensors")
    assert all(name.startswith("decoder.") for name in weights)
    checkpoint_source(str(folder), OPTIONS).load()
    kept = {name: value for name, value in weights.items() if "layers.1.fc1" not in name}
    save_file(kept, folder / "model.safetensors", metadata={"format": "pt"})
    with pytest.raises(ModelError, match=r"lacks trained weights for decoder\.layers\.1\.fc1"):
        checkpoint_source(str(folder), OPTIONS).load()


def test_an_encoder_decoder_needs_no_decoder(folders, tmp_path):
    from safetensors.torch import load_file, save_file

    folder = shutil.copytree(folders["bart"], tmp_path / "copy")
    weights = load_file(folder / "model.safetensors")
    kept = {name: value for name, value in weights.items() if "decoder.layers" not in name}
    assert len(kept) < len(weights)
    save_file(kept, folder / "model.safetensors", metadata={"format": "pt"})
    checkpoint_source(str(folder), OPTIONS).load()


def test_of_an_encoder_decoder_the_encoder_is_loaded(folders):
    kinds = {
        name: type(checkpoint_source(str(folders[name]), OPTIONS).load().model).__name__
        for name in ("t5", "bart", "bert", "gpt2")
    }
    assert kinds == {
        "t5": "T5Stack",
        "bart": "BartEncoder",
        "bert": "BertModel",
        "gpt2": "GPT2Model",
    }
