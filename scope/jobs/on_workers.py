"""Work that workers do in place of this process, which alone writes the run."""

from __future__ import annotations

import math
import os
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from scope.errors import ModelError, SpecError
from scope.jobs.ray_connection import Engine
from scope.jobs.shared_fields import RunsOnWorkers
from scope.jobs.workers import Step, Workers, workers
from scope.models import ModelOptions
from scope.models.threads import available_cores
from scope.progress import Silent
from scope.protocols import Progress
from scope.store import Run, RunFolder

Asked = TypeVar("Asked", bound=RunsOnWorkers)
Item = TypeVar("Item")
Loaded = TypeVar("Loaded")

MOST_IN_A_SHARD = 64
"""Items that one shard does at once: more make it faster, and a death dearer."""

LEAST_IN_A_SHARD = 4
"""Fewer make only sense where there are fewer than four such shards for each worker."""


def engine_of(
    request: RunsOnWorkers, options: ModelOptions, sent: Iterable[object]
) -> Engine | None:
    """The engine that a request names; None for this process alone.

    Parameters
    ----------
    sent
        What workers load: models, capabilities, tasks.

    Raises
    ------
    SpecError
        When there is no such engine, or an object is to be sent.
    """
    engine = Engine.parse(
        request.engine,
        workers=request.workers,
        gpus=request.gpus_per_worker,
        threads=options.threads or available_cores(),
    )
    objects = [one for one in sent if not isinstance(one, str)]
    if engine is not None and objects:
        raise SpecError(
            f"`{getattr(objects[0], 'spec', type(objects[0]).__name__)}`, an object, with --engine "
            "ray",
            expected="models, capabilities and tasks that workers can load",
            fix="name it by a spec, such as python:my_models:sentiment",
        )
    return engine


def as_sent(request: Asked) -> Asked:
    """The request as a worker carries it out: by itself, and without display."""
    return replace(request, engine="local", workers=1, gpus_per_worker=0.0, progress=Silent())


def require_same(models: Iterable[Any], fingerprints: Mapping[str, str]) -> None:
    """Check, on a worker, that its models are those of the process that sent it work.

    Raises
    ------
    ModelError
        When one has another fingerprint: its answers would be those of another model.
    """
    for model in models:
        wanted = fingerprints[model.spec]
        if model.fingerprint != wanted:
            raise ModelError(
                f"`{model.spec}` on a worker has the fingerprint {model.fingerprint}, not {wanted}",
                expected="the same files and settings on all machines",
                fix="copy the model to the same path on all machines",
            )


def fingerprints_of(models: Iterable[Any]) -> dict[str, str]:
    """What `require_same` compares, by spec."""
    return {model.spec: model.fingerprint for model in models}


@dataclass(frozen=True)
class Helpers:
    """The workers of a job; each step that they do is shown."""

    pool: Workers
    progress: Progress
    workers: int

    def each(
        self,
        step: Step,
        items: Sequence[Item],
        title: str,
        *,
        known: int = 0,
        name: Callable[[Item], str] = str,
    ) -> Iterator[tuple[tuple[Item, ...], Any]]:
        """Shards of the items with what the step makes of each, as they come.

        Parameters
        ----------
        step
            A function of a module, of what workers have loaded and a shard.
        title
            How the progress calls the work; of it ``known`` items are done.
        name
            What a message calls an item on which workers die.
        """
        if not items:
            return
        shards = list(cut(items, self.workers))
        with self.progress.task(title, known + len(items), known) as advance:
            for shard, result in self.pool.each(step, shards, name):
                yield shard, result
                advance(len(shard))

    def fill(self, run: Run, *call: Any, **how: Any) -> None:
        """Add to the run what a step finds, which gives databases; see `each` and `database`."""
        for _, found in self.each(*call, **how):
            with tempfile.TemporaryDirectory() as folder:
                shard = RunFolder(Path(folder))
                shard.database_path.write_bytes(found)
                run.take_from(shard)


@contextmanager
def helpers(load: Callable[[], Any], engine: Engine, progress: Progress) -> Iterator[Helpers]:
    """Workers that load everything that a job's steps need, in the folder of this process."""
    with workers(partial(_load_in, str(Path.cwd()), load), engine) as pool:
        yield Helpers(pool, progress, engine.workers)


def _load_in(folder: str, load: Callable[[], Loaded]) -> Loaded:
    # Specs may be paths that are relative to where the command was given.
    with suppress(OSError):  # another machine may lack it
        os.chdir(folder)
    return load()


def database(find: Callable[[Run], object]) -> bytes:
    """On a worker: the database of a run that holds what is found."""
    with tempfile.TemporaryDirectory() as folder:
        with Run.open(Path(folder) / "shard", {"job": "shard"}) as run:
            find(run)
        return RunFolder(Path(folder) / "shard").database_path.read_bytes()


def cut(items: Sequence[Item], workers: int) -> Iterator[tuple[Item, ...]]:
    """Shards of the items, smaller towards the end, so that workers finish together.

    Examples
    --------
    >>> [len(shard) for shard in cut(range(100), workers=2)]
    [25, 18, 14, 10, 8, 6, 4, 4, 4, 4, 3]
    """
    least = min(LEAST_IN_A_SHARD, math.ceil(len(items) / (4 * workers)))
    first = 0
    while first < len(items):
        left = len(items) - first
        size = max(least, min(MOST_IN_A_SHARD, left // (2 * workers)))
        yield tuple(items[first : first + size])
        first += size
