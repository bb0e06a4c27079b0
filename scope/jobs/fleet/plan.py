"""Preparation shared by all jobs on a fleet."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from scope.core.request import reproduce
from scope.jobs.fleet.requests import FleetRequest
from scope.jobs.identity import software_versions
from scope.jobs.runner import Prepared, bare_comparison
from scope.records import DataCard, FleetFindings, Manifest, Setting
from scope.store import Run


def prepared(
    command: str,
    request: FleetRequest,
    find: Callable[[Run], FleetFindings],
    *,
    data: Sequence[DataCard],
    settings: Mapping[str, Setting],
) -> Prepared:
    """A prepared job of this command; ``settings`` determine its result."""
    manifest = Manifest(
        job=command.replace(" ", "-"),
        models=(),
        data=tuple(data),
        capabilities=(),
        settings=settings,
        versions=software_versions(),
        command=reproduce(command, request),
    )
    return Prepared(manifest, lambda run: replace(bare_comparison(manifest), fleet=find(run)))
