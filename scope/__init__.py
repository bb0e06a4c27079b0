"""SCoPE compares language models by behaviour: which invariances do they share?

All public names are here; each is loaded on first use.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from scope.core.gates import failed_gates
    from scope.errors import ScopeError
    from scope.jobs.audit.run import audit
    from scope.jobs.compare.run import compare
    from scope.jobs.demo.run import demo
    from scope.jobs.fleet.embed import embed_fleet
    from scope.jobs.fleet.forecast import forecast_fleet
    from scope.jobs.fleet.map import map_fleet
    from scope.jobs.fleet.predict import predict_fleet
    from scope.jobs.fleet.route import route_fleet
    from scope.jobs.pages import load_result, report
    from scope.jobs.pair.run import pair
    from scope.jobs.probe.run import probe
    from scope.jobs.probe.similarity import similarity
    from scope.jobs.reuse.run import reuse
    from scope.jobs.shards import merge
    from scope.jobs.study.run import (
        study_complementarity,
        study_judges,
        study_size,
        study_trend,
    )
    from scope.models import ModelOptions
    from scope.records import Estimate, Result, Undefined

__all__ = [
    "Estimate",
    "ModelOptions",
    "Result",
    "ScopeError",
    "Undefined",
    "audit",
    "compare",
    "demo",
    "dry_run",
    "embed_fleet",
    "failed_gates",
    "forecast_fleet",
    "load_result",
    "map_fleet",
    "merge",
    "pair",
    "predict_fleet",
    "probe",
    "report",
    "reuse",
    "route_fleet",
    "similarity",
    "study_complementarity",
    "study_judges",
    "study_size",
    "study_trend",
]

_HOMES = {
    "Result": "scope.records",
    "Estimate": "scope.records",
    "ModelOptions": "scope.models",
    "ScopeError": "scope.errors",
    "Undefined": "scope.records",
    "audit": "scope.jobs.audit.run",
    "compare": "scope.jobs.compare.run",
    "demo": "scope.jobs.demo.run",
    "dry_run": "scope.jobs.dry_run",
    "embed_fleet": "scope.jobs.fleet.embed",
    "failed_gates": "scope.core.gates",
    "forecast_fleet": "scope.jobs.fleet.forecast",
    "load_result": "scope.jobs.pages",
    "map_fleet": "scope.jobs.fleet.map",
    "merge": "scope.jobs.shards",
    "pair": "scope.jobs.pair.run",
    "predict_fleet": "scope.jobs.fleet.predict",
    "probe": "scope.jobs.probe.run",
    "report": "scope.jobs.pages",
    "reuse": "scope.jobs.reuse.run",
    "route_fleet": "scope.jobs.fleet.route",
    "similarity": "scope.jobs.probe.similarity",
    "study_complementarity": "scope.jobs.study.run",
    "study_judges": "scope.jobs.study.run",
    "study_size": "scope.jobs.study.run",
    "study_trend": "scope.jobs.study.run",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'scope' has no attribute '{name}'")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
