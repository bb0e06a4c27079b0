"""How much meaning a frozen model's layers hold: a similarity measure trained on its latents.

All here works on arrays of latents, in the manner of scikit-learn; what reads them from a model
and keeps them stands elsewhere.
"""

from scope.probes.correlations import (
    mean_error_estimate,
    misjudged,
    pearson_difference,
    pearson_estimate,
    spearman_estimate,
)
from scope.probes.layers import (
    align_layers,
    layer_curve,
    leave_one_layer_out,
)
from scope.probes.probe import SimilarityProbe, trained_parameters
from scope.probes.recipes import PRETRAINED, RANDOM_STEPS, STEPS, Step
from scope.probes.saving import LatentSource, SavedProbe, load_probe, save_probe

__all__ = [
    "PRETRAINED",
    "RANDOM_STEPS",
    "STEPS",
    "LatentSource",
    "SavedProbe",
    "SimilarityProbe",
    "Step",
    "align_layers",
    "layer_curve",
    "leave_one_layer_out",
    "load_probe",
    "mean_error_estimate",
    "misjudged",
    "pearson_difference",
    "pearson_estimate",
    "save_probe",
    "spearman_estimate",
    "trained_parameters",
]
