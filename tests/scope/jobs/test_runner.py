"""The life of a run: it is opened, filled, kept and reported, whatever the job."""

from dataclasses import replace
from types import SimpleNamespace

import pytest
from kept_results import kept
from stub_server import stub_server

import scope
from scope.answers import Run
from scope.core.request import Request
from scope.errors import ModelError, RunError
from scope.jobs.compare.request import CompareRequest
from scope.jobs.configuration import default_run_name
from scope.jobs.pages import report
from scope.jobs.runner import Prepared, run_job
from scope.models.options import ModelOptions
from scope.progress import Silent
from scope.records import ModelCard
from scope.store.folder import RunFolder, read_summary


@pytest.fixture
def manifest():
    return kept("fleet-map").manifest


@pytest.fixture
def carry_out(tmp_path):
    """Runs a job of this configuration, whose work gives the made-up result unless it is given."""

    def run(manifest, work=lambda run: kept("fleet-map"), **options):
        return run_job(Request(**{"runs": tmp_path, **options}), lambda _: Prepared(manifest, work))

    return run


def test_the_result_is_kept_under_a_name_computed_from_the_configuration(
    manifest, carry_out, tmp_path
):
    result = carry_out(manifest)
    folder = RunFolder(tmp_path / default_run_name(manifest))
    stored = folder.read_result()
    assert stored == result
    assert stored.folder == result.folder == folder.path
    assert result.clock is not None
    assert folder.report_path.exists()


def test_a_run_of_local_models_is_not_continued_with_another_generation(manifest, carry_out):
    model = ModelCard(name="one", spec="hf:one", fingerprint="1", role="model")
    local = replace(manifest, models=(model,))
    before, later, other = (
        replace(local, versions={"transformers": version}) for version in ("4.57.6", "4.58", "5.24")
    )
    for configuration in (before, later):
        carry_out(configuration, run="mine")
    with pytest.raises(RunError, match=r"started with transformers 4\.57\.6; 5\.24 is installed"):
        carry_out(other, pytest.fail, run="mine")


def test_a_result_whose_page_cannot_be_made_is_kept(manifest, carry_out, tmp_path, monkeypatch):
    def fail(_):
        raise ModelError("no page", expected="a page", fix="correct the section")

    with monkeypatch.context() as broken:
        broken.setattr(type(kept("fleet-map")), "html", fail)
        with pytest.raises(ModelError, match=r"kept in .*result\.json.*scope report .*mine"):
            carry_out(manifest, run="mine")
    assert report("mine", tmp_path).exists()


@pytest.fixture
def refusing(tmp_path):
    """Gives a request to a job that must not prepare anything; returns what refuses it."""

    def run(**options):
        usual = {"models": ["a", "b"], "tasks": ["cloze"], "data": "x.jsonl", "runs": tmp_path}
        with pytest.raises(RunError) as caught:
            run_job(CompareRequest(**usual | options), pytest.fail)
        return caught.value.found

    return run


def test_a_run_of_another_job_or_number_is_refused_before_anything_is_loaded(refusing, tmp_path):
    Run.open(tmp_path / "fleet", {"job": "fleet-embed", "settings": {}}).close()
    assert 'job is "fleet-embed"' in refusing(run="fleet")
    Run.open(tmp_path / "mine", {"job": "compare", "settings": {"seed": 0}}).close()
    assert "seed is 0 in the run, 9 here" in refusing(run="mine", seed=9)


def test_a_folder_in_which_no_run_can_be_kept_is_refused_before_anything_is_loaded(
    refusing, tmp_path, monkeypatch
):
    (tmp_path / "file").touch()
    (tmp_path / "thesis").mkdir()
    (tmp_path / "thesis" / "thesis.tex").touch()
    assert "is a file" in refusing(run="file")
    assert "is a file" in refusing(runs=tmp_path / "file")
    assert "is not a run" in refusing(run="thesis")
    monkeypatch.setattr("shutil.disk_usage", lambda _: SimpleNamespace(free=10**8))
    assert "100.0 MB are free" in refusing()
    assert sorted(one.name for one in tmp_path.iterdir()) == ["file", "thesis"]


def test_a_run_that_is_refused_before_it_holds_anything_leaves_no_folder(
    manifest, carry_out, tmp_path
):
    def refuse(run):
        raise ModelError("no", expected="yes", fix="say yes")

    with pytest.raises(ModelError):
        carry_out(manifest, refuse, run="mine", runs=tmp_path / "new" / "runs")
    assert not list(tmp_path.iterdir())


def test_a_run_that_is_interrupted_keeps_its_time_and_a_broken_summary_costs_nothing(
    manifest, carry_out, tmp_path
):
    def interrupt(run):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        carry_out(manifest, interrupt, run="mine")
    assert read_summary(tmp_path / "mine").seconds > 0
    (tmp_path / "mine" / "summary.json").write_text("[")
    assert carry_out(manifest, run="mine").clock


def test_the_home_folder_appears_neither_in_the_page_nor_in_the_short_json(
    manifest, carry_out, tmp_path, monkeypatch
):
    monkeypatch.setenv("HOME", str(tmp_path))
    at_home = replace(manifest, command=f"scope fleet map --data {tmp_path}/answers.csv")
    result = carry_out(at_home, lambda run: kept("fleet-map", manifest=at_home), run="mine")
    page = RunFolder(result.folder).report_path.read_text()
    assert "~/answers.csv</pre>" in page
    shown = (page, result.to_markdown(verbose=True), result.to_short_json(), result.html())
    assert not any(str(tmp_path) in text for text in shown)


def test_bounded_sessions_together_give_the_result_of_one(tmp_path, choices, without_pages):
    with stub_server() as stub:
        endpoint = f"openai:{stub.url}#stub-model"

        def compared(run, **options):
            found = scope.compare(
                models=["python:toy_answerers:Reader", endpoint],
                tasks=["choice"],
                data=choices(20),
                runs=tmp_path / "runs",
                run=run,
                cache=False,
                progress=Silent(),
                **options,
            )
            return replace(found, clock=None, folder=None, manifest=None)

        whole = compared("whole")
        stub.answered.clear()
        for _ in range(2):
            with pytest.raises(ModelError, match="as many as --max-requests allows"):
                compared("pieces", model_options=ModelOptions(max_requests=10))
            assert not (tmp_path / "runs" / "pieces" / "result.json").exists()
        assert compared("pieces") == whole
        # The eight that are asked again in each session tell whether it is still the same model.
        assert len(stub.answered) <= 20 + 2 * 8
        assert len(set(map(str, stub.answered))) == 20
