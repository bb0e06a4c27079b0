"""The life of a run: it is opened, filled, kept and reported, whatever the job."""

import json
from dataclasses import replace
from types import SimpleNamespace

import pytest
from made_up_fleet_comparison import build_comparison as made_up
from stub_server import stub_server

import scope
from scope.answers import Run
from scope.core.request import Request
from scope.errors import ModelError, RunError, SpecError
from scope.jobs.compare.request import CompareRequest
from scope.jobs.identity import default_run_name
from scope.jobs.pages import report
from scope.jobs.runner import Prepared, run_job
from scope.models import ModelOptions
from scope.progress import Silent
from scope.records import ModelCard
from scope.store import RunFolder
from scope.store.folder import read_summary


@pytest.fixture
def manifest():
    return made_up().manifest


def test_the_result_is_kept_under_a_name_computed_from_the_configuration(manifest, tmp_path):
    opened = []

    def find(run):
        opened.append(run.path)
        return made_up()

    found = run_job(Request(runs=tmp_path), lambda request: Prepared(manifest, find))
    (path,) = opened
    assert found.folder == path == tmp_path / default_run_name(manifest)
    stored = RunFolder(path).read_result()
    assert stored == found
    assert stored.folder == path
    assert found.clock is not None
    assert RunFolder(path).report_path.exists()


def test_another_configuration_under_a_name_is_refused_before_any_work(manifest, tmp_path):
    request = Request(run="mine", runs=tmp_path)
    run_job(request, lambda _: Prepared(manifest, lambda run: made_up()))
    other = replace(manifest, settings={"seed": 9})
    with pytest.raises(RunError, match="was started with different arguments"):
        run_job(request, lambda _: Prepared(other, pytest.fail))


def test_a_run_of_local_models_is_not_continued_with_another_generation(manifest, tmp_path):
    request = Request(run="mine", runs=tmp_path)
    model = ModelCard(name="one", spec="hf:one", fingerprint="1", role="model")
    local = replace(manifest, models=(model,))
    before, later, other = (
        replace(local, versions={"transformers": version}) for version in ("4.57.6", "4.58", "5.24")
    )
    for manifest in (before, later):
        run_job(request, lambda _, one=manifest: Prepared(one, lambda run: made_up()))
    with pytest.raises(RunError, match=r"started with transformers 4\.57\.6; 5\.24 is installed"):
        run_job(request, lambda _: Prepared(other, pytest.fail))


def test_a_result_whose_page_cannot_be_made_is_kept(manifest, tmp_path, monkeypatch):
    def fail(_):
        raise ModelError("no page", expected="a page", fix="correct the section")

    kind = type(made_up())
    with monkeypatch.context() as broken:
        broken.setattr(kind, "html", fail)
        with pytest.raises(ModelError, match=r"kept in .*result\.json.*scope report .*mine"):
            run_job(
                Request(run="mine", runs=tmp_path),
                lambda _: Prepared(manifest, lambda run: made_up()),
            )
    assert report("mine", tmp_path).exists()


@pytest.fixture
def refusing(tmp_path):
    """Gives a request to a job that must not prepare anything; returns what refuses it."""

    def run(**options):
        with pytest.raises(RunError) as caught:
            run_job(CompareRequest(**{**ASKED, "runs": tmp_path, **options}), pytest.fail)
        return caught.value.found

    return run


ASKED = {"models": ["a", "b"], "tasks": ["cloze"], "data": "x.jsonl"}


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


def test_a_run_of_another_job_or_number_is_refused_before_anything_is_loaded(
    refusing, manifest, tmp_path
):
    Run.open(tmp_path / "fleet", {"job": "fleet-embed", "settings": {}}).close()
    assert 'job is "fleet-embed"' in refusing(run="fleet")
    Run.open(tmp_path / "mine", {"job": "compare", "settings": {"seed": 0}}).close()
    assert "seed is 0 in the run, 9 here" in refusing(run="mine", seed=9)


def test_a_run_that_is_refused_before_it_holds_anything_leaves_no_folder(manifest, tmp_path):
    def refuse(run):
        raise ModelError("no", expected="yes", fix="say yes")

    request = Request(run="mine", runs=tmp_path / "new" / "runs")
    with pytest.raises(ModelError):
        run_job(request, lambda _: Prepared(manifest, refuse))
    assert not list(tmp_path.iterdir())


def test_a_run_that_is_interrupted_keeps_its_time_and_a_broken_summary_costs_nothing(
    manifest, tmp_path
):
    def interrupt(run):
        raise KeyboardInterrupt

    request = Request(run="mine", runs=tmp_path)
    with pytest.raises(KeyboardInterrupt):
        run_job(request, lambda _: Prepared(manifest, interrupt))
    assert read_summary(tmp_path / "mine").seconds > 0
    (tmp_path / "mine" / "summary.json").write_text("[")
    assert run_job(request, lambda _: Prepared(manifest, lambda run: made_up())).clock


def test_the_home_folder_appears_neither_in_the_page_nor_in_the_short_json(
    manifest, tmp_path, monkeypatch
):
    monkeypatch.setenv("HOME", str(tmp_path))
    at_home = replace(manifest, command=f"scope fleet map --data {tmp_path}/answers.csv")
    found = replace(made_up(), manifest=at_home)
    request = Request(run="mine", runs=tmp_path / "runs")
    result = run_job(request, lambda _: Prepared(at_home, lambda run: found))
    page = RunFolder(result.folder).report_path.read_text()
    assert "scope fleet map --data ~/answers.csv" in page
    shown = (page, result.to_markdown(verbose=True), result.to_short_json(), result.html())
    assert not any(str(tmp_path) in text for text in shown)


def test_bounded_sessions_together_give_the_result_of_one(tmp_path, without_pages):
    with stub_server() as stub:
        endpoint = f"openai:{stub.url}#stub-model"

        def compared(run, **options):
            found = scope.compare(
                models=["python:toy_answerers:Reader", endpoint],
                tasks=["choice"],
                data=tmp_path / "questions.jsonl",
                runs=tmp_path / "runs",
                run=run,
                cache=False,
                progress=Silent(),
                **options,
            )
            return replace(found, clock=None, folder=None, manifest=None)

        (tmp_path / "questions.jsonl").write_text(
            "\n".join(
                json.dumps({"question": f"Is it {one}?", "options": ["yes", "no"], "answer": 0})
                for one in range(20)
            )
        )
        with pytest.raises(SpecError, match="a price for `vendor`"):
            compared("dear", model_options=ModelOptions(prices={"vendor": "1/2"}))
        assert not (tmp_path / "runs" / "dear").exists()
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
