"""How much meaning a frozen model's layers hold: a similarity measure trained on its latents.

All here works on arrays of latents, in the manner of scikit-learn; what reads them from a model
and keeps them stands elsewhere.
"""

from scope.probes.aligned_layers import AlignedLayers, align_layers
from scope.probes.alignment import linear_cka
from scope.probes.correlation_differences import pearson_difference
from scope.probes.correlation_values import pearson
from scope.probes.correlations import pearson_estimate, spearman_estimate
from scope.probes.curves import LayerLoss, LayerPoint, layer_curve, leave_one_layer_out
from scope.probes.mistakes import mean_error_estimate, misjudged
from scope.probes.probe import SimilarityProbe
from scope.probes.recipes import PRETRAINED, RANDOM_STEPS, STEPS, Step
from scope.probes.saving import SavedProbe, load_probe, save_probe
from scope.probes.size import trained_parameters
from scope.probes.source import LatentSource

__all__ = [
    "PRETRAINED",
    "RANDOM_STEPS",
    "STEPS",
    "AlignedLayers",
    "LatentSource",
    "LayerLoss",
    "LayerPoint",
    "SavedProbe",
    "SimilarityProbe",
    "Step",
    "align_layers",
    "layer_curve",
    "leave_one_layer_out",
    "linear_cka",
    "load_probe",
    "mean_error_estimate",
    "misjudged",
    "pearson",
    "pearson_difference",
    "pearson_estimate",
    "save_probe",
    "spearman_estimate",
    "trained_parameters",
]
