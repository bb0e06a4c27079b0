"""A job on a fleet as it was asked, and the frame in which every one of them is done."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from scope.jobs.finishing import finish
from scope.jobs.identity import (
    command_line,
    default_run_name,
    model_entries,
    notes_of,
    question_of,
    software_versions,
)
from scope.models import ModelOptions
from scope.progress import Silent
from scope.protocols import Progress
from scope.records import Comparison, DataCard, FleetFindings, Manifest, Setting
from scope.store import Run, run_folder

LOADING = ("dtype", "allow_pickle", "trust_remote_code")
"""The options of models that concern an encoder and change vectors, or let it be loaded."""


class Surroundings(NamedTuple):
    """What every job on a fleet is done with and in, whatever it asks.

    ``runs`` is the folder of runs, where fleets are looked for too.
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


@dataclass(frozen=True, kw_only=True)
class FleetPlan:
    """What is to be done; nothing of it changes any more.

    ``settings`` decide the result; ``asked`` holds what the command repeats as the user gave it.
    """

    job: str
    data: tuple[DataCard, ...]
    settings: Mapping[str, Setting]
    asked: Mapping[str, Setting | Sequence[str]]

    def manifest(self, options: ModelOptions) -> Manifest:
        """What stands at the head of the result."""
        loading = {name: one for name, one in model_entries(options).items() if name in LOADING}
        return Manifest(
            job=f"fleet-{self.job}",
            models=(),
            data=self.data,
            capabilities=(),
            settings=self.settings,
            versions=software_versions(),
            command=command_line(f"fleet {self.job}", {**self.asked, **loading}),
        )


def carry_out(
    plan: FleetPlan, around: Surroundings, find: Callable[[Run], FleetFindings]
) -> Comparison:
    """Open the run, find what is to be found, and write the result with its report.

    Raises
    ------
    RunError
        When the run holds another question, is held by another process, or cannot be written.
    """
    began = time.monotonic()
    manifest = plan.manifest(around.models)
    folder = run_folder(around.run or default_run_name(manifest), around.runs)
    with Run.open(folder, question_of(manifest), notes=notes_of(manifest)) as opened:
        comparison = Comparison(
            manifest=manifest,
            outcomes=(),
            measurements=(),
            differences=(),
            curves=(),
            examples=(),
            perturbations=(),
            fleet=find(opened),
        )
        return finish(comparison, opened, seconds=time.monotonic() - began)
