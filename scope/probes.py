"""How much meaning a frozen model's layers hold: a similarity probe trained on its latents.

Everything here works on arrays of latents, in the manner of scikit-learn. `scope.probe` reads
them from models.
"""

# ruff: noqa: PLC0414 - these names are for users
from scope.jobs.probe.estimator import (
    SimilarityProbe as SimilarityProbe,
    align_layers as align_layers,
    layer_curve as layer_curve,
    leave_one_layer_out as leave_one_layer_out,
)
from scope.jobs.probe.network import STEPS as STEPS
from scope.jobs.probe.saving import (
    LatentSource as LatentSource,
    SavedProbe as SavedProbe,
    load_probe as load_probe,
    save_probe as save_probe,
)
