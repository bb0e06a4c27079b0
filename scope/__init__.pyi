# The public names, and where each is defined: for type checkers, and for `scope/__init__.py`.
from scope.errors import ScopeError as ScopeError
from scope.jobs.audit.run import audit as audit
from scope.jobs.compare.run import compare as compare
from scope.jobs.demo.run import demo as demo
from scope.jobs.fleet.embed import embed_fleet as embed_fleet
from scope.jobs.fleet.forecast import forecast_fleet as forecast_fleet, route_fleet as route_fleet
from scope.jobs.fleet.map import map_fleet as map_fleet
from scope.jobs.fleet.predict import predict_fleet as predict_fleet
from scope.jobs.gates import failed_gates as failed_gates
from scope.jobs.pages import load_result as load_result, report as report
from scope.jobs.pair.run import pair as pair
from scope.jobs.probe.estimator import (
    SimilarityProbe as SimilarityProbe,
    align_layers as align_layers,
    layer_curve as layer_curve,
    leave_one_layer_out as leave_one_layer_out,
)
from scope.jobs.probe.run import probe as probe
from scope.jobs.probe.saving import (
    LatentSource as LatentSource,
    SavedProbe as SavedProbe,
    load_probe as load_probe,
    save_probe as save_probe,
    similarity as similarity,
)
from scope.jobs.reuse.run import reuse as reuse
from scope.jobs.runner import dry_run as dry_run
from scope.jobs.shards import merge as merge
from scope.jobs.study.run import (
    study_complementarity as study_complementarity,
    study_judges as study_judges,
    study_size as study_size,
    study_trend as study_trend,
)
from scope.models.options import ModelOptions as ModelOptions
from scope.records import Estimate as Estimate, Result as Result, Undefined as Undefined
