"""The commands as a user meets them."""

import json
import subprocess
import sys
from xml.etree import ElementTree

import pytest
from hub.tiny import write_tiny_model
from parsed_page import parse

from scope.store.folder import RunFolder


@pytest.fixture
def audited(once, sentences_csv):
    """A finished run named mine; returns what its command printed."""
    return once(
        *("audit", "--reference", "python:toy_models:Reference"),
        *("--target", "python:toy_models:Student", "--target", "python:toy_models:Stranger"),
        *("--data", sentences_csv, "--n", 8, "--capability", "typo", "--run", "mine"),
    )


def test_an_audit_prints_verdicts_and_a_small_table_and_writes_a_report(audited, tmp_path):
    assert audited.stdout.startswith("? toy_models:Student and toy_models:Stranger: too early\n")
    assert "same answers" in audited.stdout
    assert len(audited.stdout.splitlines()) <= 20
    assert "report: runs/mine/report.html" in audited.stderr
    assert "typo: texts" in audited.stderr
    report = (tmp_path / "runs/mine/report.html").read_text(encoding="utf-8")
    assert "toy_models:Student" in report


def test_a_report_is_the_same_when_written_again_without_any_model(
    audited, run_scope, command, tmp_path
):
    path = tmp_path / "runs/mine/report.html"
    first = path.read_bytes()
    path.unlink()
    again = run_scope("report", "mine", environment={"PYTHONPATH": ""})
    assert again.returncode == 0, again.stderr
    assert path.read_bytes() == first
    assert again.stdout == audited.stdout
    long = command("report", "mine", "-v")
    assert long.stdout.endswith(again.stdout)
    assert "Same answers" in long.stdout


def test_the_runs_are_listed(audited, command):
    rows = json.loads(command("list", "runs", "--json").stdout)
    assert [(row["run"], row["state"]) for row in rows] == [("mine", "done")]
    assert rows[0]["models"].startswith("toy_models:Reference -> ")
    assert "toy_models:Stranger" in rows[0]["models"]
    assert rows[0]["headline"]
    (head, headline, report) = command("list", "runs").stdout.splitlines()
    assert head.startswith(f"mine  {rows[0]['date']}  audit  toy_models:Reference -> ")
    assert rows[0]["headline"].startswith(headline.strip()[:60])
    assert report.strip() == "runs/mine/report.html"
    assert max(map(len, (head, headline))) <= 100


def test_json_holds_the_whole_comparison_and_nothing_else(command, audited, tmp_path):
    done = command("report", "mine", "--json-full")
    assert done.stdout == RunFolder(tmp_path / "runs/mine").read_result().to_json()


@pytest.fixture
def reviews_csv(tmp_path):
    """Texts that a model must read: one word decides the label."""
    rows = [
        f"the film seems {word} from start to finish number {number},{label}\n"
        for number in range(12)
        for word, label in (("wonderful", "positive"), ("dreadful", "negative"))
    ]
    path = tmp_path / "reviews.csv"
    path.write_text("text,label\n" + "".join(rows), encoding="utf-8")
    return path


def test_a_constant_target_is_named_first_and_passes_no_gate(command, reviews_csv, tmp_path):
    """It keeps every invariance, and its agreement is that of chance."""
    done = command(
        *("audit", "--reference", "python:toy_models:Careful", "--run", "mine"),
        *("--target", "python:toy_models:Constant", "--target", "python:toy_models:Rougher"),
        *("--data", reviews_csv, "--n", 20, "--capability", "typo", "--json-full"),
        *("--gate", "hard_scope>=0.1", "--gate-on", "value"),
    )
    assert done.returncode == 1
    told = "toy_models:Constant is degenerate: it answers `positive` to 24 of 24 texts, while no"
    assert done.stderr.count("gate: ") == 1
    assert told in done.stderr
    shares = json.loads(done.stdout)["answer_shares"]
    assert [one["degenerate"] is None for one in shares] == [True, False, True]
    assert shares[0]["accuracy"]["value"] == 1.0
    shown = command("report", "mine").stdout
    assert "\n✗ toy_models:Constant: " in shown
    assert "degenerate: toy_models:Constant: it" in shown
    page = (tmp_path / "runs/mine/report.html").read_text(encoding="utf-8")
    assert "it passes no verdict and no gate" in page.partition("</ul>")[0]


def test_a_constant_reference_ends_the_audit(command, reviews_csv):
    done = command(
        *("audit", "--reference", "python:toy_models:Constant"),
        *("--target", "python:toy_models:Careful", "--data", reviews_csv),
    )
    assert done.returncode == 2
    assert "the reference `toy_models:Constant` is degenerate: it answers" in done.stderr
    assert "`--label-map` renames labels" in done.stderr


def test_help_answers_without_loading_anything_heavy():
    script = (
        "import sys; sys.argv = ['scope', '--help']\n"
        "from scope.cli import main\n"
        "try: main()\n"
        "except SystemExit: pass\n"
        "print(sorted({'torch', 'numpy', 'pydantic', 'textattack'} & sys.modules.keys()))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines()[-1] == "[]"


def test_a_dry_run_prints_the_cost_and_leaves_nothing(command, sentences_csv, tmp_path):
    audit = (
        *("audit", "--reference", "python:toy_models:Reference", "--data", sentences_csv),
        *("--target", "python:toy_models:Student", "--capability", "typo", "--n", "3"),
    )
    done = command(*audit, "--dry-run", "--json")
    assert json.loads(done.stdout)["work"][0]["purpose"] == "search: typo"
    assert not (tmp_path / "runs").exists()
    refused = command(*audit, "--price", "vendor=1/2")
    assert refused.returncode == 2
    assert "there are none" in refused.stderr


def test_a_stored_run_is_judged_by_gates_again_without_models(
    audited, command, monkeypatch, tmp_path
):
    import toy_models

    monkeypatch.delattr(toy_models, "Reference")
    passed = ("--gate", "hard_scope[toy_models:Student]>=0.01", "--json")
    for gates, code, said in (
        (passed, 0, "report: runs/mine/report.html"),
        (("--gate", "hard_scope[student]>=0", "--json"), 2, "`student` in the brackets"),
        (("--gate", "hard_scope>=1"), 1, "gate: hard_scope of toy_models:Student"),
        (("--gate-on", "value"), 2, "--gate-on without a gate"),
        (("--nonsense",), 2, "see `scope report --help`"),
        (("another",), 2, "`another`, which belongs to no option"),
    ):
        done = command("report", "mine", *gates)
        assert (done.returncode, said in done.stderr) == (code, True), done.stderr
        page = (tmp_path / "runs/mine/report.html").read_text(encoding="utf-8")
        told = {0: "✓ All gates passed", 1: "✗ A gate failed"}.get(code, "")
        assert told in page


@pytest.mark.parametrize(("gates", "failures"), [((), 0), (("--fail-on", "not-shown"), 2)])
def test_a_stored_run_becomes_a_comment_and_test_cases(audited, command, tmp_path, gates, failures):
    done = command("report", "mine", "--markdown", "--junit", "new/cases.xml", *gates)
    assert done.returncode == bool(failures), done.stderr
    assert done.stdout.startswith("## SCoPE audit: ")
    assert done.stdout.count("\n") <= 60
    assert ("A gate failed" in done.stdout) == bool(failures)
    (suite,) = ElementTree.parse(tmp_path / "new/cases.xml").getroot()
    assert [case.get("name") for case in suite] == [
        "toy_models:Student in place of toy_models:Reference",
        "toy_models:Stranger in place of toy_models:Reference",
    ]
    assert len(suite.findall("testcase/failure")) == failures
    assert len(suite.findall("testcase/skipped")) == 2 - failures
    whole = command("report", "mine", "--markdown", "--verbose").stdout
    assert whole.startswith("# SCoPE audit: ")
    assert "## How to reproduce" in whole


def test_a_stored_run_becomes_a_model_card(audited, command):
    done = command("report", "mine", "--model-card")
    assert done.returncode == 0, done.stderr
    assert "| Same answers as toy\\_models:Reference |" in done.stdout
    assert done.stdout.count("model-index:") == 2


def test_other_outputs_leave_the_gates_of_a_page(audited, command, tmp_path):
    command("report", "mine", "--fail-on", "not-shown")
    done = command("report", "mine", "--junit", "cases.xml", "--json")
    assert done.stderr.startswith("wrote cases.xml\n")
    page = tmp_path / "runs/mine/report.html"
    assert "A gate failed" in page.read_text(encoding="utf-8")
    command("report", "mine")
    assert "A gate failed" not in page.read_text(encoding="utf-8")
    two = command("report", "mine", "--json", "--markdown")
    assert (two.returncode, "--json and --markdown together" in two.stderr) == (2, True)


def test_a_page_to_print_has_answer_gates_and_numbers_and_no_examples(audited, command, tmp_path):
    done = command("report", "mine", "--brief", "--fail-on", "not-shown")
    assert done.returncode == 1, done.stderr
    page = (tmp_path / "runs/mine/brief.html").read_text(encoding="utf-8")
    (main,) = parse(page).all("main")
    assert "A gate failed" in main.text
    assert "Accuracy" in main.text
    assert not [one for tag in ("article", "details", "form") for one in main.all(tag)]
    links = {one.attributes["href"].partition("#")[0] for one in main.all("a")}
    assert links == {"./report.html"}


def test_a_text_beyond_the_limit_is_cut_counted_and_shown(command, tmp_path):
    write_tiny_model(tmp_path / "model", labels=("negative", "positive"))
    long = " ".join(["film"] * 60)
    (tmp_path / "long.csv").write_text(f"text,label\n{long},positive\na good film,positive\n")
    done = command(
        *("audit", "--reference", "./model", "--target", "./model", "--data", "long.csv"),
        *("--capability", "typo", "--setting", "share=1", "--run", "mine", "--json-full"),
    )
    assert done.returncode == 0, done.stderr
    comparison = json.loads(done.stdout)
    truncated = comparison["manifest"]["models"][0]["truncated"]
    changed = [one["perturbation"]["text"] for one in comparison["perturbations"]]
    assert truncated == len({text for text in [long, *filter(None, changed)] if len(text) > 200})
    told = f"model: {truncated} of 4 texts cut to its maximum length"
    assert told in command("report", "mine").stdout
