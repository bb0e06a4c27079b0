"""The life of a run, for every job: it is opened, filled, written and reported."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from typing import Generic, NamedTuple, TypeVar

from scope.core.request import Request
from scope.errors import ScopeError
from scope.jobs.identity import configuration_of, default_run_name, notes_of
from scope.protocols import Progress
from scope.records import Clock, Manifest, Result
from scope.store import Run, run_folder

Asked = TypeVar("Asked", bound=Request)
Found = TypeVar("Found", bound=Result)


class Prepared(NamedTuple, Generic[Found]):
    """A job whose models and data are loaded and checked.

    ``manifest`` names the run and heads its result; ``find`` does the work in the open run, and
    takes from it whatever it knows already.
    """

    manifest: Manifest
    find: Callable[[Run], Found]


def carry_out(request: Asked, prepare: Callable[[Asked], Prepared[Found]]) -> Found:
    """Prepare the job, open its run, do the work, and write the result and its report.

    The result is what the run's file holds, with the run's folder.

    Raises
    ------
    ScopeError
        Whatever the user can fix, such as a run that was started with different arguments.
    """
    began = time.monotonic()
    manifest, find_out = prepare(request)
    folder = run_folder(request.run or default_run_name(manifest), request.runs)
    with Run.open(folder, configuration_of(manifest), notes=notes_of(manifest)) as run:
        _say_what_is_reused(run, request.progress)
        return _finish(find_out(run), run, began)


def _say_what_is_reused(run: Run, progress: Progress) -> None:
    held = run.count()
    if any(held):
        progress.say(f"reuses {held} of earlier sessions")


def _finish(result: Found, run: Run, began: float) -> Found:
    clock = Clock(
        finished=datetime.now(UTC).isoformat(timespec="seconds"),
        seconds=round(time.monotonic() - began, 3),
        damaged=run.damaged,
        asked_again=run.asked_again,
        drifts=tuple(run.drifts),
    )
    stored = run.write_result(replace(result, clock=clock))
    run.write_report(_page(stored, run))
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
