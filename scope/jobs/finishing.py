"""Ends a job: the result and its report are written, and the caller gets what the files hold."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

from scope.records import Clock, Comparison
from scope.registry import find
from scope.store import Run


def finish(comparison: Comparison, run: Run, *, seconds: float) -> Comparison:
    """Write a run's result and report; give the result back as its file holds it."""
    finished = datetime.now(UTC).isoformat(timespec="seconds")
    clock = Clock(
        finished=finished,
        seconds=round(seconds, 3),
        damaged=run.damaged,
        asked_again=run.asked_again,
        drifts=tuple(run.drifts),
    )
    stored = run.write_comparison(replace(comparison, clock=clock))
    run.write_report(find("renderers", "html").target(stored))
    return stored
