"""How much a probe learns from human scores."""

from __future__ import annotations

from sklearn.utils.validation import check_is_fitted

from scope.probes.probe import SimilarityProbe


def trained_parameters(probe: SimilarityProbe) -> int:
    """How many numbers were trained on scored pairs: 0 of the step ``raw``, which only chooses.

    Statistics of the latents, such as principal components, do not count; encoders do, with as
    many inputs as they had in training.

    Raises
    ------
    NotFittedError
        When the probe is not fitted.

    Examples
    --------
    >>> import numpy as np
    >>> latents = np.array([[[1.0, 0.0]], [[0.0, 1.0]], [[1.0, 0.1]]])
    >>> probe = SimilarityProbe(step="mlp").fit(latents[[0, 0, 1]], latents[[1, 2, 2]], [0, 5, 1])
    >>> trained_parameters(probe)
    2
    """
    check_is_fitted(probe, "measure_")
    return probe.measure_.trained
