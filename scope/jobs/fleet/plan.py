"""A job on a fleet as it was asked, and the frame in which every one of them is done."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from scope.jobs.frame import Surroundings, bare_comparison, do_in_run
from scope.jobs.identity import command_line, model_entries, software_versions
from scope.models import ModelOptions
from scope.records import Comparison, DataCard, FleetFindings, Manifest, Setting
from scope.store import Run

LOADING = ("dtype", "allow_pickle", "trust_remote_code")
"""The options of models that concern an encoder and change vectors, or let it be loaded."""


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
    manifest = plan.manifest(around.models)
    return do_in_run(
        manifest,
        around,
        lambda opened: replace(bare_comparison(manifest), fleet=find(opened)),
    )
