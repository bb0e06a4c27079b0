import shutil
import subprocess
import sys
from dataclasses import replace
from importlib.metadata import distributions
from pathlib import Path

import pytest

from scope.jobs import JOBS, _unfit
from scope.records import Result
from scope.registry import entries, find
from scope.testing import check_capability

HERE = Path(__file__).parent


def test_an_installed_capability_is_found_where_it_is_installed_and_keeps_the_rules(
    installed_plugin, monkeypatch
):
    assert "shortening" not in [entry.name for entry in entries("capabilities")]
    monkeypatch.syspath_prepend(installed_plugin)
    capability = find("capabilities", "shortening").target()
    assert capability.name == "shortening"
    check_capability(capability)
    assert {"synonym", "typo"} <= {entry.name for entry in entries("capabilities")}


@pytest.mark.slow
def test_pip_installs_what_the_tests_install_by_hand(installed_plugin, tmp_path):
    """Building leaves files beside the sources: it gets a copy."""
    shutil.copytree(HERE / "src", tmp_path / "src", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(HERE / "pyproject.toml", tmp_path)
    offline = ["--no-index", "--no-deps", "--no-build-isolation", "--target", tmp_path / "site"]
    pip = [sys.executable, "-m", "pip", "install", *offline, tmp_path]
    done = subprocess.run(pip, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    by_pip, by_hand = (
        {
            (found.name, found.version, point.group, point.name, point.value)
            for found in distributions(path=[str(folder)])
            for point in found.entry_points
        }
        for folder in (tmp_path / "site", installed_plugin)
    )
    assert by_pip == by_hand


def test_a_whole_job_takes_at_most_150_lines():
    assert len((HERE / "src/scope_confidence.py").read_text().splitlines()) <= 150


def test_a_job_whose_result_is_no_name_is_refused(monkeypatch):
    job = replace(JOBS[0], name="own", result=Result)
    assert _unfit(job, "own") == "its result is not named as `module:name`"
