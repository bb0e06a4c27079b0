"""The hub path, end to end: `transformers` and `datasets` unchanged, against the local server."""

import json
import subprocess
import sys
import urllib.error
import urllib.request

import pytest
from hub.server import hub_environment, serve
from hub.tiny import write_tiny_data, write_tiny_model

LOAD_MODEL = """
import json
from transformers import AutoModelForSequenceClassification, AutoTokenizer
model = AutoModelForSequenceClassification.from_pretrained("tiny/model")
tokenizer = AutoTokenizer.from_pretrained("tiny/model")
batch = tokenizer("the film is good", return_tensors="pt")
print(json.dumps({
    "labels": list(model.config.id2label.values()),
    "tokens": tokenizer.convert_ids_to_tokens(batch["input_ids"][0]),
    "logits": model(**batch).logits[0].tolist(),
}))
"""

LOAD_DATA = """
import json, sys
from scope.data import load_data
from scope.errors import ScopeError
answers = {}
for spec in sys.argv[1:]:
    try:
        data = load_data(spec)
        answers[spec] = {
            "examples": [[e.id, e.text, e.label] for e in data.examples],
            "duplicates": data.card.duplicates,
        }
    except ScopeError as error:
        answers[spec] = {"error": type(error).__name__, "message": str(error)}
print(json.dumps(answers))
"""

SPECS = (
    "hf:tiny/data:validation",
    "hf:tiny/data:default:train",
    "hf:tiny/data:validation[:2]",
    "hf:tiny/data:test",
    "hf:tiny/data:validatoin",
    "hf:tiny/data:other:train",
    "hf:tiny/data:validation[:x]",
    "hf:tiny/two:train",
    "hf:tiny/two:first:train",
    "hf:tiny/scripted:train",
    "hf:tiny/none:train",
    "hf:tiny/data",
)

TWO_CONFIGURATIONS = """---
configs:
- config_name: first
  data_files: first.csv
- config_name: second
  data_files: second.csv
---
"""


def run(script, url, home, *arguments, **more):
    done = subprocess.run(
        [sys.executable, "-c", script, *arguments],
        env=hub_environment(url, home) | more,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    root = tmp_path_factory.mktemp("hub")
    write_tiny_model(root / "models" / "tiny" / "model")
    datasets = root / "datasets" / "tiny"
    write_tiny_data(datasets / "data")
    (datasets / "two").mkdir()
    (datasets / "two" / "README.md").write_text(TWO_CONFIGURATIONS)
    (datasets / "two" / "first.csv").write_text("text\nfirst\n")
    (datasets / "two" / "second.csv").write_text("text\nsecond\n")
    (datasets / "scripted").mkdir()
    (datasets / "scripted" / "scripted.py").write_text("raise SystemExit('was run')\n")
    return root


@pytest.fixture(scope="module")
def url(root):
    with serve(root) as url:
        yield url


@pytest.fixture(scope="module")
def answers(url, tmp_path_factory):
    return run(LOAD_DATA, url, tmp_path_factory.mktemp("home"), *SPECS)


@pytest.mark.slow
def test_a_classifier_comes_through_the_hub_as_it_was_saved(root, url, tmp_path):
    import torch
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    answer = run(LOAD_MODEL, url, tmp_path)
    assert answer["labels"] == ["bad", "good"]
    assert answer["tokens"] == ["[CLS]", "the", "film", "is", "good", "[SEP]"]
    folder = root / "models" / "tiny" / "model"
    model = AutoModelForSequenceClassification.from_pretrained(folder)
    batch = AutoTokenizer.from_pretrained(folder)("the film is good", return_tensors="pt")
    with torch.no_grad():
        assert model(**batch).logits[0].tolist() == pytest.approx(answer["logits"], abs=1e-6)


def test_a_split_comes_through_the_hub_with_the_names_of_its_labels(answers):
    found = answers["hf:tiny/data:validation"]
    # Of two labels of one text that stays which does in any order of the rows.
    assert [(text.strip(), label) for _, text, label in found["examples"]] == [
        ("the plot is dull", "bad"),
        ("the film is good", "bad"),
        ("a fine plot", "good"),
        ("not rated", None),
    ]
    assert found["duplicates"] == 1


def test_a_configuration_or_a_slice_may_be_named(answers):
    assert [text for _, text, _ in answers["hf:tiny/data:default:train"]["examples"]] == [
        "a great film",
        "a bad plot",
    ]
    assert len(answers["hf:tiny/data:validation[:2]"]["examples"]) == 2
    ((_, *content),) = answers["hf:tiny/two:first:train"]["examples"]
    assert content == ["first", None]


@pytest.mark.parametrize(
    ("spec", "error", "found"),
    [
        ("hf:tiny/data:validatoin", "DataError", "Should be one of ['train', 'validation']"),
        ("hf:tiny/data:other:train", "DataError", "Available: ['default']"),
        ("hf:tiny/two:train", "DataError", "available configs: ['first', 'second']"),
        ("hf:tiny/none:train", "DataError", "no data set `tiny/none` on http://127.0.0.1"),
        ("hf:tiny/data:validation[:x]", "DataError", "Unrecognized instruction format"),
        ("hf:tiny/scripted:train", "DataError", "Dataset scripts are no longer supported"),
        ("hf:tiny/data", "SpecError", "expected: hf:NAME:SPLIT or hf:NAME:CONFIG:SPLIT"),
    ],
)
def test_what_cannot_be_loaded_says_why(answers, spec, error, found):
    assert answers[spec]["error"] == error
    assert found in answers[spec]["message"]


def test_a_hub_out_of_reach_is_said_at_once_and_the_cache_serves_when_asked(root, tmp_path):
    spec = "hf:tiny/data:validation"
    with serve(root) as url:
        before = run(LOAD_DATA, url, tmp_path, spec)
    refused = run(LOAD_DATA, url, tmp_path, spec)[spec]
    assert refused["error"] == "DataError"
    assert f"{url} cannot be reached for `tiny/data` (ConnectError)" in refused["message"]
    assert "HF_HUB_OFFLINE=1" in refused["message"]
    offline = run(LOAD_DATA, url, tmp_path, spec, "hf:tiny/none:train", HF_HUB_OFFLINE="1")
    assert offline[spec] == before[spec]
    assert "cannot be reached for `tiny/none`" in offline["hf:tiny/none:train"]["message"]


@pytest.mark.parametrize(
    ("path", "code"),
    [
        ("/api/models/tiny/none", "RepoNotFound"),
        ("/api/models/tiny/model/revision/v2", "RevisionNotFound"),
        ("/tiny/model/resolve/main/none.json", "EntryNotFound"),
    ],
)
def test_the_server_refuses_as_the_hub_does(url, path, code):
    with pytest.raises(urllib.error.HTTPError) as raised:
        urllib.request.urlopen(url + path)
    with raised.value as answer:
        assert (answer.code, answer.headers["X-Error-Code"]) == (404, code)


def test_the_tree_lists_files_and_folders(tmp_path):
    (tmp_path / "models" / "one" / "deep").mkdir(parents=True)
    (tmp_path / "models" / "one" / "a.txt").write_text("abc")
    (tmp_path / "models" / "one" / "deep" / "b.txt").write_text("")
    with serve(tmp_path) as url:
        flat = json.load(urllib.request.urlopen(f"{url}/api/models/one/tree/main"))
        deep = json.load(urllib.request.urlopen(f"{url}/api/models/one/tree/main?recursive=True"))
    assert [(e["type"], e["path"], e["size"]) for e in flat] == [
        ("file", "a.txt", 3),
        ("directory", "deep", 0),
    ]
    assert [entry["path"] for entry in deep] == ["a.txt", "deep", "deep/b.txt"]
