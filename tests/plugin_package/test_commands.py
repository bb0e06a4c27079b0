"""A third party's capability and job through the commands: listed, audited, reported."""

import json
import sys

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


def test_jobs_are_listed_with_their_origin_and_why_some_cannot_be_commands(with_plugin):
    listed = {
        (row["job"], row["origin"].partition(" ")[0]): row["status"]
        for row in json.loads(with_plugin("list", "jobs", "--json").stdout)
    }
    assert next(iter(listed)) == ("audit", "scope-models")
    of_plugin = {name: status for (name, package), status in listed.items() if "con" in package}
    assert of_plugin["spelling"] == "ready"
    assert of_plugin["plurals"].startswith("broken: ModuleNotFoundError")
    assert of_plugin["audit"] == "broken: `scope audit` is a command of SCoPE's own"
    assert of_plugin["checking"] == "broken: the job's own name is `spelling`"


def test_help_lists_jobs_of_plugins_without_importing_them(with_plugin, monkeypatch):
    monkeypatch.delitem(sys.modules, "scope_spelling", raising=False)
    page = " ".join(with_plugin("--help").stdout.split())
    assert "spelling Job of scope-contraction 1.2.0; see scope spelling --help" in page
    assert "plurals Job of scope-contraction 1.2.0" in page
    assert "audit Audit whether targets" in page
    assert "scope_spelling" not in sys.modules


def test_a_plugins_job_is_a_command_like_others(with_plugin, sentences_csv, tmp_path):
    assert "Audit targets on spelling mistakes alone." in with_plugin("spelling", "--help").stdout
    done = with_plugin(
        *("spelling", "--reference", "python:toy_models:Reference", "--data", sentences_csv),
        *("--target", "python:toy_models:Student", "--n", 6, "--run", "mine", "--json"),
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["manifest"]["settings"]["trials"] == 1
    assert (tmp_path / "runs/mine/report.html").exists()
    assert "no --reference" in with_plugin("spelling", "--data", "x").stderr
    assert "did you mean `spelling`?" in with_plugin("speling").stderr


@pytest.mark.parametrize(
    ("name", "reason"),
    [("plurals", "a_library_that_is_not_installed"), ("checking", "own name is `spelling`")],
)
def test_a_job_that_cannot_be_a_command_is_refused_with_the_reason(with_plugin, name, reason):
    done = with_plugin(name, "--help")
    assert done.returncode == 2
    assert reason in done.stderr


def test_a_failure_in_a_plugins_job_names_the_plugin(with_plugin, monkeypatch):
    def leave(**_):
        raise SystemExit(0)

    monkeypatch.setattr("scope.audit", leave, raising=False)
    done = with_plugin("spelling", "--reference", "a", "--target", "b", "--data", "c")
    assert done.returncode == 2
    assert "`spelling of scope-contraction 1.2.0` failed in `its job`: SystemExit: 0" in done.stderr


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
