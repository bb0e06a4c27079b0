"""How commands end whose job writes a report by itself: it is done, shown, and its report named."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scope.cli.output import results_alone_on_standard_output, run_argument, show

if TYPE_CHECKING:
    from scope.records import Comparison


def do_and_show(
    job: Callable[..., Comparison], *, as_json: bool, run: str | None, runs: Path, **asked: Any
) -> None:
    """Do the job with progress, and show its result and where its report lies."""
    from scope.jobs.identity import default_run_name
    from scope.progress import suitable_progress
    from scope.store import RunFolder, run_folder

    with results_alone_on_standard_output():
        comparison = job(run=run_argument(run), runs=runs, progress=suitable_progress(), **asked)
    folder = run_folder(run_argument(run) or default_run_name(comparison.manifest), runs)
    show(comparison, as_json=as_json, report=RunFolder(folder).report_path)
