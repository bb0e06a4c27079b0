"""The frame of a job whose result is findings of its own: a run is opened, filled and reported."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from scope.jobs.finishing import finish
from scope.jobs.identity import default_run_name, notes_of, question_of
from scope.models import ModelOptions
from scope.progress import Silent
from scope.protocols import Progress
from scope.records import Comparison, Manifest
from scope.store import Run, run_folder


class Surroundings(NamedTuple):
    """What such a job is done with and in, whatever it asks.

    ``runs`` is the folder of runs.
    """

    models: ModelOptions
    run: str | Path | None
    runs: Path
    progress: Progress

    @classmethod
    def of(
        cls,
        models: ModelOptions | None,
        run: str | Path | None,
        runs: Path,
        progress: Progress | None,
    ) -> Surroundings:
        """With what stands for an option that was left out."""
        return cls(models or ModelOptions(), run, runs, progress or Silent())


def do_in_run(
    manifest: Manifest, around: Surroundings, find: Callable[[Run], Comparison]
) -> Comparison:
    """Open the run, find what is to be found, and write the result with its report.

    Raises
    ------
    RunError
        When the run holds another question, is held by another process, or cannot be written.
    """
    began = time.monotonic()
    folder = run_folder(around.run or default_run_name(manifest), around.runs)
    with Run.open(folder, question_of(manifest), notes=notes_of(manifest)) as opened:
        return finish(find(opened), opened, seconds=time.monotonic() - began)


def bare_comparison(manifest: Manifest) -> Comparison:
    """A comparison in which nothing is measured, for findings to be put into."""
    return Comparison(
        manifest=manifest,
        outcomes=(),
        measurements=(),
        differences=(),
        curves=(),
        examples=(),
        perturbations=(),
    )
