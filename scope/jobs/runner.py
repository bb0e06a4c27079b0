"""The life of a run, for every job: it is opened, filled, written and reported."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Generic, NamedTuple, TypeVar

from scope.answers.run import Run, shared_answers
from scope.core.request import Request, described
from scope.errors import RunError, ScopeError
from scope.jobs import JOBS
from scope.jobs.cost_estimate import Planned, announcements
from scope.jobs.identity import configuration_of, default_run_name, notes_of
from scope.jobs.left_out import refuse_unusable
from scope.jobs.pages import headline_of
from scope.jobs.shared_fields import LeavesOut, SharesAnswers
from scope.models.scheme import scheme_of
from scope.paths import expanded
from scope.progress import reading_shown_by, remark
from scope.records import Clock, Manifest, Result
from scope.store import check_folder, check_run, run_folder

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
    announced = tuple(announcements(prepared.work(), prices_in(request)))
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
    run.write_report(_page(stored, run))
    run.stopwatch.write(headline_of(stored))
    return replace(stored, folder=run.path)


def _page(result: Found, run: Run) -> str:
    try:
        return result.html()
    except ScopeError as error:
        error.fix += (
            f"; the result is kept in `{run.result_path}`, and `scope report {run.path}` makes the "
            "page from it"
        )
        raise
