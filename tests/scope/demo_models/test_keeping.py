import errno
import json

import pytest
import torch

from scope.demo_models.keeping import load_base, save_base
from scope.errors import RunError


def test_a_saved_base_comes_back_the_same(tmp_path, tiny_base):
    base = tiny_base(0)
    save_base(base, tmp_path / "model")
    again = load_base(tmp_path / "model")
    assert again.model.config.id2label == {0: "negative", 1: "positive"}
    assert again.model.config.label2id == {"negative": 0, "positive": 1}
    encoded = again.tokenizer("good film", return_tensors="pt")
    assert encoded["input_ids"].tolist() == [base.tokenizer("good film")["input_ids"]]
    assert torch.equal(again.model.eval()(**encoded).logits, base.model.eval()(**encoded).logits)


def test_what_a_killed_attempt_left_is_swept_away(tmp_path, tiny_base):
    partial = tmp_path / ".model.partial"
    partial.mkdir()
    (partial / "half-a-file.safetensors").write_bytes(b"...")
    save_base(tiny_base(0), tmp_path / "model")
    assert [path.name for path in tmp_path.iterdir()] == ["model"]
    assert not (tmp_path / "model" / "half-a-file.safetensors").exists()


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
