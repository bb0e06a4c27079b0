"""Work on workers gives the bytes of work here, whatever dies meanwhile."""

import os
import random
import signal
import sys
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest
import toy_work
from toy_work import Doing

from scope.errors import ModelError, ResourceError, SpecError
from scope.jobs import workers
from scope.jobs.ray_connection import Engine

SHARDS = [(place,) for place in range(12)]


def bare(result):
    """A result without what tells sessions apart."""
    manifest = replace(result.manifest, command="")
    audits = tuple(map(bare, result.audits))
    return replace(result, clock=None, folder=None, manifest=manifest, audits=audits)


@pytest.mark.parametrize(
    "options",
    [{}, {"both_directions": True}, {"flips": False}, {"shard": "2/2"}],
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


@pytest.mark.parametrize("text", ["rays", "ray:", "local:", "spark", ""])
def test_another_engine_is_refused(text):
    with pytest.raises(SpecError, match="local, ray or ray:ADDRESS"):
        Engine.parse(text, workers=1)


def test_an_object_cannot_be_sent(toy_audit, in_this_process):
    def model(texts):
        return [(0.25, 0.75)] * len(texts)

    model.labels = ("negative", "positive")
    with pytest.raises(SpecError, match="workers can load"):
        toy_audit("Student", targets=[model], engine="ray")


def test_workers_without_an_engine_are_refused(toy_audit):
    with pytest.raises(SpecError, match="with the engine local"):
        toy_audit("Student", workers=2)


def test_without_the_package_it_is_said_how_to_install_it(toy_audit, monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(ResourceError, match=r"scope-models\[ray\]"):
        toy_audit("Student", engine="ray")


def do_all(load, shards, count):
    with workers.workers(load, Engine(None, count)) as pool:
        return dict(pool.each(toy_work.do, shards))


@pytest.fixture
def cluster(monkeypatch):
    """A Ray of three nodes on this machine, whose workers find the tests' models."""
    pytest.importorskip("ray", reason="needs `pip install ray`")
    monkeypatch.setenv("PYTHONPATH", str(Path(toy_work.__file__).parent))
    from ray.cluster_utils import Cluster

    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1})
    for _ in range(2):
        cluster.add_node(num_cpus=1)
    cluster.connect()
    yield cluster
    import ray

    ray.shutdown()
    cluster.shutdown()


@pytest.mark.slow
def test_every_shard_is_done_though_workers_are_killed(cluster, tmp_path):
    chance, done, kills = random.Random(0), {}, 0
    with workers.workers(Doing(tmp_path, seconds=0.2), Engine(None, 3)) as pool:
        for shard, result in pool.each(toy_work.do, SHARDS):
            done[shard] = result
            pids = [int(path.read_text().split()[-1]) for path in tmp_path.iterdir()]
            with suppress(ProcessLookupError):
                if kills < 3:
                    os.kill(chance.choice(sorted(set(pids))), signal.SIGKILL)
                    kills += 1
    assert done == {shard: shard[0] ** 2 for shard in SHARDS}
    asked = [len((tmp_path / str(place)).read_text().split()) for (place,) in SHARDS]
    assert sum(asked) - len(SHARDS) <= kills


@pytest.mark.slow
def test_every_shard_is_done_though_a_node_goes(cluster, tmp_path):
    done = {}
    with workers.workers(Doing(tmp_path, seconds=0.2), Engine(None, 3)) as pool:
        for shard, result in pool.each(toy_work.do, SHARDS):
            if not done:
                cluster.remove_node(cluster.list_all_nodes()[-1])
            done[shard] = result
    assert done == {shard: shard[0] ** 2 for shard in SHARDS}


@pytest.mark.slow
def test_workers_load_once_and_serve_several_calls(cluster, tmp_path):
    with workers.workers(Doing(tmp_path, seconds=0.2), Engine(None, 2)) as pool:
        first = dict(pool.each(toy_work.do, SHARDS[:6]))
        second = dict(pool.each(toy_work.do, SHARDS[6:]))
    assert first | second == {shard: shard[0] ** 2 for shard in SHARDS}
    pids = {pid for path in tmp_path.iterdir() for pid in path.read_text().split()}
    assert len(pids) == 2


@pytest.mark.slow
def test_an_item_that_ends_every_worker_is_named_when_all_others_are_done(cluster, tmp_path):
    shards = [(0, 1, 2), (3, 4, 5), (6, 7, 8)]
    done = {}

    def do_them(pool):
        for shard, result in pool.each(toy_work.do, shards, "text {}".format):
            done[shard] = result

    with (
        workers.workers(Doing(tmp_path, deadly=5), Engine(None, 2)) as pool,
        pytest.raises(ModelError, match="3 workers that ended, each time at 'text 5'"),
    ):
        do_them(pool)
    assert sorted(item for shard in done for item in shard) == [0, 1, 2, 3, 4, 6, 7, 8]
    asked = (tmp_path / "3").read_text().split(), (tmp_path / "5").read_text().split()
    assert list(map(len, asked)) == [3, 1]  # twice in one shard, whose first text it is, then alone


@pytest.mark.slow
def test_workers_that_die_as_they_load_end_the_job(cluster, tmp_path):
    with pytest.raises(ResourceError, match="6 workers that ended as they started or loaded"):
        do_all(Doing(tmp_path, deadly_load=True), SHARDS, 2)
    assert not list(tmp_path.iterdir())


@pytest.mark.slow
def test_a_worker_that_is_stuck_is_given_up(cluster, tmp_path, monkeypatch):
    monkeypatch.setattr(workers, "LEAST_SECONDS", 2.0)
    monkeypatch.setattr(workers, "TIMES_THE_USUAL", 0)
    with pytest.raises(ModelError, match="3 workers that ended"):
        do_all(Doing(tmp_path, seconds=60.0), SHARDS[:1], 1)


@pytest.mark.slow
def test_an_audit_on_a_cluster_gives_the_bytes_of_one_here(cluster, toy_audit):
    options = {"capabilities": ["typo"], "cache": False}
    here = toy_audit("Student", "Stranger", run="here", **options)
    there = toy_audit("Student", "Stranger", run="there", engine="ray", workers=3, **options)
    assert bare(there) == bare(here)
