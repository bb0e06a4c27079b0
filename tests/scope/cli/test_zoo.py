import json

import pytest
import typer
from typer.testing import CliRunner

from scope.zoo import zoo as zoo_module
from scope.zoo.lineage import Origin, plan_zoo


@pytest.fixture
def invoke(monkeypatch, tmp_path):
    """Runs the command with a build that only notes what it was asked."""
    from scope.cli.zoo import zoo

    asked = []

    def build(folder, *, seed, workers, progress):
        asked.append((folder, seed, workers))
        return plan_zoo(folder / "home", [Origin(name="a", pretrained=True, thief="b")])

    monkeypatch.setattr(zoo_module, "build_zoo", build)
    monkeypatch.setenv("SCOPE_CACHE", str(tmp_path))
    monkeypatch.setenv("COLUMNS", "80")
    application = typer.Typer()
    application.command()(zoo)

    def run(*arguments, code=0):
        done = CliRunner().invoke(application, arguments, catch_exceptions=False)
        assert done.exit_code == code
        return done.stdout, asked[-1] if asked else None

    return run


def test_a_table_names_every_model_with_its_kind_and_source_and_where_it_lies(invoke, tmp_path):
    printed, asked = invoke()
    assert asked == (tmp_path / "zoo", 0, 2)
    rows = [
        [cell.strip() for cell in line.split("│")[1:-1]]
        for line in printed.splitlines()
        if line.startswith("│")
    ]
    home = tmp_path / "zoo" / "home"
    assert len(rows) == 13
    assert ["a-reference", "reference", ""] in rows
    assert ["a-same-data-2", "same-data", ""] in rows
    assert ["a-stolen", "stolen", "a-reference"] in rows
    assert printed.splitlines()[-1] == f"path of a model: {home}/NAME"


def test_json_holds_the_whole_lineage(invoke):
    printed, asked = invoke("--json", "--seed", "3", "--workers", "1")
    assert asked[1:] == (3, 1)
    rows = {row["name"]: row for row in json.loads(printed)}
    assert len(rows) == 13
    assert rows["a-same-data-1"]["hard_negative_of"] == "a-reference"
    assert rows["a-stolen"]["base"] == "b"


def test_no_workers_are_refused(invoke):
    assert invoke("--workers", "0", code=2)[1] is None
