"""Shards on workers give the result of one process."""

import os
import signal
import sys
import threading
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest
import toy_models

import scope
from scope.errors import ModelError, ResourceError, RunError, SpecError
from scope.jobs import shards as on_ray
from scope.serialization import to_json
from scope.store.folder import RunFolder

OPTIONS = {"capabilities": ["typo"], "cache": False, "n": 6, "trials": 1}


class WorkersHere:
    """Carry out shards in this process; ``fails`` and ``elsewhere`` name shards."""

    def __init__(self):
        self.done, self.fails, self.elsewhere = [], set(), False

    def __call__(self, request, tasks):
        for path, task in tasks.items():
            if path.name in self.fails:
                yield ModelError("a model that fails", expected="answers", fix="fix it")
                continue
            self.done.append(path.name)
            files, failure = (replace(task, session="") if self.elsewhere else task)()
            on_ray._write(path, files)
            yield failure


@pytest.fixture
def workers(monkeypatch):
    here = WorkersHere()
    monkeypatch.setattr(on_ray, "carried_out", here)
    monkeypatch.setattr(on_ray, "find_spec", lambda name: name)
    return here


@pytest.mark.parametrize(
    ("options", "elsewhere"),
    [({}, True), ({"both_directions": True}, False), ({"shard": "2/2", "candidates": 0}, False)],
    ids=["other files", "matrix", "shard"],
)
def test_shards_give_the_result_of_one_process(toy_audit, workers, bare, options, elsewhere):
    workers.elsewhere = elsewhere
    here = toy_audit("Student", run="here", **OPTIONS, **options)
    there = toy_audit("Student", run="there", engine="ray", workers=2, **OPTIONS, **options)
    assert bare(there) == bare(here)
    assert workers.done == (["2-of-4", "4-of-4"] if "shard" in options else ["1-of-2", "2-of-2"])


def test_a_finished_shard_is_not_carried_out_again(toy_audit, workers, bare):
    options = {"run": "there", "engine": "ray", **OPTIONS}
    here = toy_audit("Student", run="here", **OPTIONS)
    workers.fails = {"2-of-3"}
    with pytest.raises(ModelError, match="a model that fails"):
        toy_audit("Student", workers=3, **options)
    assert workers.done == ["1-of-3", "3-of-3"]
    workers.fails = set()
    # The shards of the first session stay, with any number of workers.
    there = toy_audit("Student", workers=2, **options)
    assert workers.done == ["1-of-3", "3-of-3", "2-of-3"]
    assert bare(there) == bare(here)
    toy_audit("Student", workers=2, **options)
    assert len(workers.done) == 3
    # A killed shard is carried out again.
    RunFolder(there.folder / "shards" / "2-of-3").result_path.unlink()
    RunFolder(there.folder).result_path.unlink()
    assert bare(toy_audit("Student", workers=2, **options)) == bare(here)
    assert workers.done[3:] == ["2-of-3"]


def test_texts_that_saved_predictions_lack_are_those_of_all_shards(
    toy_audit, workers, saved, tmp_path, sentences
):
    target = saved(toy_models.Student(), [text for text, _ in sentences])
    missing = {}
    for run, engine in (("here", {}), ("there", {"engine": "ray", "workers": 2})):
        with pytest.raises(ModelError):
            toy_audit(run=run, targets=[target], **OPTIONS, **engine)
        lines = (tmp_path / "runs" / run / "texts-for-saved.jsonl").read_text("utf-8")
        missing[run] = sorted(lines.splitlines())
    assert missing["there"] == missing["here"]


def test_a_worker_with_other_data_is_refused(toy_audit, workers, sentences_csv, monkeypatch):
    def other_data(request, tasks):
        lines = sentences_csv.read_text(encoding="utf-8").splitlines()
        sentences_csv.write_text("\n".join([lines[0], *lines[:0:-1]]), encoding="utf-8")
        return WorkersHere.__call__(workers, request, tasks)

    monkeypatch.setattr(on_ray, "carried_out", other_data)
    with pytest.raises(RunError, match="differs in more than the shard: data"):
        toy_audit("Student", engine="ray", workers=2, **OPTIONS)


def test_a_worker_with_other_releases_is_refused(toy_audit, workers, monkeypatch):
    releases = iter([{"torch": "2.0"}, {"torch": "1.0"}])
    monkeypatch.setattr(on_ray, "releases_here", lambda: next(releases))
    with pytest.raises(ResourceError, match=r"a worker with torch 1\.0"):
        toy_audit("Student", engine="ray", **OPTIONS)


def test_a_comparison_in_shards_gives_the_result_of_one_process(workers, questions, without_pages):
    here = scope.compare(run="here", **questions)
    there = scope.compare(run="there", engine="ray", workers=3, **questions)
    assert to_json(there, clock=False) == to_json(here, clock=False)
    assert len(workers.done) == 3


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"engine": "ray", "targets": [toy_models.Student()]}, "workers can load"),
        ({"workers": 2}, "with the engine local"),
        ({"engine": "dask"}, "the engine"),
        ({"engine": "ray:"}, "the engine"),
        ({"engine": "local:a"}, "the engine"),
    ],
)
def test_what_no_worker_can_do_is_refused(toy_audit, workers, options, message):
    with pytest.raises(SpecError, match=message):
        toy_audit("Student", **options)


def test_without_the_package_it_is_said_how_to_install_it(toy_audit, monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    monkeypatch.setattr(on_ray, "find_spec", lambda name: None)
    with pytest.raises(ResourceError, match=r"scope-models\[ray\]"):
        toy_audit("Student", engine="ray")


@pytest.fixture
def questions(choices, tmp_path):
    """The arguments of a comparison."""
    return {
        "models": ["python:toy_answerers:Reader", "python:toy_answerers:Skimmer"],
        "tasks": "choice",
        "data": choices(40),
        "cache": False,
        "runs": tmp_path / "runs",
    }


@pytest.fixture
def found_by_workers(monkeypatch):
    """Ray, whose workers find the tests' models."""
    pytest.importorskip("ray", reason="needs `pip install ray`")
    monkeypatch.setenv("PYTHONPATH", str(Path(toy_models.__file__).parent))
    monkeypatch.setenv("RAY_worker_niceness", "0")


def kill_a_worker(killed):
    """Kill the first process that carries out a shard."""
    while not killed.wait(0.05):
        for folder in Path("/proc").iterdir():
            with suppress(OSError):
                command = (folder / "cmdline").read_bytes() if folder.name.isdigit() else b""
                if b"ray::__call__" in command:
                    os.kill(int(folder.name), signal.SIGKILL)
                    killed.set()
                    return


@pytest.mark.slow
def test_ray_gives_the_result_of_one_process_though_a_worker_is_killed(questions, found_by_workers):
    here = scope.compare(run="here", **questions)
    killed = threading.Event()
    thread = threading.Thread(target=kill_a_worker, args=[killed])
    thread.start()
    try:
        there = scope.compare(run="there", engine="ray", workers=2, **questions)
        assert killed.is_set()
    finally:
        killed.set()
        thread.join()
    assert to_json(there, clock=False) == to_json(here, clock=False)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("options", "found"),
    [({"engine": "ray:127.0.0.1:1"}, "no Ray at"), ({"gpus_per_worker": 99.0}, "99 GPUs")],
)
def test_what_ray_lacks_is_said(toy_audit, found_by_workers, options, found):
    with pytest.raises(ResourceError, match=found):
        toy_audit("Student", **{"engine": "ray", **OPTIONS, **options})
