"""The oracle is the library's own loading of the same folder, to the bit."""

import shutil

import numpy as np
import pytest
from hostile.encoders import change_json, copy_encoder, write_json, write_modules

from scope.errors import ModelError
from scope.models import ModelOptions, load_encoder
from scope.models.encoder_modules import build_encoder
from scope.models.torch_setup import load_torch, quiet_transformers

TEXTS = ["a good film", "DULL plot", "the film " * 30, ""]


@pytest.fixture
def encoder(tmp_path):
    """A Transformer, Pooling, Dense and Normalize in a folder that a test may change."""
    return copy_encoder(tmp_path / "enc")


def assert_as_the_library(folder):
    from sentence_transformers import SentenceTransformer

    quiet_transformers()
    ours = build_encoder(str(folder), folder, ModelOptions(device="cpu"), "cpu")
    theirs = SentenceTransformer(str(folder), device="cpu")
    assert [type(module) for module in ours] == [type(module) for module in theirs]
    assert ours.max_seq_length == theirs.max_seq_length
    assert (ours.prompts, ours.default_prompt_name) == (theirs.prompts, theirs.default_prompt_name)
    for text in TEXTS:
        one, other = (
            model.eval().encode([text], show_progress_bar=False) for model in (ours, theirs)
        )
        assert np.array_equal(one, other)
    return ours


def test_transformer_pooling_dense_and_normalize_give_the_librarys_bits(encoder):
    ours = assert_as_the_library(encoder)
    assert [type(module).__name__ for module in ours] == [
        *("Transformer", "Pooling", "Dense", "Normalize"),
    ]


def test_prompts_limits_lower_case_and_dimension_are_the_librarys(encoder):
    change_json(encoder / "sentence_bert_config.json", max_seq_length=7, do_lower_case=True)
    write_json(
        encoder / "config_sentence_transformers.json",
        {
            "__version__": {"sentence_transformers": "5.0.0"},
            "prompts": {"query": "not the ", "document": ""},
            "default_prompt_name": "query",
            "similarity_fn_name": "cosine",
            "truncate_dim": 5,
        },
    )
    assert assert_as_the_library(encoder).encode("a film").shape == (5,)


def test_a_transformer_in_a_folder_of_its_own_is_found(encoder):
    inner = encoder / "0_Transformer"
    inner.mkdir()
    for path in [*encoder.glob("*.*")]:
        if path.name != "modules.json":
            shutil.move(path, inner / path.name)
    shutil.copy(inner / "model.safetensors", encoder)
    write_modules(encoder, ["Transformer", "Pooling"], Transformer="0_Transformer")
    assert_as_the_library(encoder)


def test_a_checkpoint_without_modules_is_pooled_as_the_library_pools_it(encoder):
    (encoder / "modules.json").unlink()
    (encoder / "sentence_bert_config.json").unlink()
    assert_as_the_library(encoder)


def test_what_the_library_saves_loads(encoder, tmp_path):
    from sentence_transformers import SentenceTransformer

    SentenceTransformer(str(encoder), device="cpu").save(str(tmp_path / "saved"))
    assert_as_the_library(tmp_path / "saved")


def test_a_folder_of_a_module_must_lie_in_the_encoders(encoder):
    write_modules(encoder, ["Transformer", "Pooling"], Pooling="../1_Pooling")
    with pytest.raises(ModelError, match=r"outside its folder"):
        load_encoder(str(encoder), ModelOptions(device="cpu"))


def test_a_pickle_of_a_dense_layer_needs_the_flag(encoder):
    from safetensors.torch import load_file

    weights = encoder / "2_Dense" / "model.safetensors"
    load_torch().save(load_file(weights), weights.with_name("pytorch_model.bin"))
    weights.unlink()
    with pytest.raises(ModelError, match=r"has no 2_Dense/model\.safetensors"):
        load_encoder(str(encoder), ModelOptions(device="cpu"))
    allowed = load_encoder(str(encoder), ModelOptions(device="cpu", allow_pickle=True))
    assert allowed.encode(["a film"]).shape == (1, 8)


def test_a_dense_layer_larger_than_its_file_is_not_built(encoder):
    change_json(encoder / "2_Dense" / "config.json", in_features=10**9, out_features=10**9)
    with pytest.raises(ModelError, match=r"claims 1000000000000000000 weights in \d+ bytes"):
        load_encoder(str(encoder), ModelOptions(device="cpu"))
