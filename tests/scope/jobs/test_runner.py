"""The life of a run: it is opened, filled, kept and reported, whatever the job."""

from dataclasses import replace

import pytest
from made_up_fleet_comparison import build_comparison as made_up

from scope.core.request import Request
from scope.errors import ModelError, RunError
from scope.jobs.identity import default_run_name
from scope.jobs.pages import report
from scope.jobs.runner import Prepared, carry_out
from scope.store import RunFolder


@pytest.fixture
def manifest():
    return made_up().manifest


def test_the_result_is_kept_under_a_name_computed_from_the_configuration(manifest, tmp_path):
    opened = []

    def find(run):
        opened.append(run.path)
        return made_up()

    found = carry_out(Request(runs=tmp_path), lambda request: Prepared(manifest, find))
    (path,) = opened
    assert found.folder == path == tmp_path / default_run_name(manifest)
    stored = RunFolder(path).read_result()
    assert stored == found
    assert stored.folder == path
    assert found.clock is not None
    assert RunFolder(path).report_path.exists()


def test_another_configuration_under_a_name_is_refused_before_any_work(manifest, tmp_path):
    request = Request(run="mine", runs=tmp_path)
    carry_out(request, lambda _: Prepared(manifest, lambda run: made_up()))
    other = replace(manifest, settings={"seed": 9})
    with pytest.raises(RunError, match="was started with different arguments"):
        carry_out(request, lambda _: Prepared(other, pytest.fail))


def test_a_result_whose_page_cannot_be_made_is_kept(manifest, tmp_path, monkeypatch):
    def fail(_):
        raise ModelError("no page", expected="a page", fix="correct the section")

    kind = type(made_up())
    with monkeypatch.context() as broken:
        broken.setattr(kind, "html", fail)
        with pytest.raises(ModelError, match=r"kept in .*result\.json.*scope report .*mine"):
            carry_out(
                Request(run="mine", runs=tmp_path),
                lambda _: Prepared(manifest, lambda run: made_up()),
            )
    assert report("mine", tmp_path).exists()
