"""The searches and answers of an audit on workers; the driver alone writes the run."""

from __future__ import annotations

import math
import os
import tempfile
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, get_args

from scope.errors import SpecError
from scope.jobs.audit.request import AuditRequest
from scope.jobs.perturbing import Kind, stored_name
from scope.jobs.workers import Engine, each_shard
from scope.models.threads import available_cores
from scope.progress import Silent
from scope.store import Run, RunFolder

if TYPE_CHECKING:
    from scope.jobs.audit.run import AuditPlan

SHARDS_A_WORKER = 4
MOST_IN_A_SHARD = 64
"""Texts that one shard searches in lockstep: more make it faster, and a death dearer."""

Places = tuple[int, ...]


def engine_of(request: AuditRequest) -> Engine | None:
    """The engine that a request names; None for this process alone.

    Raises
    ------
    SpecError
        When it is none, has an option too many, or a model cannot be sent to workers.
    """
    threads = request.model_options.threads or available_cores()
    engine = Engine.parse(
        request.engine, workers=request.workers, gpus=request.gpus_per_worker, threads=threads
    )
    objects = [one for one in (*request.references, *request.measured) if not isinstance(one, str)]
    objects += [one for one in request.capabilities if not isinstance(one, str)]
    if engine is not None and objects:
        raise SpecError(
            f"`{getattr(objects[0], 'spec', type(objects[0]).__name__)}`, an object, with --engine "
            "ray",
            expected="models and capabilities that workers can load",
            fix="name it by a spec, such as python:my_models:sentiment",
        )
    return engine


def search_on_workers(plans: Sequence[AuditPlan], engine: Engine, run: Run) -> None:
    """Have shards of the texts searched and answered, and keep what comes in the run."""
    request, examples = plans[0].request, plans[0].data.examples
    size = min(MOST_IN_A_SHARD, math.ceil(len(examples) / (SHARDS_A_WORKER * engine.workers)))
    places = range(len(examples))
    shards = [tuple(places[start : start + size]) for start in places[::size]]
    searched = _searched_in(plans, run)
    waiting = [one for one in shards if not all(examples[at].id in searched for at in one)]
    sent = replace(request, engine="local", workers=1, gpus_per_worker=0.0, progress=Silent())
    make = partial(worker, sent, str(Path.cwd()))
    shown = request.progress.task("shards", len(shards), len(shards) - len(waiting))
    with shown as advance:
        for _, database in each_shard(make, waiting, engine):
            with tempfile.TemporaryDirectory() as folder:
                shard = RunFolder(Path(folder))
                shard.database_path.write_bytes(database)
                run.take_from(shard)
            advance()


def _searched_in(plans: Sequence[AuditPlan], run: Run) -> set[str]:
    """The texts of which the run holds every search."""
    kinds = get_args(Kind) if plans[0].request.flips else ("kept",)
    found = [
        {example for example, _ in run.perturbations(stored_name(plan.kept_as(chosen), kind))}
        for plan in plans
        for chosen in plan.capabilities
        for kind in kinds
    ]
    return set.intersection(*found) if found else set()


def worker(request: AuditRequest, folder: str) -> Callable[[Places], bytes]:
    """Load everything, and give what searches and answers the texts at some places."""
    from scope.jobs.audit.run import gather, plan_audits

    with suppress(OSError):  # another machine may lack it
        os.chdir(folder)
    plans = plan_audits(request).plans

    def searched(places: Places) -> bytes:
        """A database of the answers and searches."""
        own = [
            replace(
                plan,
                data=replace(
                    plan.data, examples=tuple(plan.data.examples[place] for place in places)
                ),
            )
            for plan in plans
        ]
        with tempfile.TemporaryDirectory() as temporary:
            with Run.open(Path(temporary) / "shard", {"job": "audit"}) as run:
                gather(own, run)
            return RunFolder(Path(temporary) / "shard").database_path.read_bytes()

    return searched
