"""The hub path, end to end: `transformers` and `datasets` unchanged, against the local server."""

import json
import subprocess
import sys

import pytest
from hub.server import hub_environment

LOAD_DATA = """
import json, sys
from scope.data.sampling import load_data
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
def answers(hub, tmp_path_factory):
    datasets = hub.root / "datasets" / "tiny"
    (datasets / "two").mkdir()
    (datasets / "two" / "README.md").write_text(TWO_CONFIGURATIONS)
    for name in ("first", "second"):
        (datasets / "two" / f"{name}.csv").write_text(f"text\n{name}\n")
    (datasets / "scripted").mkdir()
    (datasets / "scripted" / "scripted.py").write_text("raise SystemExit('was run')\n")
    return hub.told(tmp_path_factory.mktemp("data"), LOAD_DATA, *SPECS)


def test_a_split_comes_through_the_hub_with_the_names_of_its_labels(answers):
    found = answers["hf:tiny/data:validation"]
    # A text with two labels has none.
    assert [(text.strip(), label) for _, text, label in found["examples"]] == [
        ("the plot is dull", "bad"),
        ("the film is good", None),
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


def test_a_hub_out_of_reach_is_said_at_once_and_the_cache_serves_when_asked(hub, answers):
    """Both are settings that are read at import."""
    spec, url = "hf:tiny/data:validation", "http://127.0.0.1:9"
    refused = run(LOAD_DATA, url, hub.home, spec)[spec]
    assert refused["error"] == "DataError"
    assert f"{url} cannot be reached for `tiny/data` (ConnectError)" in refused["message"]
    assert "HF_HUB_OFFLINE=1" in refused["message"]
    offline = run(LOAD_DATA, url, hub.home, spec, "hf:tiny/none:train", HF_HUB_OFFLINE="1")
    assert offline[spec] == answers[spec]
    assert "cannot be reached for `tiny/none`" in offline["hf:tiny/none:train"]["message"]


SPLITS = {
    "train": [("A bell rings.", "A bell is heard.", 4.5, 7), ("A cat.", "A tax.", 0.25, 9)],
    # Hidden scores are written so.
    "test": [("A bell rings.", "A cat.", -1.0, 0)],
}
LOAD_PAIRS = """
import json
from capabilities.tasks import Similarity
from scope.errors import ScopeError
train = Similarity().load_pairs("hf:tiny/pairs:train", part=None, n=None, seed=0)
messages = []
for split, part in (("test", None), ("train", "train")):
    try:
        Similarity().load_pairs(f"hf:tiny/pairs:{split}", part=part, n=None, seed=0)
    except ScopeError as error:
        messages.append(error.found)
pairs = [[one.id, one.first, one.second, one.score] for one in train.pairs]
print(json.dumps({"pairs": pairs, "messages": messages}))
"""


def test_pairs_of_the_hub_are_read_split_by_split(hub, tmp_path):
    folder = hub.root / "datasets" / "tiny" / "pairs"
    folder.mkdir()
    for split, rows in SPLITS.items():
        names = ("sentence1", "sentence2", "label", "idx")
        lines = [json.dumps(dict(zip(names, row, strict=True))) for row in rows]
        (folder / f"{split}.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    told = hub.told(tmp_path, LOAD_PAIRS)
    assert told["pairs"] == [
        ["7", "A bell rings.", "A bell is heard.", 4.5],
        ["9", "A cat.", "A tax.", 0.25],
    ]
    hidden, undivided = told["messages"]
    assert hidden == (
        "row 0 of hf:tiny/pairs:test (the first is 0): the score -1.0, which is out of the range "
        "0 to 5"
    )
    assert undivided.startswith("no column `split` in hf:tiny/pairs:train, ")
