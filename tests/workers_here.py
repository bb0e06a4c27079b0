"""Workers that are none, for tests of what a job has them do."""

from contextlib import contextmanager


class WorkersHere:
    """Does shards in this process, the last first.

    ``done`` has all items, ``calls`` counts the calls for some.
    """

    def __init__(self):
        self.done, self.calls = [], 0

    @contextmanager
    def __call__(self, load, engine):
        self.loaded = load()
        yield self

    def each(self, step, shards, name=str):
        self.calls += 1
        for shard in reversed(shards):
            assert all(isinstance(name(item), str) for item in shard)
            self.done += shard
            yield shard, step(self.loaded, shard)
