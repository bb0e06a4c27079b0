"""A third party's capability and job through the commands: listed, audited, reported."""

import json
import sys
from dataclasses import replace

import pytest

from reports.blocks import Paragraph, Section
from scope.jobs.pages import load_result
from scope.metrics.catalog import find_metric


def test_capabilities_are_listed_with_their_origin_and_the_broken_one_is_refused(
    with_plugin, sentences_csv
):
    rows = json.loads(with_plugin("list", "capabilities", "--json").stdout)
    listed = {row["capability"]: row for row in rows}
    assert listed["shortening"]["origin"] == "scope-contraction 1.2.0"
    assert listed["shortening"]["status"] == "ready"
    assert listed["plural"]["status"].startswith("broken: ModuleNotFoundError")
    done = audited(with_plugin, sentences_csv, "--capability", "plural")
    assert done.returncode == 2
    assert "a_library_that_is_not_installed" in done.stderr


def test_jobs_are_listed_with_their_origin_and_why_some_cannot_be_commands(with_plugin):
    listed = {
        (row["job"], row["origin"].partition(" ")[0]): row["status"]
        for row in json.loads(with_plugin("list", "jobs", "--json").stdout)
    }
    assert next(iter(listed)) == ("pair", "scope-models")
    of_plugin = {name: status for (name, package), status in listed.items() if "con" in package}
    assert of_plugin["confidence"] == "ready"
    assert of_plugin["plurals"].startswith("broken: ModuleNotFoundError")
    assert of_plugin["audit"] == "broken: `scope audit` is a command of SCoPE's own"
    assert of_plugin["checking"] == "broken: the job's own name is `confidence`"
    done = with_plugin("plurals", "--help")
    assert (done.returncode, "a_library_that_is_not_installed" in done.stderr) == (2, True)


def test_help_lists_jobs_of_plugins_without_importing_them(with_plugin, monkeypatch):
    monkeypatch.delitem(sys.modules, "scope_confidence", raising=False)
    page = " ".join(with_plugin("--help").stdout.split())
    assert "confidence Job of scope-contraction 1.2.0; see scope confidence --help" in page
    assert "plurals Job of scope-contraction 1.2.0" in page
    assert "audit Audit whether targets" in page
    assert "scope_confidence" not in sys.modules


MODELS = ("--model", "python:toy_models:Reference", "--model", "python:toy_models:Student")


def confidence(with_plugin, data, *more):
    return with_plugin("confidence", *MODELS, "--data", data, "--n", 6, "--run", "mine", *more)


def test_a_plugins_job_is_a_command_like_others(with_plugin, sentences_csv):
    page = with_plugin("confidence", "--help").stdout
    assert "Measure how sure models are of their answers." in page
    assert "--sure-from" in page
    assert "--model is missing" in with_plugin("confidence", "--data", "x").stderr
    too_high = confidence(with_plugin, sentences_csv, "--sure-from", 2)
    assert (too_high.returncode, "sure-from" in too_high.stderr) == (2, True)


def test_a_plugins_job_has_a_run_a_table_a_page_and_json(with_plugin, sentences_csv, tmp_path):
    dry = json.loads(confidence(with_plugin, sentences_csv, "--dry-run", "--json").stdout)
    assert [(one["purpose"], one["queries"]) for one in dry["work"]] == [("texts", 6)] * 2
    assert not (tmp_path / "runs").exists()
    done = confidence(with_plugin, sentences_csv)
    assert done.returncode == 0, done.stderr
    assert "Mean probability" in done.stdout
    report = tmp_path / "runs/mine/report.html"
    page = report.read_text(encoding="utf-8")
    assert "Share of sure answers" in page
    assert page.count("<svg") == 2
    first = json.loads((tmp_path / "runs/mine/result.json").read_text(encoding="utf-8"))
    resumed = json.loads(confidence(with_plugin, sentences_csv, "--json-full").stdout)
    assert resumed["models"] == first["models"]
    assert resumed["manifest"]["job"] == "confidence"
    assert [one["mean"]["n"] for one in resumed["models"]] == [6, 6]
    assert "--sure-from" not in resumed["manifest"]["command"]
    listed = json.loads(with_plugin("list", "runs", "--json").stdout)
    assert [(one["run"], one["job"]) for one in listed] == [("mine", "confidence")]
    before = report.read_bytes()
    report.unlink()
    assert with_plugin("report", "mine").returncode == 0
    assert report.read_bytes() == before
    result = load_result("mine", tmp_path / "runs")
    assert result.to_markdown().startswith("## SCoPE confidence: ")
    assert "Mean probability" in str(result)
    assert "<table" in result._repr_html_()
    other = confidence(with_plugin, sentences_csv, "--sure-from", 0.5)
    assert (other.returncode, "different arguments" in other.stderr) == (2, True)


def leave(_):
    raise SystemExit(0)


@pytest.mark.parametrize(
    ("part", "failure", "told", "keeps"),
    [
        ("run_confidence", leave, "failed in `its job`: SystemExit: 0", False),
        ("page", lambda _: 1 / 0, "failed in `page`", True),
    ],
)
def test_a_failure_in_a_plugins_job_names_the_plugin_and_keeps_what_was_finished(
    with_plugin, sentences_csv, tmp_path, monkeypatch, part, failure, told, keeps
):
    import scope_confidence

    monkeypatch.setattr(scope_confidence, part, failure)
    done = confidence(with_plugin, sentences_csv)
    assert done.returncode == 2
    assert f"`confidence of scope-contraction 1.2.0` {told}" in done.stderr
    assert (tmp_path / "runs/mine/result.json").exists() == keeps


def test_it_is_audited_and_reported(with_plugin, tmp_path):
    texts = ["it is a fine film", "they do not laugh", "we cannot say why", "I don't mind"]
    path = tmp_path / "texts.csv"
    path.write_text("text\n" + "\n".join(texts), encoding="utf-8")
    done = with_plugin(
        *("audit", "--reference", "python:toy_models:Reference", "--run", "mine"),
        *("--target", "python:toy_models:Student", "--data", path, "--capability", "shortening"),
        *("--setting", "shortening.width=2"),
    )
    assert done.returncode == 0, done.stderr
    assert "shortening" in done.stdout
    comparison = json.loads((tmp_path / "runs/mine/result.json").read_text(encoding="utf-8"))
    (card,) = comparison["manifest"]["capabilities"]
    assert card["origin"] == "scope-contraction 1.2.0"
    assert card["settings"]["width"] == 2
    assert comparison["outcomes"][0]["found"] > 0
    report = (tmp_path / "runs/mine/report.html").read_text(encoding="utf-8")
    assert "scope-contraction 1.2.0" in report


@pytest.fixture
def use_metric(with_plugin, monkeypatch):
    """Lets the plugin offer its metric with changes; what is found is kept for the process."""
    import scope_steadiness

    def use(**changes):
        metric = replace(scope_steadiness.STEADINESS, **changes)
        monkeypatch.setattr(scope_steadiness, "STEADINESS", metric)
        find_metric.cache_clear()

    yield use
    find_metric.cache_clear()


def audited(with_plugin, data, *more):
    return with_plugin(
        *("audit", "--reference", "python:toy_models:Reference", "--data", data, "--n", 6),
        *("--target", "python:toy_models:Student", "--capability", "typo", "--trials", 1),
        *("--run", "mine", *more),
    )


def test_a_plugins_metric_is_measured_gated_and_described(with_plugin, sentences_csv, tmp_path):
    spelled = "steadiness(power=2.0)"
    done = audited(with_plugin, sentences_csv, "--metric", spelled, "--json-full")
    assert done.returncode == 0, done.stderr
    (found,) = [one for one in json.loads(done.stdout)["measurements"] if one["metric"] == spelled]
    assert 0 <= found["estimate"]["low"] <= found["estimate"]["value"] <= 1
    page = (tmp_path / "runs/mine/report.html").read_text(encoding="utf-8")
    assert "Steadiness (power 2.0)" in page
    assert "How little the target&#39;s greatest probability moves with the text." in page
    gated = ("--metric", spelled, "--gate", f"{spelled}<=0")
    assert audited(with_plugin, sentences_csv, *gated).returncode == 1
    listed = {row["metric"] for row in json.loads(with_plugin("list", "metrics", "--json").stdout)}
    assert "steadiness(power=1.0)" in listed
    wrong = audited(with_plugin, sentences_csv, "--metric", "word_f1")
    assert (wrong.returncode, "a metric on pairs" in wrong.stderr) == (2, True)
    assert "soft_scope(tolerance=0.1, cutoff=1.0), steadiness\n" in wrong.stderr


def test_an_entry_point_without_the_name_of_its_metrics_key_is_refused_with_both(
    with_plugin, use_metric
):
    use_metric(key="hold")
    rows = json.loads(with_plugin("list", "metrics", "--json").stdout)
    (row,) = [row for row in rows if row["metric"] == "steadiness"]
    assert row["status"].endswith("its key is `hold`; the entry point must have the same name")


def test_a_metric_of_the_wrong_shape_is_refused_before_any_search(
    with_plugin, use_metric, sentences_csv, tmp_path
):
    use_metric(on_pairs=lambda *_, **__: [[1.0], [1.0]])
    done = audited(with_plugin, sentences_csv, "--metric", "steadiness")
    assert done.returncode == 2
    assert "an array of shape (2, 1)" in done.stderr
    assert "of shape (2,)" in done.stderr
    assert not (tmp_path / "runs").exists()
    misspelt = audited(with_plugin, sentences_csv, "--metric", "steadines")
    assert "did you mean `steadiness`?" in misspelt.stderr


def test_a_metric_that_fails_on_some_data_costs_no_other_number(
    with_plugin, use_metric, sentences_csv
):
    def only_of_two(reference, *_, **__):
        return [1.0, 1.0] if len(reference) == 2 else 1 / 0

    use_metric(on_pairs=only_of_two)
    done = audited(with_plugin, sentences_csv, "--metric", "steadiness", "--json-full")
    assert done.returncode == 0, done.stderr
    found = {one["metric"]: one["estimate"] for one in json.loads(done.stdout)["measurements"]}
    assert "ZeroDivisionError" in found["steadiness(power=1.0)"]["reason"]
    assert found["hard_scope"]["n"] > 0
    gated = ("--metric", "steadiness", "--gate", "steadiness>=0")
    assert audited(with_plugin, sentences_csv, *gated).returncode == 1


def test_a_plugins_task_has_its_own_scorer_and_setting(with_plugin, tmp_path):
    def compare(*more):
        return with_plugin(
            *("compare", "--model", "python:toy_answerers:Reader"),
            *("--model", "python:toy_answerers:Skimmer", "--task", "capitals"),
            *("--data", "world", "--run", "mine"),
            *("--setting", "capitals.most=3", "--semscore", "none", *more),
        )

    done = compare("--json-full")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    scored = [one for one in found["measurements"] if one["metric"] == "same_initial"]
    assert [(one["target"], one["against"]) for one in scored] == [
        ("toy_answerers:Reader", "(gold)"),
        ("toy_answerers:Skimmer", "(gold)"),
        ("toy_answerers:Reader", "toy_answerers:Skimmer"),
    ]
    assert [one["estimate"]["n"] for one in scored] == [3, 3, 3]
    (card,) = found["manifest"]["capabilities"]
    assert (card["settings"], card["origin"]) == ({"most": 3}, "scope-contraction 1.2.0")
    page = (tmp_path / "runs/mine/report.html").read_text(encoding="utf-8")
    assert "Same initial" in page
    assert "How often two answers begin with the same letter." in page
    assert compare("--gate", "same_initial>=1").returncode == 1


def test_a_plugins_section_stands_on_the_page_and_a_failing_one_costs_no_report(
    with_plugin, sentences_csv, tmp_path, monkeypatch
):
    import scope_longest

    audited(with_plugin, sentences_csv)
    report = tmp_path / "runs/mine/report.html"
    assert "<h2>Longest text</h2>" in report.read_text(encoding="utf-8")

    def fail(_):
        raise OSError("<b>no disk</b>")

    monkeypatch.setattr(scope_longest, "longest", fail)
    assert with_plugin("report", "mine").returncode == 0
    page = report.read_text(encoding="utf-8")
    assert "could not be made" in page
    assert "&lt;b&gt;no disk&lt;/b&gt;" in page
    assert "<b>no disk</b>" in str(load_result("mine", tmp_path / "runs"))
    wrong = Section(anchor="wrong", title="Wrong", blocks=(Paragraph("no prose"),))
    monkeypatch.setattr(scope_longest, "longest", lambda _: wrong)
    assert with_plugin("report", "mine").returncode == 0
    assert "failed in `its blocks`" in report.read_text(encoding="utf-8")


@pytest.fixture
def sheets(tmp_path):
    """Sheets of two models; a row of the second has no answer."""
    for model, answers in {"ours": [0, 1, 0, 1], "theirs": [0, 0, 0, None]}.items():
        rows = [
            {"model": model, "sheet": "colours", "asked": f"{number}?", "options": ["red", "blue"]}
            | {"key": number % 2}
            | ({} if said is None else {"said": said})
            for number, said in enumerate(answers)
        ]
        path = tmp_path / f"{model}.tally.jsonl"
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return tmp_path


def test_logs_of_a_plugins_format_are_found_shown_and_compared(with_plugin, sheets):
    (row,) = json.loads(with_plugin("logs", sheets, "--json").stdout)
    assert (row["scheme"], row["items"], row["shared"]) == ("tally", 4, 3)
    data = ("--task", "choice", "--data", f"tally:{sheets}#theirs", "--semscore", "none")
    done = with_plugin("compare", "--model", f"tally:{sheets}#*", *data, "--json-full")
    assert done.returncode == 0, done.stderr
    measured = json.loads(done.stdout)["measurements"]
    accuracies = [row["estimate"]["value"] for row in measured if row["metric"] == "accuracy"]
    assert accuracies == [1, 0.666667]
    listed = json.loads(with_plugin("list", "models", "--json").stdout)
    (scheme,) = [row for row in listed if row["scheme"] == "tally"]
    assert scheme["what it is"].startswith("tally:PATH#MODEL: answers in the sheets of Tally")
    assert (scheme["origin"], scheme["status"]) == ("scope-contraction 1.2.0", "ready")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"is_log": leave}, "failed in `is_log`: SystemExit: 0"),
        ({"read": leave}, "failed in `read`: SystemExit: 0"),
        ({"read": lambda _: [1]}, "failed in `its logs`"),
        ({"tool": None, "is_log": lambda _: False}, "no logs of None"),
        (None, "failed in `its attributes`"),
    ],
)
def test_a_format_that_lies_is_refused_in_one_message(
    with_plugin, sheets, monkeypatch, changes, message
):
    import scope_tally

    wrong = None if changes is None else replace(scope_tally.LOGS, **changes)
    monkeypatch.setattr(scope_tally, "LOGS", wrong)
    done = with_plugin("logs", f"tally:{sheets}")
    assert (done.returncode, message in done.stderr) == (2, True), done.stderr


def test_a_parser_that_fails_costs_the_item(with_plugin, sheets, monkeypatch):
    import scope_tally

    def parse(row):
        assert row["asked"] != "0?"
        return scope_tally.item_of(row)

    def read(paths):
        return (replace(log, parse=parse) for log in scope_tally.read_sheets(paths))

    monkeypatch.setattr(scope_tally, "LOGS", replace(scope_tally.LOGS, read=read))
    (row,) = json.loads(with_plugin("logs", f"tally:{sheets}#ours", "--json").stdout)
    assert row["items"] == 3
