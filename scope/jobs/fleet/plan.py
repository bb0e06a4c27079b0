"""Preparation shared by all jobs on a fleet."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

from scope.jobs.fleet.requests import FleetRequest
from scope.jobs.identity import manifest_of
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
    manifest = manifest_of(command, request, settings, data=data)
    return Prepared(manifest, lambda run: find(manifest, run))
