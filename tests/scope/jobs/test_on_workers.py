"""Work on workers gives the bytes of work here, whatever dies meanwhile."""

import csv
import json
import os
import random
import signal
import sys
import threading
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
from made_up_pairs import write_split

import scope
from scope.errors import DataError, ModelError, ResourceError, SpecError
from scope.jobs import on_workers
from scope.serialization import to_json


def bare(result):
    """A result without what tells sessions apart."""
    manifest = replace(result.manifest, command="")
    audits = tuple(map(bare, result.audits))
    return replace(result, clock=None, folder=None, manifest=manifest, audits=audits)


@pytest.mark.parametrize(
    "options",
    [{}, {"both_directions": True}, {"candidates": 0}, {"shard": "2/2"}],
    ids=["audit", "matrix", "kept pairs", "shard"],
)
def test_shards_give_the_result_of_one_search(toy_audit, in_this_process, options):
    options = {"capabilities": ["typo"], "cache": False, **options}
    here = toy_audit("Student", run="here", **options)
    there = toy_audit("Student", run="there", engine="ray", workers=2, **options)
    assert bare(there) == bare(here)
    assert in_this_process.calls == 2


def test_what_the_run_knows_is_not_searched_again(toy_audit, in_this_process, monkeypatch):
    options = {"capabilities": ["typo"], "cache": False, "engine": "ray", "workers": 2}
    whole = toy_audit("Student", run="whole", **options)
    places = sorted(in_this_process.done)
    in_this_process.done.clear()
    each = in_this_process.each

    def killed(step, shards, name):
        for place, found in enumerate(each(step, shards, name)):
            if place == 3:
                del in_this_process.done[-len(found[0]) :]
                raise KeyboardInterrupt
            yield found

    with monkeypatch.context() as patched:
        patched.setattr(in_this_process, "each", killed)
        with pytest.raises(KeyboardInterrupt):
            toy_audit("Student", run="killed", **options)
    known = in_this_process.done[:]
    in_this_process.done.clear()
    again = toy_audit("Student", run="killed", **options)
    assert sorted(in_this_process.done + known) == places
    assert bare(again) == bare(whole)


def test_what_workers_have_found_stays_when_the_job_ends_with_an_error(
    toy_audit, in_this_process, monkeypatch
):
    # Eight of the texts are answered before workers start.
    options = {"capabilities": ["typo"], "n": 16, "cache": False, "engine": "ray", "workers": 2}
    each = in_this_process.each

    def left_out(step, shards, name):
        yield from each(step, shards[1:], name)
        raise ModelError("3 workers that ended", expected="texts", fix="look at them")

    with monkeypatch.context() as patched:
        patched.setattr(in_this_process, "each", left_out)
        with pytest.raises(ModelError, match="3 workers that ended"):
            toy_audit("Student", run="ended", **options)
    known = set(in_this_process.done)
    in_this_process.done.clear()
    toy_audit("Student", run="ended", **options)
    assert known
    # Eight of the 48 texts are answered before workers start.
    assert not known & set(in_this_process.done[: 48 - 8 - len(known)])


def test_texts_that_saved_predictions_lack_are_named_when_all_is_searched(
    toy_audit, in_this_process, tmp_path, sentences_csv
):
    lines = sentences_csv.read_text(encoding="utf-8").splitlines()
    texts = [row["text"] for row in csv.DictReader(lines)]
    saved = tmp_path / "saved.jsonl"
    rows = ({"text": one, "probabilities": [0.25, 0.75]} for one in texts)
    labels = {"labels": ["negative", "positive"]}
    saved.write_text("".join(json.dumps(row | labels) + "\n" for row in rows), encoding="utf-8")
    options = {"capabilities": ["typo"], "cache": False, "targets": [f"predictions:{saved}"]}
    missing = {}
    for run, engine in (("here", {}), ("there", {"engine": "ray", "workers": 2})):
        with pytest.raises(ModelError):
            toy_audit(run=run, **options, **engine)
        missing[run] = (tmp_path / "runs" / run / "texts-for-saved.jsonl").read_text("utf-8")
    assert missing["there"] == missing["here"]


def test_a_worker_with_other_data_is_refused(
    toy_audit, in_this_process, sentences_csv, monkeypatch
):
    @contextmanager
    def elsewhere(load, engine):
        lines = sentences_csv.read_text(encoding="utf-8").splitlines()
        sentences_csv.write_text("\n".join([lines[0], *lines[:0:-1]]), encoding="utf-8")
        with in_this_process(load, engine) as pool:
            yield pool

    monkeypatch.setattr(on_workers, "workers", elsewhere)
    with pytest.raises(DataError, match="on a worker holds other data"):
        toy_audit("Student", capabilities=["typo"], cache=False, engine="ray", workers=2)


def test_an_object_cannot_be_sent(toy_audit, in_this_process):
    def model(texts):
        return [(0.25, 0.75)] * len(texts)

    model.labels = ("negative", "positive")
    with pytest.raises(SpecError, match="workers can load"):
        toy_audit("Student", targets=[model], engine="ray")


def test_a_limit_of_requests_is_refused_with_workers(toy_audit):
    with pytest.raises(SpecError, match="--max-requests with --engine ray"):
        toy_audit("Student", engine="ray", model_options=scope.ModelOptions(max_requests=5))


def test_workers_without_an_engine_are_refused(toy_audit):
    with pytest.raises(SpecError, match="with the engine local"):
        toy_audit("Student", workers=2)


def test_without_the_package_it_is_said_how_to_install_it(toy_audit, monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(ResourceError, match=r"scope-models\[ray\]"):
        toy_audit("Student", engine="ray")


def ray_workers():
    """The processes of Ray's on this machine that do shards."""
    for folder in Path("/proc").iterdir():
        with suppress(OSError):
            if folder.name.isdigit() and b"ray::_Worker" in (folder / "cmdline").read_bytes():
                yield int(folder.name)


@contextmanager
def deaths(seconds, most):
    """Kills a worker now and then."""
    chance, over = random.Random(0), threading.Event()

    def kill():
        for _ in range(most):
            if over.wait(chance.uniform(0.5, 2) * seconds):
                return
            if pids := sorted(ray_workers()):
                with suppress(ProcessLookupError):
                    os.kill(chance.choice(pids), signal.SIGKILL)

    thread = threading.Thread(target=kill)
    thread.start()
    yield
    over.set()
    thread.join()


@pytest.mark.slow
def test_an_audit_on_a_cluster_gives_the_bytes_of_one_here(cluster, toy_audit):
    options = {"capabilities": ["typo"], "cache": False, "n": 40}
    here = toy_audit("Student", "Stranger", run="here", **options)
    with deaths(seconds=6, most=3):
        there = toy_audit("Student", "Stranger", run="there", engine="ray", workers=3, **options)
    assert bare(there) == bare(here)


@pytest.mark.slow
def test_a_comparison_on_a_cluster_gives_the_bytes_of_one_here(cluster, tmp_path):
    rows = [
        {"question": f"Which is number {place}?", "options": ["a", "b", "c"], "answer": place % 3}
        for place in range(100)
    ]
    questions = tmp_path / "questions.jsonl"
    questions.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    options = {
        "models": ["python:toy_answerers:Reader", "python:toy_answerers:Skimmer"],
        "tasks": "choice",
        "data": str(questions),
        "cache": False,
        "runs": tmp_path / "runs",
    }
    here = scope.compare(run="here", **options)
    with deaths(seconds=2, most=3):
        there = scope.compare(run="there", engine="ray", workers=3, **options)
    assert to_json(there, clock=False) == to_json(here, clock=False)


@pytest.mark.slow
def test_latents_on_a_cluster_give_the_bytes_of_one_process(cluster, tmp_path, monkeypatch):
    options = {
        "models": "python:toy_readers:Bags",
        "data": str(write_split(tmp_path / "pairs.csv")),
        "hidden": 4,
        "runs": tmp_path / "runs",
    }
    monkeypatch.setenv("SCOPE_CACHE", str(tmp_path / "here"))
    here = scope.probe(run="here", **options)
    monkeypatch.setenv("SCOPE_CACHE", str(tmp_path / "there"))
    with deaths(seconds=2, most=3):
        there = scope.probe(run="there", engine="ray", workers=3, **options)
    assert to_json(there, clock=False) == to_json(here, clock=False)


def test_a_model_that_is_asked_text_by_text_is_so_on_workers():
    here, there = (SimpleNamespace(spec="a", fingerprint="f") for _ in range(2))
    here.asked_alone = True
    on_workers.require_same([there], on_workers.identities_of([here]))
    assert there.asked_alone
