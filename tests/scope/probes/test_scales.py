import numpy as np
import toy_latents

from scope.probes.scales import fit_scales

LATENTS = toy_latents.sentences()[1]


def test_each_dimension_has_its_own_mean_and_deviation_and_parts_count_as_one():
    scales = fit_scales([LATENTS[:30], LATENTS[30:]])
    exact = LATENTS.astype(np.float64)
    np.testing.assert_allclose(scales.centre, exact.mean(axis=0), rtol=1e-6)
    np.testing.assert_allclose(scales.deviation, exact.std(axis=0), rtol=1e-6)
    assert scales.centre.dtype == scales.deviation.dtype == np.float32


def test_a_dimension_that_never_changes_keeps_its_scale():
    still = LATENTS.copy()
    still[:, 1, 3] = 7
    scales = fit_scales([still])
    assert (scales.centre[1, 3], scales.deviation[1, 3]) == (7, 1)
