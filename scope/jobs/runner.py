"""The life of a run, for every job: it is opened, filled, written and reported."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Generic, NamedTuple, TypeVar

from scope.core.request import Request
from scope.errors import ScopeError
from scope.jobs.identity import configuration_of, default_run_name, notes_of
from scope.jobs.sharing import shared_answers
from scope.progress import say
from scope.records import Clock, Manifest, Result
from scope.store import Run, run_folder

Asked = TypeVar("Asked", bound=Request)
Found = TypeVar("Found", bound=Result)


class Prepared(NamedTuple, Generic[Found]):
    """A job whose models and data are loaded and checked.

    ``manifest`` names the run and heads its result; ``find`` does the work in the open run, and
    takes from it whatever it knows already. ``models`` are those whose answers are kept in it.
    """

    manifest: Manifest
    find: Callable[[Run], Found]
    models: Sequence[object] = ()


def carry_out(request: Asked, prepare: Callable[[Asked], Prepared[Found]]) -> Found:
    """Prepare the job, open its run, do the work, and write the result and its report.

    The result is what the run's file holds, with the run's folder.

    Raises
    ------
    ScopeError
        Whatever the user can fix, such as a run that was started with different arguments.
    """
    began = time.monotonic()
    manifest, find_out, models = prepare(request)
    folder = run_folder(request.run or default_run_name(manifest), request.runs)
    configuration, notes = configuration_of(manifest), notes_of(manifest)
    with (
        shared_answers(request, models) as shared,
        Run.open(folder, configuration, notes=notes, shared=shared) as run,
    ):
        if any(held := run.count()):
            say(request.progress, f"reuses {held} of earlier sessions")
        return _finish(find_out(run), run, began)


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
