"""How much meaning a frozen model's layers hold: a similarity measure trained on its latents.

All here works on arrays of latents, in the manner of scikit-learn; what reads them from a model
and keeps them stands elsewhere.
"""

from scope.probes.alignment import linear_cka
from scope.probes.correlations import pearson, pearson_estimate, spearman_estimate
from scope.probes.curves import LayerLoss, LayerPoint, layer_curve, leave_one_layer_out
from scope.probes.probe import SimilarityProbe
from scope.probes.recipes import STEPS, Step
from scope.probes.saving import SavedProbe, load_probe, save_probe
from scope.probes.source import LatentSource

__all__ = [
    "STEPS",
    "LatentSource",
    "LayerLoss",
    "LayerPoint",
    "SavedProbe",
    "SimilarityProbe",
    "Step",
    "layer_curve",
    "leave_one_layer_out",
    "linear_cka",
    "load_probe",
    "pearson",
    "pearson_estimate",
    "save_probe",
    "spearman_estimate",
]
