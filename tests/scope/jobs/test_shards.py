"""A job in pieces gives what it gives in one."""

from dataclasses import replace
from itertools import zip_longest
from pathlib import Path

import pytest

from scope.errors import DamagedError, RunError, SpecError
from scope.jobs.shards import Shard, merge
from scope.store import RunFolder

CASES = [{"capabilities": ["typo"]}, {"capabilities": ["typo"], "both_directions": True}]


@pytest.fixture
def in_shards(toy_audit):
    """Runs an audit of the toy models in so many shards, in the reverse order."""

    def run(of, **arguments):
        names = [f"part{number}" for number in range(of, 0, -1)]
        for number, name in zip(range(of, 0, -1), names, strict=True):
            toy_audit("Student", shard=f"{number}/{of}", run=name, **arguments)
        return names

    return run


def without_clock(result):
    manifest = replace(result.manifest, command="")
    audits = tuple(map(without_clock, getattr(result, "audits", ())))
    return replace(result, clock=None, folder=None, manifest=manifest, audits=audits)


@pytest.mark.parametrize("arguments", CASES, ids=["audit", "matrix"])
def test_merged_shards_give_the_result_of_the_whole(toy_audit, in_shards, tmp_path, arguments):
    whole = toy_audit("Student", run="whole", cache=False, **arguments)
    names = in_shards(3, cache=False, **arguments)
    merged = merge(names, run="merged", runs=tmp_path / "runs")
    asked = RunFolder(merged.folder).read_configuration()
    assert asked == RunFolder(whole.folder).read_configuration()
    found = toy_audit("Student", run="merged", cache=False, **arguments)
    assert without_clock(found) == without_clock(whole)
    assert "--shard" not in merged.command
    assert merged.command.endswith(f"--runs {tmp_path / 'runs'} --run merged")


@pytest.mark.parametrize("run", ["merged", Path("elsewhere/merged")])
def test_the_command_of_a_merged_run_finds_it_by_its_name_or_path(
    toy_audit, in_shards, tmp_path, monkeypatch, run
):
    monkeypatch.chdir(tmp_path)
    merged = merge(in_shards(2, capabilities=["typo"]), run=run)
    assert merged.command.endswith(f" --run {run}")
    assert "--runs" not in merged.command


def test_a_merged_run_searches_and_asks_nothing(toy_audit, in_shards, tmp_path, monkeypatch):
    names = in_shards(2, capabilities=["typo"], cache=False)
    merge(names, run="merged", runs=tmp_path / "runs")

    def refuse(_, __, examples, ___):
        assert list(examples) == []
        return iter(())

    monkeypatch.setattr("capabilities.typo.Typo.search", refuse)
    found = toy_audit("Student", run="merged", capabilities=["typo"], cache=False)
    assert found.failed_parts() == []


def test_a_shard_is_a_result_of_its_own_texts(toy_audit, in_shards, tmp_path):
    in_shards(3, capabilities=["typo"])
    folders = [RunFolder(tmp_path / "runs" / f"part{number}") for number in (1, 2, 3)]
    parts = [folder.read_result() for folder in folders]
    whole = toy_audit("Student", capabilities=["typo"])
    by_part = [[one.example.id for one in part.examples] for part in parts]
    assert [one.example.id for one in whole.examples] == [
        one for some in zip_longest(*by_part) for one in some if one is not None
    ]
    assert parts[0].manifest.settings["shard"] == "1/3"


@pytest.mark.parametrize(
    ("given", "found"),
    [
        (["part1", "part2"], "no run of shard 3"),
        (["part1", "part2", "part3", "part3"], "shard 3 twice"),
        (["part1", "part2", "whole"], "`whole`, which is no run of a shard"),
        (
            ["part1", "part2", "other"],
            "`other` and `part1`, which differ in more than the shard: "
            "trials is 3 in `part1`, 2 in `other`",
        ),
        (["part1", "half"], "more than the shard: 3 shards of `part1`, 2 of `half`"),
        (["part1", "part2", "begun"], "`begun`, shard 3, which is not finished"),
        (["part1", "part2", "part4"], "part4`"),
        ([], "no run"),
    ],
)
def test_what_is_no_whole_is_refused(toy_audit, in_shards, tmp_path, given, found):
    in_shards(3, capabilities=["typo"])
    toy_audit("Student", run="whole", capabilities=["typo"])
    toy_audit("Student", run="other", capabilities=["typo"], shard="3/3", trials=2)
    toy_audit("Student", run="half", capabilities=["typo"], shard="2/2")
    toy_audit("Student", run="begun", capabilities=["typo"], shard="3/3")
    RunFolder(tmp_path / "runs" / "begun").result_path.unlink()
    with pytest.raises(RunError) as caught:
        merge(given, run="merged", runs=tmp_path / "runs")
    assert found in caught.value.found
    assert not (tmp_path / "runs" / "merged").exists()


def test_a_shard_without_its_database_is_refused(toy_audit, in_shards, tmp_path):
    names = in_shards(2, capabilities=["typo"])
    database = RunFolder(tmp_path / "runs" / names[0]).database_path
    database.unlink()
    with pytest.raises(DamagedError, match="the file is missing"):
        merge(names, run="merged", runs=tmp_path / "runs")
    assert not database.exists()


def test_a_shard_is_not_overwritten_by_the_merged_run(toy_audit, in_shards, tmp_path):
    names = in_shards(2, capabilities=["typo"])
    with pytest.raises(RunError) as caught:
        merge(names, run="part1", runs=tmp_path / "runs")
    assert caught.value.found == "`part1` as the merged run, which is the run of shard 1"
    assert "delete" not in caught.value.fix


def test_merging_again_changes_nothing(toy_audit, in_shards, tmp_path):
    names = in_shards(2, capabilities=["typo"])
    merge(names, run="merged", runs=tmp_path / "runs")
    merge(names[::-1], run="merged", runs=tmp_path / "runs")
    found = toy_audit("Student", run="merged", capabilities=["typo"])
    assert found.failed_parts() == []


@pytest.mark.parametrize("text", ["0/3", "4/3", "3", "a/b", "1/0", "-1/3", "1/3/5", "1 / 3"])
def test_a_wrong_shard_is_refused(text):
    with pytest.raises(SpecError, match="K/N"):
        Shard.parse(text)


def test_more_shards_than_texts_are_refused():
    with pytest.raises(SpecError, match="at least one for each shard"):
        Shard.parse("1/3").part(["a", "b"])
