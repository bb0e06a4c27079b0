"""Preparation shared by all jobs on a fleet."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from scope.jobs.fleet.requests import FleetRequest
from scope.jobs.identity import manifest_of
from scope.jobs.runner import Prepared
from scope.records import DataCard, FleetFindings, FleetResult, Setting
from scope.store import Run


def prepared(
    command: str,
    request: FleetRequest,
    find: Callable[[Run], FleetFindings],
    *,
    data: Sequence[DataCard],
    settings: Mapping[str, Setting],
) -> Prepared[FleetResult]:
    """A prepared job of this command; ``settings`` determine its result."""
    manifest = manifest_of(command, request, settings, data=data)
    return Prepared(manifest, lambda run: FleetResult(manifest=manifest, findings=find(run)))
