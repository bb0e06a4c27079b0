"""Files, labels and sizes of models that are not loaded."""

import json
import os

import pytest

from scope.errors import ModelError, SpecError
from scope.models import ModelOptions, load_classifier
from scope.models.scheme import Scheme, checked_spec, expand_spec, find_scheme, scheme_of
from scope.registry import Entry


def labels_before_loading(spec, options):
    scheme, rest = find_scheme(checked_spec(spec))
    return scheme.labels(rest, options)


def weights_of(spec, options):
    scheme, rest = find_scheme(spec)
    return scheme.weights(rest, options)


WORDS = ModelOptions(label_words={"positive": "good", "negative": "bad"})


@pytest.fixture
def checkpoint(tmp_path):
    def write(**config):
        (tmp_path / "config.json").write_text(json.dumps(config), encoding="utf-8")
        return str(tmp_path)

    return write


def test_a_classifiers_labels_stand_in_its_configuration(checkpoint):
    names = {str(number): f"label {number}" for number in range(11)}
    spec = checkpoint(architectures=["BertForSequenceClassification"], id2label=names)
    known = labels_before_loading(spec, ModelOptions())
    assert (known.labels, known.by_words) == (tuple(names.values()), False)


def test_a_language_model_needs_a_word_for_each_label(checkpoint):
    spec = checkpoint(architectures=["LlamaForCausalLM"])
    assert labels_before_loading(spec, WORDS).labels == ("positive", "negative")
    with pytest.raises(ModelError, match="with 0 label words"):
        labels_before_loading(spec, ModelOptions())


def test_of_other_models_nothing_is_known(checkpoint):
    assert labels_before_loading("python:mine:model", ModelOptions()) is None
    assert labels_before_loading(checkpoint(), ModelOptions()) is None
    assert labels_before_loading("name/on-the-hub", ModelOptions()) is None


def test_a_scheme_or_file_that_is_not_there_is_refused():
    with pytest.raises(SpecError, match="hff"):
        labels_before_loading("hff:x", WORDS)
    with pytest.raises(ModelError, match="no file"):
        labels_before_loading("gguf:missing.gguf", WORDS)


def test_of_a_configuration_that_cannot_be_read_nothing_is_known(tmp_path):
    path = tmp_path / "config.json"
    os.mkfifo(path)
    assert labels_before_loading(str(tmp_path), ModelOptions()) is None
    path.unlink()
    path.symlink_to("/dev/zero")
    assert labels_before_loading(str(tmp_path), ModelOptions()) is None
    path.unlink()
    path.write_text("[" * 100_000, encoding="utf-8")
    assert labels_before_loading(str(tmp_path), ModelOptions()) is None


def test_parameters_are_those_of_the_loaded_model_and_memory_follows_the_precision(checkpoints):
    folder = checkpoints["bert"]
    loaded = load_classifier(str(folder))._model
    found = weights_of(str(folder), ModelOptions(dtype="bfloat16"))
    assert found.parameters == sum(one.numel() for one in loaded.parameters())
    assert (found.dtype, found.memory) == ("bfloat16", 2 * found.parameters)
    assert found.stored == (folder / "model.safetensors").stat().st_size


@pytest.mark.parametrize(
    ("spec", "reason"),
    [
        ("openai:http://localhost:8000/v1#ours", "it runs on a server"),
        ("predictions:answers.jsonl", "its answers are saved"),
        ("python:mine:model", "its files are not known"),
    ],
)
def test_the_size_of_other_models_is_unknown_with_a_reason(spec, reason):
    found = weights_of(spec, ModelOptions())
    assert (found.parameters, found.stored, found.memory, found.reason) == (None,) * 3 + (reason,)


class Failing(Scheme):
    def expand(self, rest):
        yield f"{self.name}:{rest}"
        raise KeyError(rest)

    def require_there(self, rest):
        raise KeyError(rest)


def test_a_plugins_scheme_fails_in_a_message_that_names_the_plugin(plugin_scheme):
    plugin_scheme("mine", Failing("mine", lambda rest, options: None))
    for ask, method in ((checked_spec, "require_there"), (expand_spec, "expand")):
        with pytest.raises(ModelError, match=f"an unnamed package` failed in `{method}`: KeyError"):
            ask("mine:abc")


def test_a_scheme_of_another_name_than_its_entry_point_is_refused(plugin_scheme):
    plugin_scheme("mine", Scheme("hf", lambda rest, options: None))
    with pytest.raises(SpecError, match="scheme `mine` of an unnamed package, which calls itself"):
        checked_spec("mine:abc")


def test_a_model_of_a_scheme_that_is_gone_is_not_loaded():
    with pytest.raises(SpecError, match="not installed"):
        scheme_of("gone:abc").load("abc", ModelOptions())


@pytest.fixture
def plugin_scheme(monkeypatch):
    def offer(name, scheme):
        entry = Entry(name=name, origin="an unnamed package", target=scheme)
        monkeypatch.setattr("scope.models.scheme.find", lambda group, name: entry)

    return offer
