"""The oracle is plain transformers, asked one text at a time."""

import numpy as np
import pytest

from scope.errors import DataError, ModelError, SpecError
from scope.models import ModelOptions, load_encoder, load_latent_reader, load_model
from scope.models.latents import CheckpointReader, Readout
from scope.models.latents.source import Source
from scope.models.torch_setup import load_torch, quiet_transformers
from scope.protocols import LatentReader

TEXTS = ["the film was good", "ann", "who saw bob in paris?", "zoé", "the dull film", "a b c d e f"]
FAMILIES = ("llama", "gpt2", "bert", "roberta", "albert", "t5", "bart")
LAST, MEAN = Readout(kind="last"), Readout(kind="mean")


def hidden_states(folder, text):
    """Of each layer, the input embeddings aside; and whether the last went through a norm more."""
    transformers, torch = quiet_transformers(), load_torch()
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    model = transformers.AutoModel.from_pretrained(folder).eval()
    model = model.get_encoder() if model.config.is_encoder_decoder else model
    tokens = torch.tensor([tokenizer(text)["input_ids"]])
    with torch.inference_mode():
        states = model(input_ids=tokens, output_hidden_states=True).hidden_states[1:]
        norm = {"gpt2": "ln_f", "llama": "norm", "t5": "final_layer_norm"}.get(folder.name)
        return [state[0].numpy() for state in states], getattr(model, norm or "", None)


@pytest.mark.parametrize("name", FAMILIES)
def test_latents_are_the_hidden_states_of_one_text_at_a_time(reader, folders, name):
    found = reader(name, MEAN).latents(TEXTS)
    torch = load_torch()
    start = int(name in ("llama", "gpt2"))
    for text, latents in zip(TEXTS, found, strict=True):
        states, norm = hidden_states(folders[name], text)
        assert len(latents) == len(states)
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


@pytest.mark.parametrize("name", [*FAMILIES, "gguf"])
@pytest.mark.parametrize("readout", [None, LAST, MEAN], ids=["usual", "last", "mean"])
def test_latents_never_depend_on_the_company(reader, name, readout):
    alone = np.stack([reader(name, readout).latents([text])[0] for text in TEXTS])
    for budget in (1, 20, 4096):
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


def test_causal_models_are_prompted_and_others_averaged_unless_another_way_is_asked_for(reader):
    kinds = {name: reader(name).readout.kind for name in FAMILIES}
    assert kinds == {name: "prompt" if name in ("llama", "gpt2") else "mean" for name in FAMILIES}


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


@pytest.mark.parametrize("readout", [LAST, MEAN], ids=["last", "mean"])
def test_latents_of_bfloat16_have_no_more_than_its_bits(reader, readout):
    exact, half = reader("llama", readout), reader("llama", readout, dtype="bfloat16")
    assert (exact.precision, half.precision) == ("float32", "bfloat16")
    found = half.latents(TEXTS)
    assert not (found.view(np.uint32) & 0xFFFF).any()
    np.testing.assert_allclose(found, exact.latents(TEXTS), atol=1)


def test_texts_that_are_too_long_are_counted(reader):
    texts = ["the film", "the film " * 40]
    assert reader("bert").truncated(texts) == [False, True]
    # Forty tokens, of which two are special.
    np.testing.assert_array_equal(
        reader("bert").latents(texts[1:]), reader("bert").latents(["the film " * 19])
    )


def test_a_text_without_a_token_is_refused(reader):
    with pytest.raises(DataError, match="1 of 2 texts have no token"):
        reader("gpt2").latents(["the film", " "])


def test_no_texts_have_no_latents(reader):
    assert reader("bert").latents([]).shape == (0, 2, 16)


def test_what_is_not_finite_is_refused_with_the_precision(folders):
    options = ModelOptions(device="cpu")
    model = load_latent_reader(str(folders["bert"]), options)
    source = model._source

    def broken():
        head = source.load()
        with load_torch().no_grad():
            head.model.embeddings.word_embeddings.weight[5:] = float("inf")
        return head

    damaged = Source(spec="hf:b", fingerprint="f", family="masked", load=broken)
    with pytest.raises(ModelError, match="`hf:b` hold NaN or infinity in float32"):
        CheckpointReader(damaged, options, None).latents(["the film"])


def test_a_model_without_hidden_states_is_refused(folders):
    options = ModelOptions(device="cpu")
    source = load_latent_reader(str(folders["bert"]), options)._source

    def without():
        head = source.load()
        torch = load_torch()

        class Bag(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.config, self.table = head.model.config, torch.nn.Embedding(90, 4)

            def forward(self, input_ids, output_hidden_states=False):
                return self.table(input_ids)

        return head._replace(model=Bag())

    bag = Source(spec="hf:bag", fingerprint="f", family="masked", load=without)
    with pytest.raises(ModelError, match="`hf:bag` is a Bag without hidden states"):
        _ = CheckpointReader(bag, options, None).layers


def test_a_spec_gives_a_reader_in_the_role(folders):
    bare = load_model(str(folders["bert"]), "latent_reader", ModelOptions(device="cpu"))
    assert isinstance(bare, LatentReader)
    packed = load_latent_reader(f"gguf:{folders['llama'] / 'tiny.gguf'}", readout=LAST)
    assert packed.spec.startswith("gguf:")


MODULE = """
import numpy as np

class Reader:
    spec, fingerprint, precision, layers, width = "python:mine", "f", "float32", 1, 2
    def latents(self, texts):
        return np.ones((len(texts), 1, 2), dtype=np.float32)
    def truncated(self, texts):
        return [False] * len(texts)

def classify(texts):
    return [[0.5, 0.5] for _ in texts]

classify.labels = ("no", "yes")
"""


@pytest.fixture
def module(tmp_path, monkeypatch):
    (tmp_path / "reader_of_a_user.py").write_text(MODULE)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    return "python:reader_of_a_user"


def test_an_object_of_the_users_may_be_a_reader(module):
    assert load_latent_reader(f"{module}:Reader").latents(["a"]).tolist() == [[[1, 1]]]
    with pytest.raises(SpecError, match="the readout mean for the scheme `python`"):
        load_latent_reader(f"{module}:Reader", readout=MEAN)


def test_a_model_that_only_answers_is_refused_with_its_roles(module, tmp_path):
    with pytest.raises(ModelError, match=r"with the roles: classifier\nexpected: .*latent_reader"):
        load_latent_reader(f"{module}:classify")
    answers = tmp_path / "answers.jsonl"
    answers.write_text(
        '{"id": "0", "text": "a", "probabilities": [0.5, 0.5], "labels": ["n", "y"]}\n'
    )
    with pytest.raises(ModelError, match="with the roles: classifier"):
        load_latent_reader(f"predictions:{answers}")
