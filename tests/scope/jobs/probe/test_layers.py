import numpy as np
import pytest
import toy_latents
from scipy.stats import pearsonr
from toy_latents import SMALL

from scope.jobs.probe.estimator import (
    Calibration,
    SimilarityProbe,
    align_layers,
    layer_curve,
    leave_one_layer_out,
    linear_cka,
)
from scope.jobs.probe.latents import pearson_difference
from scope.jobs.probe.measures import RawLayer

TOY = toy_latents.pairs()
TRAIN, TEST = TOY.part(0, 128), TOY.part(128, 160)


def cosines(layer):
    first, second = TEST.first[:, layer].astype(float), TEST.second[:, layer].astype(float)
    sizes = np.linalg.norm(first, axis=1) * np.linalg.norm(second, axis=1)
    return (first * second).sum(axis=1) / sizes


def test_a_curve_has_each_layers_correlations():
    for layer, point in enumerate(layer_curve(*TEST)):
        assert point.value == pytest.approx(pearsonr(cosines(layer), TEST.scores)[0])
        assert point.low < point.value < point.high


@pytest.mark.parametrize("step", ["raw", "mlp", "final"])
def test_what_is_lost_is_the_whole_less_the_rest_on_the_same_pairs(step):
    probe = SimilarityProbe(step=step, **SMALL).fit(*TRAIN)
    distances = probe.layer_distances(TEST.first, TEST.second)
    for place, loss in enumerate(leave_one_layer_out(probe, *TEST)):
        rest = probe.scores_from(distances, without=place)
        expected = pearsonr(probe.scores_from(distances), TEST.scores)[0]
        assert loss.value == pytest.approx(expected - pearsonr(rest, TEST.scores)[0])
        assert loss == pearson_difference(probe.scores_from(distances), rest, TEST.scores)


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


LATENTS = toy_latents.sentences(count=20)[1]
OTHERS = np.random.default_rng(1).normal(size=(20, 2, 5)).astype(np.float32)


def slow_cka(first, second):
    """The formula as written: HSIC of two layers over the root of each with itself."""
    count = len(first)

    def kernel(rows):
        rows = rows.astype(np.float64)
        rows = (rows - rows.mean(axis=0)) / rows.std(axis=0)
        centring = np.eye(count) - np.ones((count, count)) / count
        return centring @ rows @ rows.T @ centring

    def hsic(one, other):
        return sum(one[i, j] * other[i, j] for i in range(count) for j in range(count))

    one, other = kernel(first), kernel(second)
    return hsic(one, other) / np.sqrt(hsic(one, one) * hsic(other, other))


def test_the_map_is_that_of_the_formula_layer_by_layer():
    found = linear_cka(LATENTS, OTHERS)
    expected = [[slow_cka(LATENTS[:, i], OTHERS[:, j]) for j in range(2)] for i in range(3)]
    np.testing.assert_allclose(found, expected, rtol=1e-9)


FORTY = toy_latents.sentences(count=40)[1]
ALIKE = FORTY[:, :2, :5] + np.random.default_rng(1).normal(size=(40, 2, 5)).astype(np.float32)


def test_one_seed_gives_the_same_and_another_other_tenths_and_another_shuffled_order():
    one, same, other = (align_layers(FORTY, ALIKE, seed=seed) for seed in (3, 3, 4))
    assert one.margins.tobytes() == same.margins.tobytes()
    assert one.chance == same.chance
    assert one.values.tobytes() == other.values.tobytes()
    assert (one.margins != other.margins).any()
    assert one.chance != other.chance


def test_maps_of_models_that_share_nothing_are_above_chance_in_about_one_of_twenty():
    above = 0
    for seed in range(100):
        first, second = np.random.default_rng(seed).normal(size=(2, 20, 2, 4))
        found = align_layers(first, second, seed=seed)
        above += found.values.max() > found.chance
    assert above <= 12


def test_sentences_of_a_group_are_left_out_together():
    groups = np.repeat(np.arange(10), [1, 2, 3, 4, 5, 5, 5, 5, 5, 5]) * 3
    found = align_layers(FORTY, ALIKE, seed=0, groups=groups)
    kept = [groups != group for group in np.unique(groups)]
    without = np.array([linear_cka(FORTY[rows], ALIKE[rows]) for rows in kept])
    squares = ((without - without.mean(axis=0)) ** 2).sum(axis=0)
    np.testing.assert_allclose(found.margins, 2.262157 * np.sqrt(squares * 9 / 10), rtol=1e-6)
    assert np.array_equal(found.values, linear_cka(FORTY, ALIKE))


def test_chance_is_the_95th_of_the_greatest_values_of_99_shuffled_maps():
    generator = np.random.default_rng(7)
    generator.permutation(40)
    shuffled = [linear_cka(FORTY, ALIKE[generator.permutation(40)]) for _ in range(99)]
    expected = sorted(one.max() for one in shuffled)[94]
    assert align_layers(FORTY, ALIKE, seed=7).chance == pytest.approx(expected, rel=1e-5)
