"""Preparation shared by all jobs on a fleet."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

from scope.core.request import reproduce
from scope.jobs.fleet.requests import FleetRequest
from scope.jobs.identity import software_versions
from scope.jobs.runner import Prepared
from scope.records import DataCard, FleetResult, Manifest, Setting
from scope.store import Run

_Found = TypeVar("_Found", bound=FleetResult)


def prepared(
    command: str,
    request: FleetRequest,
    find: Callable[[Manifest, Run], _Found],
    *,
    data: Sequence[DataCard],
    settings: Mapping[str, Setting],
) -> Prepared[_Found]:
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
    return Prepared(manifest, lambda run: find(manifest, run))
