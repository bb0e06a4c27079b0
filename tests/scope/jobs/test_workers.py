"""Work on workers gives the bytes of work here, whatever dies meanwhile."""

import os
import random
import signal
import threading
from contextlib import nullcontext, suppress
from pathlib import Path
from types import SimpleNamespace

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


@pytest.mark.parametrize("package", ["scope-models", "torch", "transformers"])
def test_a_worker_with_another_release_is_refused(monkeypatch, package):
    here = workers._releases()
    there = workers._Worker(Doing())
    there.ready(here)
    monkeypatch.setattr(workers, "_releases", lambda: here | {package: "0.1"})
    with pytest.raises(ResourceError, match=f"a worker with {package} 0.1"):
        there.ready(here)


class SlowRay:
    """Has one worker, which takes its time; seconds pass at once."""

    exceptions = SimpleNamespace(RayTaskError=LookupError, RayError=OSError)

    def __init__(self, seconds, monkeypatch):
        self.now, self.killed, self.seconds, self.over = 0.0, 0, seconds, 0.0
        monkeypatch.setattr(workers.time, "monotonic", lambda: self.now)
        self.ready = self.do = SimpleNamespace(remote=self.begin)

    def remote(self, _):
        return SimpleNamespace(options=lambda **_: SimpleNamespace(remote=lambda _: self))

    def begin(self, *given):
        seconds = self.seconds(*given) if len(given) == 2 else 0
        self.over = self.now + seconds
        return seconds

    def wait(self, tickets, num_returns, timeout):
        self.now += 10 * timeout
        return (tickets, []) if self.now >= self.over else ([], tickets)

    def put(self, value):
        return value

    def get(self, ticket):
        return ticket

    def kill(self, _):
        self.killed += 1

    def cluster_resources(self):
        return {"CPU": 1}


def test_many_texts_that_take_long_are_not_stuck(monkeypatch):
    """A step after a quick one: 64 texts of half a minute each take half an hour."""
    ray = SlowRay(lambda step, shard: step * len(shard), monkeypatch)
    monkeypatch.setattr(workers, "connected", lambda engine: nullcontext(ray))
    quick, slow = 0, 30
    shards = [tuple(range(64)), tuple(range(64, 128))]
    with workers.workers(Doing(), Engine(None, 1)) as pool:
        assert len(list(pool.each(quick, shards))) == 2
        assert len(list(pool.each(slow, shards))) == 2
        assert ray.killed == 0


@pytest.mark.slow
def test_a_worker_that_is_stuck_is_given_up(cluster, tmp_path, monkeypatch):
    monkeypatch.setattr(workers, "LEAST_SECONDS", 2.0)
    monkeypatch.setattr(workers, "TIMES_THE_USUAL", 0)
    with pytest.raises(ModelError, match="3 workers that ended"):
        do_all(Doing(tmp_path, seconds=60.0), SHARDS[:1], 1)
