"""The oracle is plain transformers, asked one text at a time."""

import dataclasses
import functools
import json

import numpy as np
import pytest

from scope.errors import DataError, ModelError, SpecError
from scope.models.huggingface import SCHEME
from scope.models.latents import Blocks, CheckpointReader, Framing, ModelSource
from scope.models.options import ONE_WORD, ModelOptions, Readout
from scope.models.scheme import load_encoder, load_latent_reader
from scope.models.torch_setup import load_torch, quiet_transformers

TEXTS = ["the film was good", "ann", "who saw bob in paris?", "zoé", "the dull film", "a b c d e f"]
CAUSAL = ("llama", "gpt2", "mistral", "mamba", "xlnet")
FAMILIES = (*CAUSAL, "bert", "roberta", "albert", "xlm", "t5", "bart")
BLOCKS = {"gpt2": 3, "albert": 3, "bart": 1}
NORMS = {"gpt2": "ln_f", "llama": "norm", "mistral": "norm", "t5": "final_layer_norm"}
LAST, MEAN = Readout(kind="last"), Readout(kind="mean")


@functools.cache
def plain(folder):
    """The tokenizer, and the model, of an encoder-decoder the encoder."""
    transformers = quiet_transformers()
    model = transformers.AutoModel.from_pretrained(folder).eval()
    model = model.get_encoder() if model.config.is_encoder_decoder else model
    return transformers.AutoTokenizer.from_pretrained(folder), model


def hidden_states(folder, text):
    """Of each layer, the input embeddings aside; and whether the last went through a norm more."""
    torch, (tokenizer, model) = load_torch(), plain(folder)
    tokens = torch.tensor([tokenizer(text)["input_ids"]])
    with torch.inference_mode():
        states = model(input_ids=tokens, output_hidden_states=True).hidden_states
        # Mamba gives what lies behind the final norm beside its last layer, and no embeddings.
        states = states[:-1] if folder.name == "mamba" else states[1:]
        norm = getattr(model, NORMS.get(folder.name, ""), None)
        return [state[0].numpy() for state in states], norm


@pytest.mark.parametrize("name", FAMILIES)
def test_latents_are_the_hidden_states_of_one_text_at_a_time(reader, folders, name):
    found = reader(name, MEAN).latents(TEXTS)
    torch = load_torch()
    start = int(name in CAUSAL)
    for text, latents in zip(TEXTS, found, strict=True):
        states, norm = hidden_states(folders[name], text)
        assert len(latents) == len(states) == BLOCKS.get(name, 2) == reader(name).layers
        wanted = [state[start:].mean(axis=0) for state in states]
        plain = slice(0, -1 if norm is not None else None)
        np.testing.assert_allclose(latents[plain], np.stack(wanted)[plain], atol=1e-5)
    if norm is not None:
        # The last of transformers' states lies behind the final norm, ours before it.
        ours = torch.from_numpy(reader(name, LAST).latents(TEXTS[-1:])[0, -1])
        behind = norm(ours).detach().numpy()
        last = states[-1][-1 if start else -2]
        np.testing.assert_allclose(behind, last, atol=1e-4)
        assert not np.allclose(ours, last, atol=1e-2)


PROMPTED = (*CAUSAL, "gguf")
# Models that are not prompted are averaged by themselves.
USUAL = [*((name, None) for name in PROMPTED), *((name, MEAN) for name in FAMILIES[len(CAUSAL) :])]
OTHER = [*((name, LAST) for name in (*FAMILIES, "gguf")), *((name, MEAN) for name in PROMPTED)]


@pytest.mark.parametrize(
    ("name", "readout"), [*(pytest.param(*one, marks=pytest.mark.bits) for one in USUAL), *OTHER]
)
def test_latents_never_depend_on_the_company(reader, name, readout):
    one = reader(name, readout)
    alone = np.stack([one.latents([text])[0] for text in TEXTS])
    for budget in (20, 4096):
        together = reader(name, readout, token_budget=budget).latents(TEXTS * 2)
        np.testing.assert_array_equal(together, np.concatenate([alone, alone]))


def test_the_last_layers_mean_is_what_a_sentence_encoder_makes_of_it(encoder_folder):
    """All-MiniLM and its kin are such: a headless BERT, whose tokens' mean is taken."""
    texts = ["a good film", "the plot is not great", "bad"]
    found = load_latent_reader(str(encoder_folder), ModelOptions(device="cpu")).latents(texts)
    last = found[:, -1] / np.linalg.norm(found[:, -1], axis=1, keepdims=True)
    wanted = load_encoder(str(encoder_folder), ModelOptions(device="cpu")).encode(texts)
    np.testing.assert_allclose(last, wanted, atol=1e-6)


def test_a_gguf_file_is_read_as_the_checkpoint_that_it_was_made_from(reader):
    packed, whole = reader("gguf"), reader("llama")
    assert (packed.layers, packed.width) == (whole.layers, whole.width) == (2, 16)
    np.testing.assert_allclose(packed.latents(TEXTS), whole.latents(TEXTS), atol=1e-5)


def test_a_reader_says_how_it_reads_before_it_is_loaded(folders, monkeypatch):
    def fail(*_):
        raise AssertionError("loaded")

    monkeypatch.setattr("scope.models.huggingface.load_parts", fail)
    options = ModelOptions(device="cpu", dtype="float16")

    def facts(name, readout=None):
        read = SCHEME.latent_reader(str(folders[name]), options, readout)
        assert read.spec == f"hf:{folders[name]}"
        return read.readout, read.prompt, read.dtype, read.precision

    template = "{text} in short:"
    assert facts("llama") == ("prompt", ONE_WORD, "float16", "float32")
    assert facts("llama", Readout(kind="prompt", template=template))[:2] == ("prompt", template)
    assert facts("llama", LAST)[:2] == ("last", None)
    assert facts("bert")[:2] == ("mean", None)


def test_fingerprints_tell_what_is_read_and_how(reader):
    ways = [
        reader("llama"),
        reader("llama", LAST),
        reader("llama", MEAN),
        reader("llama", Readout(kind="prompt", template="{text}")),
        reader("llama", dtype="bfloat16"),
        reader("gpt2"),
    ]
    assert len({way.fingerprint for way in ways}) == len(ways)
    assert reader("llama", Readout(kind="prompt")).fingerprint == reader("llama").fingerprint
    assert reader("llama", token_budget=7).fingerprint == reader("llama").fingerprint


@pytest.mark.parametrize(
    ("name", "readout"),
    [("llama", LAST), ("llama", MEAN), ("mamba", None), ("mamba", LAST), ("mamba", MEAN)],
)
def test_latents_of_bfloat16_have_no_more_than_its_bits(reader, name, readout):
    """Even where the model adds up in float32, as Mamba does."""
    exact, half = reader(name, readout), reader(name, readout, dtype="bfloat16")
    assert (exact.precision, half.precision) == ("float32", "bfloat16")
    found = half.latents(TEXTS)
    assert not (found.view(np.uint32) & 0xFFFF).any()
    if name == "llama":
        np.testing.assert_allclose(found, exact.latents(TEXTS), atol=1)


def test_texts_that_would_change_the_model_lose_their_end(folders):
    """One of them would stretch the positions of all that are read after it."""
    options = ModelOptions(device="cpu")
    source = load_latent_reader(str(folders["llama"]), options)._source

    def dynamic():
        head = source.load()
        body, config = head.model, head.model.config
        stretching = {"rope_scaling": {"rope_type": "dynamic", "factor": 2.0}}
        changed = {**config.to_dict(), "max_position_embeddings": 6, **stretching}
        body.rotary_emb = type(body.rotary_emb)(type(config).from_dict(changed))
        return head

    stretched = ModelSource(spec="hf:l", fingerprint="f", family="causal", load=dynamic)
    short, longer, longest = "the film", "the film " * 5, "the film " * 20
    found = CheckpointReader(stretched, options, LAST)
    assert found.truncated([short, longer, longest]) == [False, True, True]
    before = found.latents([longer])
    found.latents([longest])
    np.testing.assert_array_equal(found.latents([longer]), before)


@pytest.mark.parametrize(
    ("name", "text"), [("gpt2", ""), ("gpt2", " \n\t"), ("bert", "\u200b"), ("t5", " ")]
)
def test_a_text_without_a_token_is_refused(reader, name, text):
    """BERT's tokenizer leaves a space of no width out."""
    for ask in (reader(name).latents, reader(name).truncated):
        with pytest.raises(
            DataError, match=r"1 of 2 texts have no token for `hf:(?s:.*)expected: texts with"
        ):
            ask(["the film", text])


@pytest.mark.parametrize("name", ["gpt2", "bert", "t5"])
@pytest.mark.parametrize("readout", [None, LAST, MEAN], ids=["usual", "last", "mean"])
def test_a_text_of_one_word_or_one_token_is_read(reader, name, readout):
    found = reader(name, readout).latents(["film", "a"])
    assert np.isfinite(found).all()
    assert not np.array_equal(found[0], found[1])


def test_what_is_not_finite_is_refused_with_the_precision(folders):
    options = ModelOptions(device="cpu", dtype="float16")
    broken = SCHEME.latent_reader(str(folders["bert"]), options, None)._source
    head = broken.load()
    with load_torch().no_grad():
        head.model.embeddings.word_embeddings.weight[5:] = float("inf")
    source = dataclasses.replace(broken, load=lambda: head)
    found = r"hold NaN or infinity in float16\n(?s:.*)--dtype float32 or b"
    with pytest.raises(ModelError, match=found):
        CheckpointReader(source, options, None).latents(["the film"])


@pytest.mark.parametrize(
    ("given", "found"),
    [
        ({"kind": "prompt", "template": "in short"}, "a prompt with 0 slots: '"),
        ({"kind": "mean", "template": "a {text}"}, "a prompt for the readout mean, which uses no"),
        ({"kind": "first"}, r"a readout called `first`\nexpected: one of: prompt, "),
    ],
)
def test_a_readout_that_is_none_is_refused(given, found):
    with pytest.raises(SpecError, match=found):
        Readout(**given)


@pytest.fixture
def framing(folders):
    def make(name, limit=40, **readout):
        tokenizer = quiet_transformers().AutoTokenizer.from_pretrained(folders[name])
        given = Readout(**readout)
        return tokenizer, Framing(tokenizer, given, limit=limit, causal=False, spec=f"hf:{name}")

    return make


def test_a_prompt_stands_around_the_text_and_special_tokens_around_both(framing):
    tokenizer, made = framing("bert", kind="prompt", template="who saw {text} ?")
    ((tokens, _),) = made.frame(["ann"])
    pieces = ["[CLS]", "who", "saw", "ann", "?", "[SEP]"]
    assert tokenizer.convert_ids_to_tokens(tokens) == pieces
    assert made.read(len(tokens)) == slice(4, 5)


def test_a_text_that_is_too_long_loses_its_end_and_the_prompt_nothing(framing):
    _, made = framing("bert", limit=6, kind="prompt", template="who saw {text} ?")
    found = made.frame([" ann\n", "ann bob"])
    assert [framed.truncated for framed in found] == [False, True]
    assert found[0].tokens == found[1].tokens


def test_names_of_special_tokens_in_a_text_are_text(framing):
    tokenizer, made = framing("llama", kind="last")
    assert tokenizer.eos_token_id not in made.frame(["ann</s>bob"])[0].tokens


def test_a_prompt_must_leave_room(framing):
    with pytest.raises(SpecError, match=r"a prompt of 6 tokens\nexpected: .* the 6 tokens"):
        framing("bert", limit=6, kind="prompt", template="the film {text} was good")


@pytest.mark.parametrize("name", [name for name in FAMILIES if name != "xlnet"])
@pytest.mark.bits
def test_in_bfloat16_nothing_depends_on_company_order_or_threads(reader, name, threads):
    half = reader(name, MEAN, dtype="bfloat16")
    alone = np.stack([half.latents([text])[0] for text in TEXTS])
    for count in (1, 2):
        threads(count)
        together = half.latents([*TEXTS[::-1], "a film", "ann saw bob"])
        np.testing.assert_array_equal(together[: len(TEXTS)], alone[::-1])


def test_a_model_that_cannot_run_in_bfloat16_says_so(reader):
    refused = r"XLNetModel .* in bfloat16 \((?s:.*)--dtype float32 alone"
    with pytest.raises(ModelError, match=refused):
        _ = reader("xlnet", dtype="bfloat16").layers


@pytest.fixture
def shapes(monkeypatch):
    """Rows and tokens of every batch that the model reads."""
    seen = []
    read = Blocks._read

    def watched(self, tokens, places):
        seen.append(tuple(tokens.shape))
        return read(self, tokens, places)

    monkeypatch.setattr(Blocks, "_read", watched)
    return seen


@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
@pytest.mark.parametrize("texts", [TEXTS, TEXTS[:1], ["the film"] * 40])
def test_but_in_float32_the_shape_of_a_batch_follows_from_its_length(
    reader, shapes, monkeypatch, dtype, texts
):
    monkeypatch.setattr("scope.models.latents.TOKENS_A_BATCH", 24)
    half = reader("bert", dtype=dtype, token_budget=1000)
    assert half.reproducible == "to the byte, always 24 tokens a batch, one thread"
    shapes.clear()
    found = half.latents([*texts, "the film " * 19])
    assert found.shape == (len(texts) + 1, 2, 16)
    assert set(shapes) >= {(1, 40)}
    assert {rows for rows, length in shapes if length == 4} <= {6}
    assert all(rows == max(1, 24 // length) for rows, length in shapes)


def test_an_object_of_the_users_has_no_readout_and_must_give_latents():
    assert load_latent_reader("python:toy_readers:Bags").latents(["a film"]).shape == (1, 3, 8)
    with pytest.raises(SpecError, match="the readout mean for the scheme `python`"):
        load_latent_reader("python:toy_readers:Bags", readout=MEAN)
    with pytest.raises(ModelError, match=r"with the roles: classifier\nexpected: .*latent_reader"):
        load_latent_reader("python:toy_models:Reference")


def test_a_server_is_not_even_asked(monkeypatch):
    def fail(*_):
        raise AssertionError("asked")

    monkeypatch.setattr("scope.models.endpoint.SCHEME.load", fail)
    expected = r"runs on a server.*\nexpected: .*hf:NAME or hf:FILE.gguf"
    with pytest.raises(ModelError, match=expected):
        load_latent_reader("openai:http://localhost:9/v1#m")


def test_a_sentence_encoder_without_layers_is_refused(tmp_path):
    kind = "sentence_transformers.models.StaticEmbedding.StaticEmbedding"
    (tmp_path / "0_StaticEmbedding").mkdir()
    (tmp_path / "modules.json").write_text(json.dumps([{"idx": 0, "name": "0", "type": kind}]))
    with pytest.raises(ModelError, match="encoder made of StaticEmbedding"):
        load_latent_reader(str(tmp_path))
