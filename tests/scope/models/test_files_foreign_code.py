import os

import pytest
from hostile.encoders import write_json

from scope.errors import ModelError
from scope.models.files import refuse_foreign_code


def refusal(folder):
    with pytest.raises(ModelError) as raised:
        refuse_foreign_code("mine", folder)
    return raised.value


@pytest.mark.parametrize("name", ["BertTokenizer", "BertTokenizerFast", "PreTrainedTokenizerFast"])
def test_a_tokenizer_of_the_library_passes(tmp_path, name):
    write_json(tmp_path / "tokenizer_config.json", {"tokenizer_class": name})
    refuse_foreign_code("mine", tmp_path)


@pytest.mark.parametrize("name", ["evil.Evil", "BertModel", "RagTokenizer", ["BertTokenizer"]])
@pytest.mark.parametrize("place", ["", "inner/deeper"])
def test_another_class_for_a_tokenizer_is_refused_at_any_depth(tmp_path, name, place):
    held = {"parts": [{"tokenizer_class": name}]}
    write_json(tmp_path / place / "config.json", held)
    assert "names the tokenizer_class" in refusal(tmp_path).found
    assert "--trust-remote-code" in refusal(tmp_path).fix


def test_code_for_an_architecture_that_the_library_has_is_ignored_as_the_library_ignores_it(
    tmp_path,
):
    held = {"model_type": "falcon", "auto_map": {"AutoConfig": "own.Config"}}
    write_json(tmp_path / "config.json", held)
    refuse_foreign_code("mine", tmp_path)
    write_json(tmp_path / "config.json", held | {"model_type": "own"})
    assert "the code of the model_type 'own'" in refusal(tmp_path).found


def test_a_vocabulary_elsewhere_is_refused_if_it_can_be_opened(tmp_path):
    folder, far = tmp_path / "model", tmp_path / "vocab.txt"
    for value in (str(far), "../vocab.txt"):
        write_json(folder / "tokenizer_config.json", {"vocab_file": value})
        refuse_foreign_code("mine", folder)
    far.touch()
    for value in (str(far), "../vocab.txt"):
        write_json(folder / "tokenizer_config.json", {"vocab_file": value})
        assert "names the vocab_file" in refusal(folder).found


def test_a_vocabulary_of_its_own_passes(tmp_path):
    (tmp_path / "vocab.txt").touch()
    for value in ("vocab.txt", None, "", str(tmp_path / "vocab.txt")):
        write_json(tmp_path / "tokenizer_config.json", {"vocab_file": value})
        refuse_foreign_code("mine", tmp_path)


@pytest.mark.parametrize(
    "shard", ["../a.safetensors", "/a.safetensors", ".a.safetensors", "pytorch_model.bin"]
)
def test_shards_lie_beside_their_index_and_are_safetensors(tmp_path, shard):
    write_json(tmp_path / "model.safetensors.index.json", {"weight_map": {"a": shard}})
    assert "names the weights" in refusal(tmp_path).found


def test_an_adapter_and_an_own_generate_are_refused(tmp_path):
    write_json(tmp_path / "a" / "adapter_config.json", {})
    assert "is an adapter (adapter_config.json)" in refusal(tmp_path / "a").found
    (tmp_path / "b" / "inner" / "custom_generate").mkdir(parents=True)
    assert "inner/custom_generate/ contains its own code" in refusal(tmp_path / "b").found


def test_a_pipe_in_a_hidden_folder_is_refused_and_not_waited_for(tmp_path):
    (tmp_path / ".more").mkdir()
    os.mkfifo(tmp_path / ".more" / "config.json")
    assert "config.json is not a regular file" in refusal(tmp_path).found
