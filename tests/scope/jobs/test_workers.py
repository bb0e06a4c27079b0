"""Work on workers gives the bytes of work here, whatever dies meanwhile."""

import os
import random
import signal
import threading
from contextlib import suppress
from pathlib import Path

import pytest
import toy_work
from toy_work import Doing

from scope.errors import ModelError, ResourceError, SpecError
from scope.jobs import workers
from scope.jobs.ray_connection import Engine

SHARDS = [(place,) for place in range(12)]


@pytest.mark.parametrize("text", ["rays", "ray:", "local:", "spark", ""])
def test_another_engine_is_refused(text):
    with pytest.raises(SpecError, match="local, ray or ray:ADDRESS"):
        Engine.parse(text, workers=1)


def do_all(load, shards, count):
    with workers.workers(load, Engine(None, count)) as pool:
        return dict(pool.each(toy_work.do, shards))


@pytest.mark.slow
def test_every_shard_is_done_though_workers_and_a_node_are_killed(cluster, tmp_path, capsys):
    """Twenty deaths at random moments, one of them a node's."""
    chance, done, timers = random.Random(0), {}, []
    shards = [(place,) for place in range(240)]
    # What a death costs is asked at the end, after the last one: so no shard ends three workers.
    moments = sorted(chance.sample(range(160), 20))

    def kill():
        pids = {int(path.read_text().split()[-1]) for path in tmp_path.iterdir()}
        alive = sorted(pid for pid in pids if Path(f"/proc/{pid}").exists())
        with suppress(ProcessLookupError, IndexError):
            os.kill(chance.choice(alive), signal.SIGKILL)

    def kill_node():
        cluster.remove_node(cluster.list_all_nodes()[-1], allow_graceful=False)

    with workers.workers(Doing(tmp_path, seconds=0.2), Engine(None, 3)) as pool:
        for shard, result in pool.each(toy_work.do, shards):
            done[shard] = result
            if len(done) in moments:
                doom = kill_node if len(done) == moments[10] else kill
                timers.append(threading.Timer(0.2 * chance.random(), doom))
                timers[-1].start()
    for timer in timers:
        timer.join()
    assert len(timers) == 20
    assert done == {shard: shard[0] ** 2 for shard in shards}
    asked = [len((tmp_path / str(place)).read_text().split()) for (place,) in shards]
    # A node may take more than one worker with it.
    assert 10 < sum(asked) - len(shards) <= 20 + 2
    assert capsys.readouterr().out == ""


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
        pytest.raises(ModelError, match="5 workers that ended, each time at 'text 5'"),
    ):
        do_them(pool)
    assert sorted(item for shard in done for item in shard) == [0, 1, 2, 3, 4, 6, 7, 8]


@pytest.mark.slow
def test_workers_that_die_as_they_load_end_the_job(cluster, tmp_path):
    with pytest.raises(ModelError, match="and memory for the models"):
        do_all(Doing(tmp_path, deadly_load=True), SHARDS, 2)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("package", ["scope-models", "torch", "transformers"])
def test_a_worker_with_another_release_is_refused(monkeypatch, package):
    here = workers._releases()
    assert workers._Worker(Doing(), here).do(lambda _, shard: shard, 1) == 1
    monkeypatch.setattr(workers, "_releases", lambda: here | {package: "0.1"})
    with pytest.raises(ResourceError, match=f"a worker with {package} 0.1"):
        workers._Worker(Doing(), here).do(lambda _, shard: shard, 1)


@pytest.mark.slow
def test_workers_that_do_nothing_end_the_job(cluster, tmp_path, monkeypatch):
    monkeypatch.setattr(workers, "MOST_SECONDS", 2.0)
    with pytest.raises(ResourceError, match="no shard that a worker has done"):
        do_all(Doing(tmp_path, seconds=60.0), SHARDS[:1], 1)
