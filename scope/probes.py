"""How much meaning a frozen model's layers hold: a similarity probe trained on its latents.

Everything here works on arrays of latents, in the manner of scikit-learn. `scope.probe` reads
them from models.
"""

from scope.jobs.probe.estimator import SimilarityProbe
from scope.jobs.probe.layers import align_layers, layer_curve, leave_one_layer_out
from scope.jobs.probe.network import STEPS
from scope.jobs.probe.saving import LatentSource, SavedProbe, load_probe, save_probe

__all__ = [
    "STEPS",
    "LatentSource",
    "SavedProbe",
    "SimilarityProbe",
    "align_layers",
    "layer_curve",
    "leave_one_layer_out",
    "load_probe",
    "save_probe",
]
