"""How much meaning a frozen model's layers hold: a similarity measure trained on its latents.

All here works on arrays of latents, in the manner of scikit-learn; what reads them from a model
and keeps them stands elsewhere.
"""

from scope.probes.correlations import (
    mean_error_estimate as mean_error_estimate,
    misjudged as misjudged,
    pearson_difference as pearson_difference,
    pearson_estimate as pearson_estimate,
    spearman_estimate as spearman_estimate,
)
from scope.probes.layers import (
    align_layers as align_layers,
    layer_curve as layer_curve,
    leave_one_layer_out as leave_one_layer_out,
)
from scope.probes.probe import (
    SimilarityProbe as SimilarityProbe,
    trained_parameters as trained_parameters,
)
from scope.probes.recipes import (
    PRETRAINED as PRETRAINED,
    RANDOM_STEPS as RANDOM_STEPS,
    STEPS as STEPS,
    Step as Step,
)
from scope.probes.saving import (
    LatentSource as LatentSource,
    SavedProbe as SavedProbe,
    load_probe as load_probe,
    save_probe as save_probe,
)
