import json
import sys

import build_zoo
import pytest
from zoo.lineage import Origin, plan_zoo


@pytest.fixture
def run(monkeypatch, capsys, tmp_path):
    """Runs the command with a build that only notes its arguments."""
    asked = []

    def build(folder, *, seed, workers, progress):
        asked.append((folder, seed, workers))
        return plan_zoo(folder / "home", [Origin(name="a", pretrained=True, thief="b")])

    monkeypatch.setattr(build_zoo, "build_zoo", build)
    monkeypatch.setenv("SCOPE_CACHE", str(tmp_path))

    def command(*arguments):
        monkeypatch.setattr(sys, "argv", ["build_zoo.py", *arguments])
        build_zoo.main()
        return capsys.readouterr().out, asked[-1]

    return command


def test_json_holds_the_whole_lineage(run, tmp_path):
    printed, asked = run("--seed", "3", "--workers", "1")
    assert asked == (tmp_path / "zoo", 3, 1)
    rows = {row["name"]: row for row in json.loads(printed)}
    assert len(rows) == 13
    assert rows["a-same-data-1"]["hard_negative_of"] == "a-reference"
    assert rows["a-stolen"]["base"] == "b"
