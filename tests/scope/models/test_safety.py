"""Fast cases of the checks; every case of code in a checkpoint runs in ``tests/hostile``."""

import os

import numpy as np
import pytest
from hostile.checkpoints import copy_of
from hostile.encoders import change_json, copy_encoder, write_json, write_modules

from scope.errors import ModelError
from scope.models.options import ModelOptions
from scope.models.safety import checked_files, refuse_pickles, within_bounds
from scope.models.scheme import load_encoder, load_model
from scope.models.torch_setup import load_torch, quiet_transformers

PATTERNS = ("*.json", "*.safetensors")
MODULES = "sentence_transformers.models"


def files(folder):
    found = checked_files("mine", folder, PATTERNS, False)
    return [str(path.relative_to(folder)) for path in found]


def refusal(folder):
    with pytest.raises(ModelError) as raised:
        files(folder)
    return raised.value.found


def test_matching_files_at_any_depth_are_found_in_order(tmp_path):
    for name in ("b.json", "1/a.json", "onnx/c.json", ".git/d.json", "e.txt"):
        write_json(tmp_path / name, {})
    assert files(tmp_path) == ["1/a.json", "b.json"]


def test_a_link_to_a_file_elsewhere_is_a_file_as_in_the_hubs_cache(tmp_path):
    write_json(tmp_path / "blob", {"vocab_file": "vocab.txt"})
    (tmp_path / "model").mkdir()
    (tmp_path / "model" / "a.json").symlink_to(tmp_path / "blob")
    (tmp_path / "model" / "vocab.txt").symlink_to(tmp_path / "blob")
    # One that leads nowhere matters where the file is read.
    (tmp_path / "model" / "NOTES").symlink_to("nowhere")
    assert files(tmp_path / "model") == ["a.json"]
    (tmp_path / "model" / "b.json").symlink_to("nowhere")
    assert "b.json is not a regular file" in refusal(tmp_path / "model")


@pytest.mark.parametrize("name", ["NOTES", "a.json", ".more/config.json", "onnx/model.onnx"])
def test_a_pipe_is_refused_whatever_its_name_and_not_waited_for(tmp_path, name):
    (tmp_path / name).parent.mkdir(exist_ok=True)
    os.mkfifo(tmp_path / name)
    assert refusal(tmp_path) == f"`mine` cannot be loaded ({name} is not a regular file)"


def test_a_link_to_a_folder_is_refused(tmp_path):
    (tmp_path / "1_Pooling").symlink_to("/etc")
    assert "1_Pooling is not a regular file" in refusal(tmp_path)


@pytest.mark.parametrize("name", ["a.json", "README.md"])
def test_a_text_too_large_for_its_kind_is_not_read(tmp_path, name):
    for file in (name, "b.safetensors", "data.csv"):
        with (tmp_path / file).open("wb") as opened:
            opened.truncate(10**9)
    assert f"{name} has 953 MiB, not 32" in refusal(tmp_path)


@pytest.mark.parametrize("name", ["BertModel", "RagTokenizer"])
def test_another_class_for_a_tokenizer_is_refused_at_any_depth(tmp_path, name):
    write_json(tmp_path / "tokenizer_config.json", {"tokenizer_class": "BertTokenizerFast"})
    assert files(tmp_path)
    write_json(tmp_path / "inner" / "config.json", {"parts": [{"tokenizer_class": name}]})
    assert refusal(tmp_path) == (
        f"`mine` runs its own code: inner/config.json names the tokenizer_class {name!r}"
    )


def test_a_vocabulary_elsewhere_is_refused_if_it_can_be_opened(tmp_path):
    folder, far = tmp_path / "model", tmp_path / "vocab.txt"
    names = (str(far), "../vocab.txt", "inner/../../vocab.txt")
    for value in (*names, "/" * 5000, "a\0/b"):
        write_json(folder / "tokenizer_config.json", {"vocab_file": value})
        files(folder)
    far.touch()
    for value in names:
        write_json(folder / "tokenizer_config.json", {"vocab_file": value})
        assert "names the vocab_file" in refusal(folder)


def test_files_of_its_own_and_notes_of_the_authors_machine_pass(tmp_path):
    (tmp_path / "vocab.txt").touch()
    write_json(tmp_path / "arguments.json", {"train_file": "/etc/passwd"})
    # One of an earlier step of the training is read by nobody.
    write_json(tmp_path / "checkpoint-5" / "adapter_config.json", {})
    for value in ("vocab.txt", None, "", str(tmp_path / "vocab.txt")):
        held = {"vocab_file": value, "_name_or_path": "/etc/passwd", "output_dir": "/tmp"}
        write_json(tmp_path / "tokenizer_config.json", held)
        assert files(tmp_path)


@pytest.mark.parametrize("shard", ["../a.safetensors", "/a.safetensors", "pytorch_model.bin"])
def test_shards_lie_beside_their_index_and_are_safetensors(tmp_path, shard):
    write_json(tmp_path / "model.safetensors.index.json", {"weight_map": {"a": shard}})
    assert f"names the a {shard!r}" in refusal(tmp_path)


def test_an_adapter_and_an_own_generate_are_refused(tmp_path):
    write_json(tmp_path / "a" / "modules.json", [])
    write_json(tmp_path / "a" / "adapter_config.json", {})
    assert "it is an adapter (adapter_config.json)" in refusal(tmp_path / "a")
    write_json(tmp_path / "b" / "custom_generate" / "notes.json", {})
    assert "custom_generate/notes.json is code" in refusal(tmp_path / "b")


def test_who_trusts_the_author_is_told_of_pipes_alone(tmp_path):
    write_json(tmp_path / "adapter_config.json", {})
    assert checked_files("mine", tmp_path, PATTERNS, True)
    os.mkfifo(tmp_path / "NOTES")
    with pytest.raises(ModelError, match="NOTES is not a regular file"):
        checked_files("mine", tmp_path, PATTERNS, True)


@pytest.fixture
def encoder(tmp_path):
    """A Transformer, Pooling, Dense and Normalize in a folder that a test may change."""
    return copy_encoder(tmp_path / "enc")


ORDINARY = (
    *("5.0.0", "2.3.0+cu121", "./path", "../path", "model.safetensors", "BAAI/bge-small-en-v1.5"),
    *("vocab.txt", ".5", "...", "sklearn_like", "a--b", "", "a\n--b.c"),
    *("Represent this sentence. Query: ", "email. Query", "code. x"),
    *("{% if a.b %}{{ c.d }}{% endif %}" * 500, "a.b\0.c"),
    *(f"{MODULES}.Pooling", "torch.nn.modules.activation.GELU", "torch.nn.ELU"),
)


def test_ordinary_strings_of_an_encoder_pass(encoder):
    held = {str(number): value for number, value in enumerate(ORDINARY)}
    words = {"words": ["os.system", "/"], "auto_map": {"AutoModel": "a/b--c.D"}}
    write_json(encoder / "config_sentence_transformers.json", {"any": [held], **words})
    assert files(encoder)


@pytest.mark.parametrize(
    "value",
    [
        *("os.system", "torch.hub.help", "torch.nn.functional.relu", "torch.nn.Transformer"),
        *("someone/code--evil.Evil", "./a b--evil.Evil", "evil.Evil", "my evil.Evil"),
        *("sentence_transformers.evil.Evil", "sentence_transformers.util.import_from_string"),
    ],
)
def test_what_an_encoder_could_import_is_refused(encoder, value):
    for name in ("evil.py", "my evil.py"):
        (encoder / name).touch()
    write_json(encoder / "1_Pooling" / "more.json", {"parts": [{"kind": value}]})
    assert f"names the kind {value!r}" in refusal(encoder)
    # Nothing of a checkpoint that is no encoder is imported by such a name.
    (encoder / "modules.json").unlink()
    assert files(encoder)


@pytest.mark.parametrize("path", ["..", "/etc", ".pool", "a/.pool", "onnx", "checkpoint-5"])
def test_a_module_lies_in_the_encoders_folder_and_is_not_hidden(encoder, path):
    (encoder / "a" / ".pool").mkdir(parents=True)
    for name in (".pool", "onnx", "checkpoint-5"):
        (encoder / name).mkdir()
    write_modules(encoder, ["Transformer", "Pooling"], Pooling=path)
    assert f"modules.json names the path {path!r}" in refusal(encoder)
    write_modules(encoder, ["Transformer", "Pooling"])
    write_json(encoder / "router_config.json", {"types": {path: f"{MODULES}.Pooling"}})
    assert f"router_config.json names the {path}" in refusal(encoder)


@pytest.mark.parametrize(
    "setting",
    [
        {"config_args": {"trust_remote_code": True}},
        {"model_args": {"a": 1}},
        {"config_kwargs": [{"b": False}]},
        {"tokenizer_name_or_path": "x"},
    ],
)
def test_an_encoder_hands_no_arguments_to_other_loaders(encoder, setting):
    change_json(encoder / "sentence_bert_config.json", processing_kwargs={"text": {"a": 1}})
    change_json(encoder / "config.json", tokenizer_name="baai/bge-base-en-v1.5")
    assert files(encoder)
    change_json(encoder / "sentence_bert_config.json", **setting)
    assert "sentence_bert_config.json names the" in refusal(encoder)


def test_a_pickle_needs_the_flag_where_a_library_would_read_it(encoder):
    from safetensors.torch import load_file

    weights = encoder / "2_Dense" / "model.safetensors"
    load_torch().save(load_file(weights), weights.with_name("pytorch_model.bin"))
    (encoder / "checkpoint-5").mkdir()
    (encoder / "checkpoint-5" / "pytorch_model.bin").touch()  # of the training, read by nobody
    refuse_pickles("mine", encoder, False)
    weights.rename(weights.with_name("decoy.safetensors"))
    with pytest.raises(ModelError, match=r"has no model\.safetensors file among \['config.json"):
        load_encoder(str(encoder), ModelOptions(device="cpu"))
    allowed = load_encoder(str(encoder), ModelOptions(device="cpu", allow_pickle=True))
    assert allowed.encode(["a film"]).shape == (1, 8)


@pytest.fixture
def model(tmp_path):
    """A tiny classifier that a test may change."""
    return copy_of("classifier", tmp_path / "model")


def bounded(folder):
    with pytest.raises(ModelError) as raised, within_bounds("mine", folder):
        pass
    return raised.value.found


@pytest.mark.parametrize(
    ("change", "found"),
    [
        ({"num_hidden_layers": -1}, "says num_hidden_layers -1, the weights"),
        ({"n_head": -1}, "says n_head -1, the weights"),
        ({"text_config": {"n_layer": 10**9}}, "says n_layer 1000000000, the weights"),
        ({"block_sizes": [1, 10**9]}, "says block_sizes 1000000000, the weights"),
    ],
)
def test_numbers_that_no_model_with_these_weights_has_are_refused(model, change, found):
    with within_bounds("mine", model):
        pass
    change_json(model / "config.json", **change)
    assert found in bounded(model)


def test_numbers_that_are_no_sizes_pass(model):
    change_json(model / "config.json", rope_theta=10**7, pad_token_id=-1, feature_layer=-2)
    change_json(model / "tokenizer_config.json", model_max_length=10**30, extra_ids=100)
    with within_bounds("mine", model):
        pass
    change_json(model / "tokenizer_config.json", extra_ids=10**6)
    assert "tokenizer_config.json says extra_ids 1000000" in bounded(model)


@pytest.mark.parametrize(
    "change",
    [
        # Wide layers: the bound is reached after few of them.
        {"num_hidden_layers": 2**19, "intermediate_size": 2**12},
        {"hidden_size": 30_000, "vocab_size": 30_000},
        {"max_position_embeddings": 2**19, "hidden_size": 1024},
        # Some releases build a table of positions by positions here; others then miss its weights.
        {"model_type": "gpt2", "n_positions": 200_000, "n_embd": 2, "n_head": 1, "n_layer": 1},
    ],
)
def test_a_model_that_is_larger_than_its_weights_is_not_built(model, change):
    change_json(model / "config.json", **change)
    with pytest.raises(ModelError, match=r"describes more than \d+ bytes of weights|lacks trained"):
        load_model(str(model), ModelOptions(device="cpu"))


def test_nor_is_a_dense_layer(encoder):
    change_json(encoder / "2_Dense" / "config.json", in_features=10**5, out_features=10**5)
    with pytest.raises(ModelError, match=r"describes more than \d+ bytes of weights hold"):
        load_encoder(str(encoder), ModelOptions(device="cpu"))


TEXTS = ["a good film", "DULL plot", "the film " * 30]


def assert_as_the_library(folder):
    from sentence_transformers import SentenceTransformer

    quiet_transformers()
    theirs = SentenceTransformer(str(folder), device="cpu").eval()
    rows = np.stack([theirs.encode(text, show_progress_bar=False) for text in TEXTS])
    ours = load_encoder(str(folder), ModelOptions(device="cpu")).encode(TEXTS)
    expected = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    np.testing.assert_allclose(ours, expected, atol=1e-6)
    return ours


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
    assert assert_as_the_library(encoder).shape == (3, 5)


def parts(kind, encoder):
    """The modules of an encoder that the library builds."""
    from sentence_transformers import SentenceTransformer, models

    torch = load_torch()
    torch.manual_seed(0)
    whole = list(SentenceTransformer(str(encoder), device="cpu"))
    if kind == "all":
        return whole
    if kind == "router":
        more = models.Router({"a": whole, "b": whole[:2]}, default_route="a")
        return [more]
    return [models.StaticEmbedding(whole[0].tokenizer.backend_tokenizer, embedding_dim=8)]


@pytest.mark.parametrize("kind", ["all", "router", "static"])
def test_what_the_library_saves_loads_with_its_vectors(kind, encoder, tmp_path):
    from sentence_transformers import SentenceTransformer

    quiet_transformers()
    SentenceTransformer(modules=parts(kind, encoder), device="cpu").save(str(tmp_path / "saved"))
    assert_as_the_library(tmp_path / "saved")
