"""Work that workers do in place of this process, which alone writes the run."""

from __future__ import annotations

import math
import os
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from scope.errors import DataError, ModelError, SpecError
from scope.jobs.ray_connection import Engine, require_ray
from scope.jobs.shared_fields import RunsOnWorkers
from scope.jobs.workers import Step, Workers, workers
from scope.models import ModelOptions
from scope.models.threads import available_cores
from scope.progress import Silent
from scope.protocols import Advance
from scope.records import DataCard
from scope.store import Run, RunFolder

Asked = TypeVar("Asked", bound=RunsOnWorkers)
Item = TypeVar("Item")
Loaded = TypeVar("Loaded")
Identities = Mapping[str, tuple[str, bool]]
"""The fingerprint of each model by its spec, and whether it is asked text by text."""

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
    ResourceError
        When Ray is not installed.
    """
    engine = Engine.parse(
        request.engine,
        workers=request.workers,
        gpus=request.gpus_per_worker,
        threads=options.threads or available_cores(),
    )
    if engine is None:
        return None
    require_ray()
    if objects := [one for one in sent if not isinstance(one, str)]:
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


def require_same(models: Iterable[Any], known: Identities) -> None:
    """Check, on a worker, that its models are those of the process that sent it work.

    Those that are asked text by text there are so here.

    Raises
    ------
    ModelError
        When one has another fingerprint: its answers would be those of another model.
    """
    for model in models:
        wanted, alone = known[model.spec]
        if model.fingerprint != wanted:
            raise ModelError(
                f"`{model.spec}` on a worker has the fingerprint {model.fingerprint}, not {wanted}",
                expected="the same files and settings on all machines",
                fix="copy the model to the same path on all machines",
            )
        if alone:
            model.asked_alone = True


def require_same_data(cards: Sequence[DataCard], fingerprints: Sequence[str]) -> None:
    """Check, on a worker, that its data are those of the process that sent it places in them.

    Raises
    ------
    DataError
        When they are not: what is found would be kept as that of other texts.
    """
    for card, wanted in zip(cards, fingerprints, strict=True):
        if card.fingerprint != wanted:
            raise DataError(
                f"`{card.spec}` on a worker holds other data than where the job was started",
                expected="the same data on all machines, and no change while a job runs",
                fix="copy the data to the same path on all machines",
            )


def identities_of(models: Iterable[Any]) -> Identities:
    """What `require_same` compares."""
    return {one.spec: (one.fingerprint, getattr(one, "asked_alone", False)) for one in models}


def replica(model: Loaded, load: Callable[[], Loaded]) -> Callable[[], Loaded]:
    """What a worker loads in place of a model: the same, or an error."""
    return partial(_same, load, identities_of([model]))


def _same(load: Callable[[], Loaded], known: Identities) -> Loaded:
    model = load()
    require_same([model], known)
    return model


@dataclass(frozen=True)
class Helpers:
    """The workers of a job, in steps: functions of a module, of what is loaded and a shard."""

    pool: Workers
    count: int

    def each(
        self,
        step: Step,
        items: Sequence[Item],
        name: Callable[[Item], str] = str,
        most: int = MOST_IN_A_SHARD,
    ) -> Iterator[tuple[tuple[Item, ...], Any]]:
        """Shards of the items with what a step makes of each, as they come.

        Parameters
        ----------
        name
            What a message calls an item on which workers die.
        most
            Items in a shard.
        """
        return self.pool.each(step, list(cut(items, self.count, most)), name)

    def fill(
        self,
        run: Run,
        step: Step,
        items: Sequence[Item],
        shown: AbstractContextManager[Advance],
        name: Callable[[Item], str] = str,
    ) -> None:
        """Add to the run what a step finds: databases, see `database`."""
        with shown as advance:
            for shard, found in self.each(step, items, name):
                with tempfile.TemporaryDirectory() as folder:
                    rows = RunFolder(Path(folder))
                    rows.database_path.write_bytes(found)
                    run.take_from(rows)
                advance(len(shard))


@contextmanager
def helpers(load: Callable[[], Any], engine: Engine) -> Iterator[Helpers]:
    """Workers that load everything that a job's steps need, in the folder of this process."""
    with workers(partial(_load_in, str(Path.cwd()), load), engine) as pool:
        yield Helpers(pool, engine.workers)


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


def cut(
    items: Sequence[Item], workers: int, most: int = MOST_IN_A_SHARD
) -> Iterator[tuple[Item, ...]]:
    """Shards of the items, smaller towards the end, so that workers finish together.

    Examples
    --------
    >>> [len(shard) for shard in cut(range(100), workers=2)]
    [25, 18, 14, 10, 8, 6, 4, 4, 4, 4, 3]
    """
    least = min(LEAST_IN_A_SHARD, most, math.ceil(len(items) / (4 * workers)))
    first = 0
    while first < len(items):
        left = len(items) - first
        size = max(least, min(most, left // (2 * workers)))
        yield tuple(items[first : first + size])
        first += size
