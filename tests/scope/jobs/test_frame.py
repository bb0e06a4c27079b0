"""The frame of jobs with findings of their own: a run is opened, filled, kept and reported."""

from dataclasses import replace

import pytest
from made_up_fleet_comparison import build_comparison as made_up

from scope.errors import RunError
from scope.jobs.frame import Surroundings, bare_comparison, do_in_run
from scope.jobs.identity import default_run_name
from scope.models import ModelOptions
from scope.progress import Silent
from scope.store import RunFolder


@pytest.fixture
def manifest():
    return made_up().manifest


def test_what_is_left_out_has_its_usual_value(tmp_path):
    around = Surroundings.of(None, None, tmp_path, None)
    assert around.models == ModelOptions()
    assert isinstance(around.progress, Silent)


def test_a_bare_comparison_holds_the_manifest_and_nothing_else(manifest):
    found = bare_comparison(manifest)
    assert found.manifest is manifest
    assert not any((found.outcomes, found.measurements, found.tasks, found.fleet, found.probe))


def test_the_result_is_kept_under_the_name_that_the_question_gives(manifest, tmp_path):
    around = Surroundings.of(None, None, tmp_path, None)
    opened = []

    def find(run):
        opened.append(run.path)
        return made_up()

    found = do_in_run(manifest, around, find)
    (path,) = opened
    assert path == tmp_path / default_run_name(manifest)
    assert RunFolder(path).read_comparison() == found
    assert found.clock is not None
    assert RunFolder(path).report_path.exists()


def test_another_question_under_a_name_is_refused_before_any_work(manifest, tmp_path):
    around = Surroundings.of(None, "mine", tmp_path, None)
    do_in_run(manifest, around, lambda run: made_up())
    with pytest.raises(RunError, match="holds another question"):
        do_in_run(replace(manifest, settings={"seed": 9}), around, pytest.fail)
