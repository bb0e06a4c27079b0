import pytest

from scope.errors import DataError, ModelError, SpecError
from scope.models import ModelOptions, load_classifier, load_encoder
from scope.models.loading import loading_once
from scope.models.scheme import expand_spec, split_spec
from scope.protocols import Classifier


@pytest.mark.parametrize(
    ("spec", "parts"),
    [
        ("hf:a/b@main", ("hf", "a/b@main")),
        ("a/b", ("hf", "a/b")),
        ("bert", ("hf", "bert")),
        ("./folder/model", ("hf", "./folder/model")),
        ("/folder/model", ("hf", "/folder/model")),
        ("predictions:a.jsonl", ("predictions", "a.jsonl")),
        ("python:module:attribute", ("python", "module:attribute")),
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
    with pytest.raises(SpecError) as raised:
        split_spec(spec)
    assert raised.value.found == f"the model spec `{spec}`"
    schemes = "eee, gguf, helm, hf, inspect, lm-eval, openai, openllm, predictions, python"
    assert raised.value.expected == f"SCHEME:REST with a scheme of {schemes}"


def test_an_unknown_scheme_is_refused_with_a_near_one():
    with pytest.raises(SpecError) as raised:
        load_classifier("pyhton:a:b")
    assert raised.value.fix == "did you mean `python`?"


def test_a_folder_loads_without_its_scheme_as_a_classifier(checkpoints):
    classifier = load_classifier(str(checkpoints["bert"]))
    assert isinstance(classifier, Classifier)
    assert classifier.labels == ("bad", "good")
    assert classifier.spec == f"hf:{checkpoints['bert']}"


def test_a_classifier_has_two_different_labels_or_more(tmp_path):
    saved = tmp_path / "one.jsonl"
    saved.write_text('{"text": "a", "probabilities": [1.0], "labels": ["score"]}\n')
    with pytest.raises(ModelError) as raised:
        load_classifier(f"predictions:{saved}")
    assert raised.value.found == f"`predictions:{saved}` has the labels ['score']"


def test_what_a_plugin_gives_must_have_the_role(monkeypatch):
    import scope.models.saved

    monkeypatch.setattr(scope.models.saved.SCHEME, "load", lambda rest, options: object())
    with pytest.raises(ModelError) as raised:
        load_classifier("predictions:x")
    assert raised.value.found == "`predictions:x` is a object with the roles: none"
    assert raised.value.expected == (
        "a model in the role of classifier: with `spec`, `fingerprint` and `classify`"
    )


def test_only_hf_serves_encoders():
    with pytest.raises(SpecError, match="an encoder of the scheme `predictions`"):
        load_encoder("predictions:a.jsonl")


def test_a_star_stands_for_every_model_in_the_tables_order(tmp_path):
    path = tmp_path / "answers.tsv"
    path.write_text("b\tAB\na\tBA\n")
    assert expand_spec(f"predictions:{path}#*") == (
        f"predictions:{path}#b",
        f"predictions:{path}#a",
    )
    assert expand_spec(f"predictions:{path}#a") == (f"predictions:{path}#a",)


@pytest.mark.parametrize(
    "spec",
    ["hf:org/name", "org/name", "predictions:a.jsonl", "openai:http://host/v1#*", "python:a:b"],
)
def test_any_other_spec_stands_for_itself(spec):
    assert expand_spec(spec) == (spec,)


def test_a_table_that_is_not_there_is_named(tmp_path):
    with pytest.raises(DataError, match="no file"):
        expand_spec(f"predictions:{tmp_path / 'none.tsv.gz'}#*")


def test_an_empty_spec_is_refused():
    with pytest.raises(SpecError):
        expand_spec("predictions:")


def test_a_folder_stands_for_every_file_of_answers_in_it(tmp_path):
    for name in ("b.jsonl", "a.jsonl.gz", "c.parquet", "notes.txt"):
        (tmp_path / name).write_text("")
    assert expand_spec(f"predictions:{tmp_path}") == tuple(
        f"predictions:{tmp_path / name}" for name in ("a.jsonl.gz", "b.jsonl", "c.parquet")
    )


def test_a_folder_without_answers_is_refused(tmp_path):
    with pytest.raises(DataError, match="no saved answers in the folder"):
        expand_spec(f"predictions:{tmp_path}")


def test_a_model_is_loaded_once_inside_and_each_time_outside(checkpoints):
    spec = str(checkpoints["bert"])
    with loading_once([spec]):
        first = load_classifier(spec)
        assert load_classifier(spec) is first
        assert load_classifier(spec, ModelOptions(dtype="bfloat16")) is not first
    with loading_once(["another"]):
        assert load_classifier(spec) is not load_classifier(spec)
    assert load_classifier(spec) is not first
