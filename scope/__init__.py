"""SCoPE compares language models by behaviour: which invariances do they share?

All public names are here; each is loaded on first use.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from scope.core.gates import failed_gates as failed_gates
    from scope.errors import ScopeError as ScopeError
    from scope.jobs.audit.run import audit as audit
    from scope.jobs.compare.run import compare as compare
    from scope.jobs.demo.run import demo as demo
    from scope.jobs.fleet.embed import embed_fleet as embed_fleet
    from scope.jobs.fleet.forecast import forecast_fleet as forecast_fleet
    from scope.jobs.fleet.map import map_fleet as map_fleet
    from scope.jobs.fleet.predict import predict_fleet as predict_fleet
    from scope.jobs.fleet.route import route_fleet as route_fleet
    from scope.jobs.pages import load_result as load_result, report as report
    from scope.jobs.pair.run import pair as pair
    from scope.jobs.probe.run import probe as probe
    from scope.jobs.probe.similarity import similarity as similarity
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

_HOMES = {
    "Result": "scope.records",
    "Estimate": "scope.records",
    "ModelOptions": "scope.models.options",
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

__all__ = sorted(_HOMES)  # noqa: PLE0605 - each name is imported above for type checkers


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'scope' has no attribute '{name}'")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return __all__
