"""The life of a run, for every job: it is opened, filled, written and reported.

What a run would cost: a dry run prepares the job and times its models on a part of the data.
"""

from __future__ import annotations

import json
import math
import resource
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pkgutil import resolve_name
from typing import Any, Generic, NamedTuple, TypeVar

from reports.blocks import Block, Table, paragraph
from reports.text import to_text
from scope.answers.run import Run, shared_answers
from scope.core.request import Job, Request, described
from scope.errors import RunError, ScopeError, SpecError
from scope.jobs import JOBS, job_named
from scope.jobs.answering_models import refuse_unusable
from scope.jobs.cost_estimate import Planned, Work, announcements, in_cents, priced
from scope.jobs.identity import configuration_of, default_run_name, notes_of
from scope.jobs.pages import headline_of
from scope.jobs.shared_fields import LeavesOut, SharesAnswers
from scope.models.scheme import scheme_of
from scope.paths import expanded
from scope.progress import reading_shown_by, remark
from scope.records import Clock, Manifest, Result
from scope.store.folder import check_folder, check_run, run_folder

Asked = TypeVar("Asked", bound=Request)
Found = TypeVar("Found", bound=Result)


class Prepared(NamedTuple, Generic[Found]):
    """A job whose models and data are loaded and checked.

    ``manifest`` names the run and heads its result; ``compute`` does the work in the open run, and
    reuses its stored answers. ``models`` are those whose answers the run stores.
    ``work`` gives the cost of each model for a dry run; ``trains_models`` is true for a job
    that also trains models of its own, whose time is unknown. ``plan`` says what the run can show.
    """

    manifest: Manifest
    compute: Callable[[Run], Found]
    models: Sequence[object] = ()
    work: Callable[[], Iterable[Planned]] = tuple
    trains_models: bool = False
    plan: str = ""


def run_job(request: Asked, prepare: Callable[[Asked], Prepared[Found]]) -> Found:
    """Prepare the job, open its run, do the work, and write the result and its report.

    The result is what the run's file holds, with the run's folder.

    Raises
    ------
    ScopeError
        An error that the user can fix, such as a run that was started with different arguments.
    """
    began = time.monotonic()
    check_room(request)
    with reading_shown_by(request.progress):
        prepared = prepare(request)
    manifest = prepared.manifest
    if isinstance(request, LeavesOut):
        refuse_unusable(manifest.data, request.most_unusable)
    folder = run_folder(request.run or default_run_name(manifest), request.runs)
    configuration, notes = configuration_of(manifest), notes_of(manifest)
    # Before the run is begun: a price may be that of no endpoint.
    served = any(scheme_of(card.spec).served for card in manifest.models)
    work = prepared.work() if served else ()
    announced = tuple(announcements(work, prices_in(request)))
    shares = isinstance(request, SharesAnswers) and request.cache
    with (
        shared_answers(prepared.models, shares, request.progress) as shared,
        Run.open(folder, configuration, notes=notes, shared=shared, began=began) as run,
    ):
        _refuse_another_generation(run, manifest)
        if any(held := run.table.held()):
            remark(request.progress, f"reuses {held} of earlier sessions")
        notes_on_data = (f"{card.spec}: {note}" for card in manifest.data for note in card.notes)
        for line in filter(None, (*notes_on_data, prepared.plan, *announced)):
            remark(request.progress, line)
        return _finish(_found(prepared.compute, run), run)


def _refuse_another_generation(run: Run, manifest: Manifest) -> None:
    """Answers of two generations of transformers may differ in their last bits: no run mixes them.

    Endpoints, saved answers and objects do not depend on it.
    """
    began: Mapping[str, str] = run.read_notes().get("versions", {})  # type: ignore[assignment]
    before, now = (versions.get("transformers", "") for versions in (began, manifest.versions))
    local = any(scheme_of(card.spec).computed for card in manifest.models)
    if local and before.partition(".")[0] != now.partition(".")[0]:
        raise RunError(
            f"run `{run.path.name}` was started with transformers {before}; {now} is installed",
            expected="the generation of transformers with which the run was started",
            fix="choose another name with --run; `scope report` shows the run as it is",
        )


def prices_in(request: Request) -> Mapping[str, str]:
    """The prices of endpoints; none where the job has no options of models."""
    options = getattr(request, "model_options", None)
    prices: Mapping[str, str] = getattr(options, "prices", {})
    return prices


def check_room(request: Request, job: str | None = None) -> None:
    """Check, before anything is loaded, that the run can be kept in its folder.

    Raises
    ------
    RunError
        When it cannot, or the folder is that of another job or configuration.
    """
    if request.run is None:
        check_folder(expanded(request.runs))
        return
    folder = run_folder(request.run, request.runs)
    check_folder(folder)
    key = next((entry.key for entry in JOBS if entry.request is type(request)), None)
    # In a plugin's manifest, the name of a field may belong to another number.
    fields = () if key is None else described(type(request))
    values = {field.name: getattr(request, field.name) for field in fields}
    numbers = {name: value for name, value in values.items() if isinstance(value, int | float)}
    check_run(folder, job or key, numbers)


def _found(compute: Callable[[Run], Found], run: Run) -> Found:
    """The result; a run that is refused before anything was kept in it leaves no folder."""
    try:
        return compute(run)
    except ScopeError:
        if run.is_unused:
            run.discard()
        raise
    finally:
        if run.path.exists():
            run.stopwatch.write()


def _finish(result: Found, run: Run) -> Found:
    clock = Clock(
        finished=datetime.now(UTC).isoformat(timespec="seconds"),
        seconds=run.stopwatch.seconds,
        asked_again=run.asked_again,
        drifts=tuple(run.drifts),
    )
    stored = run.write_result(replace(result, clock=clock))
    try:
        page = stored.html()
    except ScopeError as error:
        error.fix += (
            f"; the result is kept in `{run.result_path}`, and `scope report {run.path}` makes the "
            "page from it"
        )
        raise
    run.write_report(page)
    run.stopwatch.write(headline_of(stored))
    return replace(stored, folder=run.path)


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
        prepared: Prepared[Any] = resolve_name(job.prepare)(request)
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
