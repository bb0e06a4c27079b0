"""Work for workers, in a module that they can import."""

import os
import signal
import time
from pathlib import Path


class Doing:
    """What a worker loads: how it does shards, and where it writes that it does them."""

    def __init__(self, folder="", deadly=None, deadly_load=False, seconds=0.0):
        self.folder, self.seconds = str(folder), seconds
        self.deadly, self.deadly_load = deadly, deadly_load

    def __call__(self):
        if self.deadly_load:
            os.kill(os.getpid(), signal.SIGKILL)
        return self


def do(doing, shard):
    """The square of a shard's first number."""
    with (Path(doing.folder) / str(shard[0])).open("a") as file:
        file.write(f"{os.getpid()}\n")
    if doing.deadly in shard:
        os.kill(os.getpid(), signal.SIGKILL)
    time.sleep(doing.seconds)
    return shard[0] ** 2
