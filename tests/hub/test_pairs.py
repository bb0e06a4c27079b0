"""Scored pairs by a name of the hub, against the local server."""

import json
import subprocess
import sys

from hub.server import hub_environment, serve

README = """---
configs:
- config_name: default
  data_files:
  - split: train
    path: train.jsonl
  - split: test
    path: test.jsonl
dataset_info:
  features:
  - name: sentence1
    dtype: string
  - name: sentence2
    dtype: string
  - name: label
    dtype: float32
  - name: idx
    dtype: int32
---
"""
SPLITS = {
    "train": [("A bell rings.", "A bell is heard.", 4.5, 7), ("A cat.", "A tax.", 0.25, 9)],
    # Hidden scores are written so.
    "test": [("A bell rings.", "A cat.", -1.0, 0)],
}
LOAD = """
import json
from capabilities.similarity import Similarity
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


def test_pairs_of_the_hub_are_read_split_by_split(tmp_path):
    folder = tmp_path / "hub" / "datasets" / "tiny" / "pairs"
    folder.mkdir(parents=True)
    (folder / "README.md").write_text(README, encoding="utf-8")
    for split, rows in SPLITS.items():
        names = ("sentence1", "sentence2", "label", "idx")
        lines = [json.dumps(dict(zip(names, row, strict=True))) for row in rows]
        (folder / f"{split}.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    with serve(tmp_path / "hub") as url:
        done = subprocess.run(
            [sys.executable, "-c", LOAD],
            env=hub_environment(url, tmp_path / "home"),
            capture_output=True,
            text=True,
            check=False,
        )
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
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
