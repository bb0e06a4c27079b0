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
from scope.jobs.audit import on_workers
from scope.jobs.workers import Engine, each_shard


def bare(result):
    """A result without what tells sessions apart."""
    manifest = replace(result.manifest, command="")
    audits = tuple(map(bare, result.audits))
    return replace(result, clock=None, folder=None, manifest=manifest, audits=audits)


@pytest.fixture
def in_this_process(monkeypatch):
    """Workers that are none: shards are done here, the last first. The shards that were done."""
    done = []

    def each(make, shards, engine):
        do = make()
        for shard in reversed(shards):
            done.append(shard)
            yield shard, do(shard)

    monkeypatch.setattr(on_workers, "each_shard", each)
    return done


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
    assert len(in_this_process) > 1


def test_what_the_run_knows_is_not_searched_again(toy_audit, in_this_process, monkeypatch):
    options = {"capabilities": ["typo"], "cache": False, "engine": "ray", "workers": 2}
    whole = toy_audit("Student", run="whole", **options)
    shards = sorted(in_this_process)
    in_this_process.clear()
    each = on_workers.each_shard

    def killed(make, shards, engine):
        for place, found in enumerate(each(make, shards, engine)):
            if place == 3:
                raise KeyboardInterrupt
            yield found

    with monkeypatch.context() as patched:
        patched.setattr(on_workers, "each_shard", killed)
        with pytest.raises(KeyboardInterrupt):
            toy_audit("Student", run="killed", **options)
    known = in_this_process[:3]
    in_this_process.clear()
    again = toy_audit("Student", run="killed", **options)
    assert sorted(in_this_process) == [one for one in shards if one not in known]
    assert bare(again) == bare(whole)


@pytest.mark.parametrize("text", ["rays", "ray:", "local:", "spark", ""])
def test_another_engine_is_refused(text):
    with pytest.raises(SpecError, match="local, ray or ray:ADDRESS"):
        Engine.parse(text, workers=1)


def test_an_object_cannot_be_sent(toy_audit):
    def model(texts):
        return [(0.25, 0.75)] * len(texts)

    model.labels = ("negative", "positive")
    with pytest.raises(SpecError, match="workers can load"):
        toy_audit("Student", targets=[model], engine="ray")


def test_workers_without_an_engine_are_refused(toy_audit):
    with pytest.raises(SpecError, match="with the engine local"):
        toy_audit("Student", workers=2)


def test_without_the_package_it_is_said_how_to_install_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(ResourceError, match=r"scope-models\[ray\]"):
        list(each_shard(lambda: str, [(0,)], Engine(None, 1)))


SHARDS = [(place,) for place in range(12)]


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
    for shard, result in each_shard(Doing(tmp_path, seconds=0.2), SHARDS, Engine(None, 3)):
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
    for shard, result in each_shard(Doing(tmp_path, seconds=0.2), SHARDS, Engine(None, 3)):
        if not done:
            cluster.remove_node(cluster.list_all_nodes()[-1])
        done[shard] = result
    assert done == {shard: shard[0] ** 2 for shard in SHARDS}


@pytest.mark.slow
def test_a_shard_that_ends_every_worker_is_named(cluster, tmp_path):
    doing = Doing(tmp_path, deadly=[(5,)])
    with pytest.raises(ModelError, match="3 workers that ended at the same texts, number 6"):
        list(each_shard(doing, SHARDS, Engine(None, 2)))
    assert len((tmp_path / "5").read_text().split()) == 3


@pytest.mark.slow
def test_a_worker_that_is_stuck_is_given_up(cluster, tmp_path, monkeypatch):
    monkeypatch.setattr(workers, "LEAST_SECONDS", 2.0)
    monkeypatch.setattr(workers, "TIMES_THE_USUAL", 0)
    with pytest.raises(ModelError, match="3 workers that ended"):
        list(each_shard(Doing(tmp_path, seconds=60.0), SHARDS[:1], Engine(None, 1)))


@pytest.mark.slow
def test_an_audit_on_a_cluster_gives_the_bytes_of_one_here(cluster, toy_audit):
    options = {"capabilities": ["typo"], "cache": False}
    here = toy_audit("Student", "Stranger", run="here", **options)
    there = toy_audit("Student", "Stranger", run="there", engine="ray", workers=3, **options)
    assert bare(there) == bare(here)
