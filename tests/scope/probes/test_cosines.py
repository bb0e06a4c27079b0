import numpy as np
import pytest
import toy_latents

from scope.probes.cosines import cosine_distances
from scope.probes.scales import Scales, fit_scales

TOY = toy_latents.pairs(60)


def by_hand(first, second):
    return 1 - first @ second / np.linalg.norm(first) / np.linalg.norm(second)


def test_distances_are_1_less_the_cosine():
    first, second = TOY.first[7, 1].astype(float), TOY.second[7, 1].astype(float)
    found = cosine_distances(TOY.first, TOY.second)
    assert found[7, 1] == pytest.approx(by_hand(first, second))


def test_scales_are_taken_from_each_dimension_first():
    scales = fit_scales([TOY.first, TOY.second])
    found = cosine_distances(TOY.first, TOY.second, scales)
    ends = [(side[7, 1] - scales.centre[1]) / scales.deviation[1] for side in TOY[:2]]
    assert found[7, 1] == pytest.approx(by_hand(*ends), rel=1e-5)
    assert (cosine_distances(TOY.first, TOY.first, scales) == 0).all()


def test_a_dimension_however_large_counts_as_the_others_once_it_is_scaled():
    sizes = np.array([1e6, *[1.0] * 7], dtype=np.float32)
    large = TOY.first * sizes, TOY.second * sizes
    np.testing.assert_allclose(
        cosine_distances(*large, fit_scales(large)),
        cosine_distances(*TOY[:2], fit_scales(TOY[:2])),
        rtol=1e-4,
    )


@pytest.mark.parametrize("scales", [None, Scales(np.zeros((1, 4)), np.ones((1, 4)))])
def test_latents_of_nothing_but_0_have_a_distance(scales):
    nothing = np.zeros((1, 1, 4), dtype=np.float32)
    assert cosine_distances(nothing, nothing, scales) == 0
    assert cosine_distances(nothing, nothing + 1, scales) == pytest.approx(0.5)
