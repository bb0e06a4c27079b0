"""What a run would cost: a dry run prepares the job and times its models on a part of the data."""

from __future__ import annotations

import json
import math
import resource
import sys
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from reports.blocks import Block, Table, paragraph
from reports.renderers.terminal import to_text
from scope.core.job import Job
from scope.core.request import Request
from scope.errors import SpecError
from scope.jobs import job_named
from scope.jobs.cost_estimate import Planned, Work, in_cents, priced
from scope.jobs.runner import Prepared, check_room, prices_in
from scope.progress import reading_shown_by
from scope.registry import imported


@dataclass(frozen=True, kw_only=True)
class Cost:
    """The cost of a run from its beginning; stored answers are not deducted.

    Parameters
    ----------
    job
        The name of the job.
    work
        Each model's part. A perturbed text counts for every trial, although some find none.
    prices
        Of each endpoint with a price: the most that it costs, in the currency of the price.
    preparation
        Seconds that this dry run took to load models and read data, which a run takes, too.
    memory
        The most memory that this dry run has used, in MB: all models and a small batch.
    trains_models
        Whether the job trains models of its own; their time is not in these numbers.
    plan
        What the run can show, in words.
    """

    job: str
    work: tuple[Work, ...]
    prices: Mapping[str, float]
    preparation: float
    memory: float
    trains_models: bool
    plan: str = ""

    @property
    def queries(self) -> int:
        """Of all models."""
        return sum(part.queries for part in self.work)

    @property
    def seconds(self) -> float:
        """Expected time of the run, without endpoints and training."""
        return self.preparation + math.fsum(part.seconds or 0.0 for part in self.work)

    def to_json(self) -> str:
        """All numbers, with the sums."""
        sums = {"queries": self.queries, "seconds": round(self.seconds, 1)}
        return json.dumps(asdict(self) | sums, indent=1, ensure_ascii=False)

    def blocks(self) -> Iterator[Block]:
        """The blocks for a terminal."""
        if self.work:
            yield self._table()
        asks_endpoints = any(part.seconds is None for part in self.work)
        yield paragraph(
            "In all {queries} queries, {time}{but}, {memory} MB of memory.",
            queries=f"{self.queries:,}",
            time=_in_words(self.seconds),
            but=" without the time of endpoints" if asks_endpoints else "",
            memory=f"{self.memory:,.0f}",
        )
        for model, price in self.prices.items():
            yield paragraph("{model}: at most {price}.", model=model, price=in_cents(price))
        if self.trains_models:
            yield paragraph("The time to fit models of the job's own is not included.")
        if self.plan:
            yield paragraph("{plan}", plan=self.plan)

    def _table(self) -> Table:
        tokens = any(part.tokens_in for part in self.work)
        headings = ("queries", "time", *(("tokens in", "tokens out") if tokens else ()))
        rows = (
            (
                *(work.model, work.purpose, f"{work.queries:,}"),
                "not tried" if work.seconds is None else _in_words(work.seconds),
                *((f"{work.tokens_in:,}", f"{work.tokens_out:,}") if tokens else ()),
            )
            for work in self.work
        )
        return Table.of({"model": "name", "for": "text", **dict.fromkeys(headings, "number")}, rows)

    def __str__(self) -> str:
        return to_text(self.blocks())


def dry_run(job: str, **arguments: Any) -> Cost:
    """What a run of a job with these arguments would cost; it leaves no run.

    Models are loaded and answer for a few seconds each. Endpoints are not asked.

    Parameters
    ----------
    job
        The name of the command, such as ``audit`` or ``fleet embed``.
    **arguments
        Those of the job's own function.

    Raises
    ------
    ScopeError
        Whatever the user can fix: see `scope.errors`.
    """
    chosen = job_named(job.replace(" ", "-"))
    return cost_of(chosen, chosen.request(**arguments))


def cost_of(job: Job, request: Request) -> Cost:
    """What a run of this request would cost.

    Raises
    ------
    SpecError
        When the job has no dry run, or a price cannot be read or is that of no endpoint.
    """
    if not job.prepare:
        raise SpecError(
            f"a dry run of `{job.name}`",
            expected="a job whose preparation is known",
            fix="choose another job; `scope JOB --help` shows --dry-run",
        )
    began = time.monotonic()
    check_room(request)
    with reading_shown_by(request.progress):
        prepared: Prepared[Any] = imported(job.prepare)(request)
    preparation = time.monotonic() - began
    work = []
    with request.progress.task("timing models", None) as advance:
        for planned in prepared.work():
            work.append(planned.measured())
            advance()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return Cost(
        job=job.name,
        work=tuple(work),
        prices=priced(work, prices_in(request)),
        preparation=round(preparation, 1),
        memory=peak / (1e6 if sys.platform == "darwin" else 1e3),
        trains_models=prepared.trains_models,
        plan=prepared.plan,
    )


def cost_in_short(planned: Iterable[Planned]) -> str:
    """The answers that work takes, and their time, which is measured for some seconds a model."""
    work = [part.measured() for part in planned]
    queries, seconds = sum(part.queries for part in work), sum(part.seconds or 0.0 for part in work)
    return f"about {queries:,} answers, {_in_words(seconds)}"


def _in_words(seconds: float) -> str:
    """A time as a person reads it.

    >>> _in_words(4.2), _in_words(200), _in_words(9000)
    ('4 s', '3 min', '2.5 h')
    """
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"
