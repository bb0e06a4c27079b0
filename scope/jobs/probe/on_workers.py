"""Replicas of a probed model on workers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from scope.jobs.latent_store import Elsewhere, read_latents
from scope.jobs.on_workers import helpers, replica
from scope.jobs.ray_connection import Engine
from scope.protocols import LatentReader


@contextmanager
def replicas(
    load: Callable[[], LatentReader], reader: LatentReader, engine: Engine | None
) -> Iterator[Elsewhere | None]:
    """Workers that read texts in place of the reader; without an engine None.

    Parameters
    ----------
    load
        Makes the reader's replica in a worker.
    """
    if engine is None:
        yield None
        return
    with helpers(replica(reader, load), engine) as there:
        yield lambda texts, most: there.each(read_latents, texts, most=most)
