"""A third party's capability through the commands: listed, audited, reported."""

import json

import pytest
from conftest import TESTS


@pytest.fixture
def with_plugin(command, installed_plugin, monkeypatch):
    monkeypatch.syspath_prepend(installed_plugin)
    return command


def test_it_is_listed_with_its_origin_and_the_broken_one_with_the_reason(
    run_scope, installed_plugin
):
    environment = {"PYTHONPATH": f"{installed_plugin}:{TESTS}"}
    done = run_scope("list", "capabilities", "--json", environment=environment)
    listed = {row["capability"]: row for row in json.loads(done.stdout)}
    assert listed["contraction"]["origin"] == "scope-contraction 1.2.0"
    assert listed["contraction"]["status"] == "ready"
    assert listed["plural"]["status"].startswith("broken: ModuleNotFoundError")


def test_it_is_audited_and_reported(with_plugin, tmp_path):
    texts = ["it is a fine film", "they do not laugh", "we cannot say why", "I don't mind"]
    path = tmp_path / "texts.csv"
    path.write_text("text\n" + "\n".join(texts), encoding="utf-8")
    done = with_plugin(
        *("audit", "--reference", "python:toy_models:Reference", "--run", "mine"),
        *("--target", "python:toy_models:Student", "--data", path, "--capability", "contraction"),
    )
    assert done.returncode == 0, done.stderr
    assert "contraction" in done.stdout
    comparison = json.loads((tmp_path / "runs/mine/comparison.json").read_text(encoding="utf-8"))
    (card,) = comparison["manifest"]["capabilities"]
    assert card["origin"] == "scope-contraction 1.2.0"
    assert comparison["outcomes"][0]["found"] > 0
    report = (tmp_path / "runs/mine/report.html").read_text(encoding="utf-8")
    assert "scope-contraction 1.2.0" in report


def test_a_broken_one_is_refused_with_the_reason(with_plugin, sentences_csv):
    done = with_plugin(
        *("audit", "--reference", "python:toy_models:Reference"),
        *("--target", "python:toy_models:Student", "--data", sentences_csv),
        *("--capability", "plural"),
    )
    assert done.returncode == 2
    assert "a_library_that_is_not_installed" in done.stderr
