"""A job in pieces gives what it gives in one."""

import shutil
from pathlib import Path

import pytest

from scope.errors import DamagedError, RunError, SpecError
from scope.jobs.shards import Shard, merge
from scope.store.folder import RunFolder

PARTS = ["part1", "part2", "part3"]
TYPO = {"capabilities": ["typo"], "cache": False}


@pytest.fixture(scope="module")
def kept(audit_toys, tmp_path_factory):
    """Runs of a whole audit, of its shards, the last first, and of others that do not fit them."""
    folder = tmp_path_factory.mktemp("kept")
    for run, options in {
        "part3": {"shard": "3/3"},
        "part2": {"shard": "2/3"},
        "part1": {"shard": "1/3"},
        "whole": {},
        "other": {"shard": "3/3", "trials": 2},
        "begun": {"shard": "3/3"},
    }.items():
        audit_toys(folder, "Student", run=run, **TYPO, **options)
    RunFolder(folder / "begun").result_path.unlink()
    return folder


@pytest.fixture
def runs(kept, tmp_path):
    return shutil.copytree(kept, tmp_path / "runs")


def test_merged_shards_give_the_result_of_the_whole_and_ask_nothing(
    toy_audit, runs, monkeypatch, bare
):
    whole = RunFolder(runs / "whole").read_result()
    merged = merge(PARTS, run="merged", runs=runs)
    asked = RunFolder(merged.folder).read_configuration()
    assert asked == RunFolder(whole.folder).read_configuration()
    assert "--shard" not in merged.command
    assert merged.command.endswith(f"--runs {runs} --run merged")

    def refuse(_, __, examples, ___):
        assert list(examples) == []
        return iter(())

    monkeypatch.setattr("capabilities.typo.Typo.search", refuse)
    again = toy_audit("Student", run="merged", **TYPO)
    assert bare(again) == bare(whole)
    assert again.failed_parts() == []
    merge(PARTS[::-1], run="merged", runs=runs)
    assert toy_audit("Student", run="merged", **TYPO).failed_parts() == []


@pytest.mark.parametrize("run", ["merged", Path("elsewhere/merged")])
def test_the_command_of_a_merged_run_finds_it_by_its_name_or_path(runs, monkeypatch, run):
    monkeypatch.chdir(runs.parent)
    merged = merge(PARTS, run=run)
    assert merged.command.endswith(f" --run {run}")
    assert "--runs" not in merged.command


@pytest.mark.parametrize(
    ("parts", "complaint"),
    [
        (["part1", "part2"], "no run of shard 3"),
        (["part1", "part2", "part3", "part3"], "shard 3 twice"),
        (["part1", "part2", "whole"], "`whole`, which is no run of a shard"),
        (
            ["part1", "part2", "other"],
            "`other` and `part1`, which differ in more than the shard: "
            "trials is 3 in `part1`, 2 in `other`",
        ),
        (["part1", "part2", "begun"], "`begun`, shard 3, which is not finished"),
        (["part1", "part2", "part4"], "part4`"),
        ([], "no run"),
    ],
)
def test_what_is_no_whole_is_refused(kept, parts, complaint):
    with pytest.raises(RunError) as caught:
        merge(parts, run="merged", runs=kept)
    assert complaint in caught.value.found
    assert not (kept / "merged").exists()


def test_a_shard_without_its_database_is_refused(runs):
    database = RunFolder(runs / "part1").database_path
    database.unlink()
    with pytest.raises(DamagedError, match="the file is missing"):
        merge(PARTS, run="merged", runs=runs)
    assert not database.exists()


def test_a_shard_is_not_overwritten_by_the_merged_run(kept):
    with pytest.raises(RunError) as caught:
        merge(PARTS, run="part1", runs=kept)
    assert caught.value.found == "`part1` as the merged run, which is the run of shard 1"
    assert "delete" not in caught.value.fix


def test_more_shards_than_texts_are_refused():
    with pytest.raises(SpecError, match="at least one for each shard"):
        Shard.parse("1/3").part(["a", "b"])
