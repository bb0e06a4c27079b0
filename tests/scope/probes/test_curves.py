import numpy as np
import pytest
import toy_latents
from scipy.stats import pearsonr
from toy_latents import SMALL

from scope.errors import DataError, SpecError
from scope.probes.correlations import pearson_difference, pearson_estimate
from scope.probes.curves import layer_curve, leave_one_layer_out
from scope.probes.fitting import Calibration
from scope.probes.measures import RawLayer
from scope.probes.probe import SimilarityProbe
from scope.records.estimates import Undefined

TOY = toy_latents.pairs()
TRAIN, TEST = TOY.part(0, 128), TOY.part(128, 160)


@pytest.fixture(scope="module")
def probe():
    return SimilarityProbe(**SMALL).fit(*TRAIN)


def cosines(layer):
    first, second = TEST.first[:, layer].astype(float), TEST.second[:, layer].astype(float)
    sizes = np.linalg.norm(first, axis=1) * np.linalg.norm(second, axis=1)
    return (first * second).sum(axis=1) / sizes


def test_a_curve_has_each_layers_correlations():
    for layer, point in enumerate(layer_curve(*TEST)):
        assert point.layer == layer
        assert point.pearson.value == pytest.approx(pearsonr(cosines(layer), TEST.scores)[0])
        assert point.pearson.low < point.pearson.value < point.pearson.high


def test_pairs_of_a_group_leave_a_curve_together_and_a_probe_too(probe):
    groups = np.arange(32) // 4
    distances = probe.layer_distances(TEST.first, TEST.second)
    for layer, point in enumerate(layer_curve(*TEST, probe=probe, groups=groups)):
        assert point.pearson == pearson_estimate(-distances[:, layer], TEST.scores, groups)
    whole = probe.scores_from(distances)
    for layer, lost in leave_one_layer_out(probe, *TEST, groups=groups):
        rest = probe.scores_from(distances, without=layer)
        assert lost == pearson_difference(whole, rest, TEST.scores, groups)


def test_the_encodings_of_a_probe_follow_people_better_than_the_latents(probe):
    for raw, learned in zip(layer_curve(*TEST), layer_curve(*TEST, probe=probe), strict=True):
        assert learned.pearson.value > raw.pearson.value


def test_a_curve_wants_scores_within_their_range():
    with pytest.raises(DataError, match="scores from 0 to 1"):
        layer_curve(*TEST, low=0, high=1)


@pytest.mark.parametrize("step", ["raw", "mlp", "final"])
def test_what_is_lost_is_the_whole_less_the_rest_on_the_same_pairs(step):
    probe = SimilarityProbe(step=step, **SMALL).fit(*TRAIN)
    distances = probe.layer_distances(TEST.first, TEST.second)
    for place, loss in enumerate(leave_one_layer_out(probe, *TEST)):
        rest = probe.scores_from(distances, without=place)
        expected = pearsonr(probe.scores_from(distances), TEST.scores)[0]
        assert loss.layer == place
        assert loss.lost.value == pytest.approx(expected - pearsonr(rest, TEST.scores)[0])
        assert loss.lost == pearson_difference(probe.scores_from(distances), rest, TEST.scores)


def test_the_raw_step_loses_nothing_but_by_its_own_layer():
    probe = SimilarityProbe(step="raw").fit(*TRAIN)
    for layer, lost in leave_one_layer_out(probe, *TEST):
        if layer == probe.measure_.layer:
            assert lost.low < lost.value < lost.high
        else:
            assert (lost.value, lost.low, lost.high) == (0, 0, 0)


def test_of_a_probe_that_gives_all_the_same_score_no_loss_can_be_told(probe):
    same = [np.repeat(side[:1], 5, axis=0) for side in TEST[:2]]
    for loss in leave_one_layer_out(probe, *same, np.arange(5.0)):
        assert loss.lost == Undefined(reason="one side is constant", n=5)


def test_a_layer_that_is_left_out_has_no_say(probe):
    first = TEST.first.copy()
    first[:, 1] = np.random.default_rng(0).normal(size=(32, 8)) * 100
    distances = [probe.layer_distances(one, TEST.second) for one in (TEST.first, first)]
    dissimilarities = [probe.measure_.dissimilarity(one, without=1) for one in distances]
    assert np.array_equal(*dissimilarities)
    assert not np.array_equal(dissimilarities[0], probe.measure_.dissimilarity(distances[0]))


@pytest.mark.parametrize("step", ["raw", "siamese", "final"])
def test_of_layers_that_all_say_the_same_none_is_missed(step):
    """Without one the dissimilarity is smaller, and that alone is no loss."""
    probe = SimilarityProbe(step=step, **SMALL).fit(*TRAIN)
    if step != "raw":
        # The gate is left out: it has no scale, and a layer less moves it.
        probe.measure_.arrays["out"][:] = 0
        probe.measure_.arrays["weights"][:] = [0.3, -0.5, 0.7]
    one = np.random.default_rng(0).uniform(0, 1, (30, 1))
    distances = np.repeat(one, 3, axis=1)
    for layer in range(3):
        rest = probe.scores_from(distances, without=layer)
        np.testing.assert_allclose(rest, probe.scores_from(distances), rtol=1e-9)


def test_what_is_left_has_the_mean_of_the_whole_by_hand():
    probe = SimilarityProbe(step="raw").fit(*TRAIN)
    probe.measure_ = RawLayer(np.array([0.2, 0.9, 0.5]))
    probe.calibration_ = Calibration()
    # The second layer counts, of mean .4; without it the third, of mean .2, which is doubled.
    distances = np.array([[0.0, 0.2, 0.1], [0.0, 0.6, 0.3]])
    found = probe.scores_from(distances, without=1)
    np.testing.assert_allclose(found, 5 * np.exp([-0.2, -0.6]))
    # Without the first, nothing changes; and where no dissimilarity is left, nothing can.
    np.testing.assert_array_equal(
        probe.scores_from(distances, without=0), probe.scores_from(distances)
    )
    still = distances * np.array([1.0, 1.0, 0.0])
    assert probe.scores_from(still, without=1).tolist() == [5, 5]


def test_of_one_layer_none_can_be_left_out():
    single = [TRAIN.first[:, :1], TRAIN.second[:, :1], TRAIN.scores]
    probe = SimilarityProbe(step="mlp").fit(*single)
    with pytest.raises(SpecError, match="a probe of one layer"):
        leave_one_layer_out(probe, *single)
