"""Specs name schemes, which load models, or know something of them before; options are checked."""

import os
import weakref
from typing import ClassVar

import pytest
from hostile.encoders import write_json

from scope.errors import DataError, ModelError, SpecError
from scope.models.options import ModelOptions
from scope.models.scheme import (
    OneInMemory,
    Scheme,
    checked_spec,
    expand_spec,
    find_scheme,
    load_classifier,
    load_encoder,
    loading_once,
    split_spec,
)
from scope.protocols import Answerer, ChoiceScorer, Classifier
from scope.registry import Entry


@pytest.mark.parametrize(
    ("spec", "parts"),
    [
        ("hf:a/b@main", ("hf", "a/b@main")),
        ("/folder/model", ("hf", "/folder/model")),
        ("openai:http://host:8000/v1#m", ("openai", "http://host:8000/v1#m")),
    ],
)
def test_a_spec_is_split_at_its_first_colon_and_bare_names_are_hf(spec, parts):
    assert split_spec(spec) == parts


def test_a_path_that_exists_is_taken_whole_even_with_a_colon(tmp_path, monkeypatch):
    (tmp_path / "run:3").mkdir()
    monkeypatch.chdir(tmp_path)
    assert split_spec("run:3") == ("hf", "run:3")
    assert split_spec("run:4") == ("run", "4")


@pytest.mark.parametrize("spec", ["", "hf:", "hf: ", "predictions:"])
def test_an_empty_rest_is_refused_with_the_schemes(spec):
    schemes = "eee, gguf, helm, hf, inspect, lm-eval, openai, openllm, predictions, python"
    with pytest.raises(SpecError, match=f"SCHEME:REST with a scheme of {schemes}"):
        split_spec(spec)


def test_only_hf_serves_encoders():
    with pytest.raises(SpecError, match="an encoder of the scheme `predictions`"):
        load_encoder("predictions:a.jsonl")


def test_a_folder_stands_for_every_file_of_answers_in_it(tmp_path):
    with pytest.raises(DataError, match="no saved answers in the folder"):
        expand_spec(f"predictions:{tmp_path}")
    for name in ("b.jsonl", "a.jsonl.gz", "c.parquet", "notes.txt"):
        (tmp_path / name).write_text("")
    assert expand_spec(f"predictions:{tmp_path}") == tuple(
        f"predictions:{tmp_path / name}" for name in ("a.jsonl.gz", "b.jsonl", "c.parquet")
    )


def test_a_model_is_loaded_once_inside_and_each_time_outside(checkpoints):
    spec = str(checkpoints["bert"])
    with loading_once([spec]):
        first = load_classifier(spec)
        assert load_classifier(spec) is first
        assert load_classifier(spec, ModelOptions(dtype="bfloat16")) is not first
    with loading_once(["another"]):
        assert load_classifier(spec) is not load_classifier(spec)
    assert load_classifier(spec) is not first


def labels_before_loading(spec, options):
    scheme, rest = find_scheme(checked_spec(spec))
    return scheme.labels(rest, options)


def weights_of(spec, options):
    scheme, rest = find_scheme(spec)
    return scheme.weights(rest, options)


WORDS = ModelOptions(label_words={"positive": "good", "negative": "bad"})


def test_a_classifiers_labels_stand_in_its_configuration(tmp_path):
    names = {str(number): f"label {number}" for number in range(11)}
    config = {"architectures": ["BertForSequenceClassification"], "id2label": names}
    write_json(tmp_path / "config.json", config)
    known = labels_before_loading(str(tmp_path), ModelOptions())
    assert (known.labels, known.by_words) == (tuple(names.values()), False)


def test_a_language_model_needs_a_word_for_each_label(tmp_path):
    write_json(tmp_path / "config.json", {"architectures": ["LlamaForCausalLM"]})
    assert labels_before_loading(str(tmp_path), WORDS).labels == ("positive", "negative")
    with pytest.raises(ModelError, match="with 0 label words"):
        labels_before_loading(str(tmp_path), ModelOptions())


def test_of_a_configuration_that_cannot_be_read_nothing_is_known(tmp_path):
    path = tmp_path / "config.json"
    os.mkfifo(path)
    assert labels_before_loading(str(tmp_path), ModelOptions()) is None
    path.unlink()
    path.symlink_to("/dev/zero")
    assert labels_before_loading(str(tmp_path), ModelOptions()) is None
    assert labels_before_loading("name/on-the-hub", ModelOptions()) is None
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


def test_the_size_of_a_model_on_a_server_is_unknown_with_a_reason():
    found = weights_of("openai:http://localhost:8000/v1#ours", ModelOptions())
    assert (found.parameters, found.stored, found.memory) == (None, None, None)
    assert found.reason == "it runs on a server"


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


@pytest.fixture
def plugin_scheme(monkeypatch):
    def offer(name, scheme):
        entry = Entry(name=name, origin="an unnamed package", target=scheme)
        monkeypatch.setattr("scope.models.scheme.find", lambda group, name: entry)

    return offer


@pytest.mark.parametrize(
    ("options", "found"),
    [
        ({"token_budget": 0}, "--token-budget 0"),
        ({"retries": -1}, "--retries -1"),
        ({"prompts": {"answr": "{text}"}}, "a prompt called `answr`"),
    ],
)
def test_options_that_make_no_sense_are_refused(options, found):
    with pytest.raises(SpecError, match=found):
        ModelOptions(**options)


class Model:
    """Remembers how many of its kind are in memory."""

    alive: ClassVar = weakref.WeakSet()
    most: ClassVar = 0
    loads: ClassVar = []

    def __init__(self, name):
        self.spec, self.fingerprint, self.labels = name, f"f{name}", ("no", "yes")
        Model.loads.append(name)
        Model.alive.add(self)
        Model.most = max(Model.most, len(Model.alive))

    def classify(self, texts):
        return [f"{self.spec} on {text}" for text in texts]


class Streaming(Model):
    def stream(self, texts):
        return enumerate(self.classify(texts))


@pytest.fixture(autouse=True)
def nobody_in_memory():
    Model.alive.clear()
    Model.loads.clear()
    Model.most = 0


@pytest.fixture
def models():
    return OneInMemory()


@pytest.fixture
def add(models):
    return lambda name, kind=Model: models.add(lambda: kind(name))


def test_models_take_turns_and_one_that_is_asked_again_and_again_is_loaded_once_for_it(add):
    first, second, third = (add(name) for name in "abc")
    for model in (first, first, second, third, third, first):
        assert model.classify(["x"]) == [f"{model.spec} on x"]
        assert [alive.spec for alive in Model.alive] == [model.spec]
    assert "".join(Model.loads) == "abc" + "abca"
    assert Model.most == 1


def test_an_added_model_has_the_roles_of_its_own_and_no_others(add):
    plain, streaming = add("a"), add("b", Streaming)
    assert isinstance(plain, Classifier)
    assert not hasattr(plain, "stream")
    assert hasattr(streaming, "stream")
    assert not isinstance(plain, ChoiceScorer | Answerer)
    assert (plain.spec, plain.fingerprint, plain.labels) == ("a", "fa", ("no", "yes"))
    assert plain.kind is Model


def test_a_load_that_fails_leaves_the_others_as_they_were(add, models):
    first = add("a")
    first.classify(["x"])

    def fail():
        raise MemoryError

    with pytest.raises(MemoryError):
        models.add(fail)
    assert len(Model.alive) == 0
    assert first.classify(["y"]) == ["a on y"]
