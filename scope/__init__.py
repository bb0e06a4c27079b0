"""SCoPE compares language models by behaviour: which invariances do they share?

All public names are here; each is loaded on first use.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from scope.errors import ScopeError as ScopeError
    from scope.jobs.audit.run import audit as audit
    from scope.jobs.compare.run import compare as compare
    from scope.jobs.demo.run import demo as demo
    from scope.jobs.fleet.embed import embed_fleet as embed_fleet
    from scope.jobs.fleet.forecast import forecast_fleet as forecast_fleet
    from scope.jobs.fleet.map import map_fleet as map_fleet
    from scope.jobs.fleet.predict import predict_fleet as predict_fleet
    from scope.jobs.fleet.route import route_fleet as route_fleet
    from scope.jobs.gates import failed_gates as failed_gates
    from scope.jobs.pages import load_result as load_result, report as report
    from scope.jobs.pair.run import pair as pair
    from scope.jobs.probe.run import probe as probe
    from scope.jobs.probe.saving import similarity as similarity
    from scope.jobs.reuse.run import reuse as reuse
    from scope.jobs.shards import merge as merge
    from scope.jobs.study.run import (
        study_complementarity as study_complementarity,
        study_judges as study_judges,
        study_size as study_size,
        study_trend as study_trend,
    )
    from scope.models.options import ModelOptions as ModelOptions
    from scope.records import Estimate as Estimate, Result as Result, Undefined as Undefined

_NAMES = {
    "scope.jobs.gates": "failed_gates",
    "scope.errors": "ScopeError",
    "scope.jobs.audit.run": "audit",
    "scope.jobs.compare.run": "compare",
    "scope.jobs.demo.run": "demo",
    "scope.jobs.runner": "dry_run",
    "scope.jobs.fleet.embed": "embed_fleet",
    "scope.jobs.fleet.forecast": "forecast_fleet",
    "scope.jobs.fleet.map": "map_fleet",
    "scope.jobs.fleet.predict": "predict_fleet",
    "scope.jobs.fleet.route": "route_fleet",
    "scope.jobs.pages": "load_result report",
    "scope.jobs.pair.run": "pair",
    "scope.jobs.probe.run": "probe",
    "scope.jobs.probe.saving": "similarity",
    "scope.jobs.reuse.run": "reuse",
    "scope.jobs.shards": "merge",
    "scope.jobs.study.run": "study_complementarity study_judges study_size study_trend",
    "scope.models.options": "ModelOptions",
    "scope.records": "Estimate Result Undefined",
}
_HOMES = {name: module for module, names in _NAMES.items() for name in names.split()}

__all__ = sorted(_HOMES)  # noqa: PLE0605 - each name is imported above for type checkers


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'scope' has no attribute '{name}'")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return __all__
