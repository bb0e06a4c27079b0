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


def test_a_table_names_every_model_with_its_kind_and_source_and_its_folder(run, tmp_path):
    printed, asked = run()
    assert asked == (tmp_path / "zoo", 0, 2)
    *rows, last = [line.split() for line in printed.splitlines()]
    assert len(rows) == 13
    assert ["a-reference", "reference"] in rows
    assert ["a-stolen", "stolen", "a-reference"] in rows
    assert last[-1] == f"{tmp_path / 'zoo' / 'home'}/NAME"


def test_json_holds_the_whole_lineage(run):
    printed, asked = run("--json", "--seed", "3", "--workers", "1")
    assert asked[1:] == (3, 1)
    rows = {row["name"]: row for row in json.loads(printed)}
    assert len(rows) == 13
    assert rows["a-same-data-1"]["hard_negative_of"] == "a-reference"
    assert rows["a-stolen"]["base"] == "b"
