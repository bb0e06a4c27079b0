from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy import stats
from scipy.stats import t
from sklearn.decomposition import PCA

from scope.jobs.fleet.map import community_distances, model_map, nearest_models
from scope.records import Undefined


def grid(seed, models=7):
    """Whole numbers, so that there are twins and equal distances."""
    return np.random.default_rng(seed).integers(0, 3, size=(models, 2)).astype(float)


def names_of(models):
    return [f"m{row:02}" for row in range(models)]


@given(st.integers(0, 10_000), st.integers(0, 9))
def test_neighbours_are_those_of_a_sort_of_all_pairs(seed, count):
    vectors, names = grid(seed), names_of(7)
    found = nearest_models(vectors, names, count=count)
    for row, neighbours in enumerate(found):
        others = sorted(
            (float(np.linalg.norm(vectors[row] - vectors[other])), names[other])
            for other in range(7)
            if other != row
        )
        assert [one.model for one in neighbours] == [name for _, name in others[:count]]
        assert [one.distance for one in neighbours] == pytest.approx(
            [distance for distance, _ in others[:count]]
        )


def vectors_of(seed, models=12, dimensions=5):
    return np.random.default_rng(seed).standard_normal((models, dimensions)) * [5, 3, 1, 0.5, 0.1]


@given(st.integers(0, 10_000))
def test_places_are_principal_components(seed):
    vectors = vectors_of(seed)
    places, shown = model_map(vectors)
    components = PCA(2, svd_solver="full").fit(vectors)
    wanted = components.transform(vectors)
    assert np.abs(places) == pytest.approx(np.abs(wanted))
    assert shown == pytest.approx(components.explained_variance_ratio_.sum())


def test_a_direction_grows_with_its_heaviest_coordinate():
    vectors = np.array([[3.0, 0.0], [-3.0, 0.0], [0.0, 1.0], [0.0, -1.0]])
    for swapped in (vectors, -vectors):
        assert model_map(swapped).places == pytest.approx(swapped)
    assert model_map(vectors[:, ::-1]).places == pytest.approx(vectors)


@pytest.mark.parametrize("models", [1, 4])
def test_models_that_are_all_alike_lie_in_one_place_and_show_nothing(models):
    places, shown = model_map(np.full((models, 3), 0.1))
    assert places.tolist() == [[0, 0]] * models
    assert shown == Undefined(reason="all vectors are equal")


def found_for(vectors, labels, **options):
    """Records by the pair of communities; labels run parallel to the vectors, None for none."""
    names = names_of(len(vectors))
    given_labels = {name: label for name, label in zip(names, labels, strict=True) if label}
    found = community_distances(np.asarray(vectors, float), names, given_labels, **options)
    return {(one.first, one.second): one for one in found}


def test_mean_distances_by_hand():
    found = found_for([[0], [1], [4], [10], [12]], ["x", "x", "x", "y", "y"])
    assert list(found) == [("x", "x"), ("x", "y"), ("y", "y")]
    assert found["x", "x"].distance.value == pytest.approx((1 + 4 + 3) / 3)
    assert found["x", "y"].distance.value == pytest.approx((10 + 9 + 6 + 12 + 11 + 8) / 6)
    assert [one.pairs for one in found.values()] == [3, 6, 1]
    assert [found[pair].distance.n for pair in (("x", "x"), ("x", "y"))] == [3, 5]


def jackknife(values):
    """The variance of a mean from its values without each model."""
    return (len(values) - 1) / len(values) * sum((v - np.mean(values)) ** 2 for v in values)


def test_the_interval_within_is_a_jackknife_over_models():
    vectors = np.random.default_rng(0).standard_normal((6, 3))

    def mean(rows):
        return np.mean([np.linalg.norm(vectors[a] - vectors[b]) for a, b in combinations(rows, 2)])

    error = np.sqrt(jackknife([mean([row for row in range(6) if row != k]) for k in range(6)]))
    distance = found_for(vectors, ["x"] * 6)["x", "x"].distance
    assert distance.value == pytest.approx(mean(range(6)))
    assert distance.high - distance.value == pytest.approx(t.ppf(0.975, 5) * error)
    assert distance.low == pytest.approx(max(0, distance.value - t.ppf(0.975, 5) * error))


def test_the_interval_between_adds_up_both_communities_jackknives():
    vectors = np.random.default_rng(0).standard_normal((7, 3))

    def mean(ones, others):
        pairs = product(ones, others)
        return np.mean([np.linalg.norm(vectors[a] - vectors[b]) for a, b in pairs])

    first, second = range(3), range(3, 7)
    parts = [
        jackknife([mean([row for row in first if row != left], second) for left in first]),
        jackknife([mean(first, [row for row in second if row != left]) for left in second]),
    ]
    freedom = sum(parts) ** 2 / (parts[0] ** 2 / 2 + parts[1] ** 2 / 3)
    distance = found_for(vectors, ["x"] * 3 + ["y"] * 4)["x", "y"].distance
    assert distance.value == pytest.approx(mean(first, second))
    half = t.ppf(0.975, freedom) * sum(parts) ** 0.5
    assert distance.high - distance.value == pytest.approx(half)


def test_a_p_value_is_the_share_of_all_communities_of_the_size():
    vectors = np.array([[0.0], [1.0], [2.0], [3.0], [4.0], [5.0], [6.0], [20.0], [50.0]])
    labels = ["x"] * 7 + [None, "x"]

    def within_less_between(left):
        rows = [row for row in range(9) if row != left]
        within = np.mean([abs(vectors[a] - vectors[b]) for a, b in combinations(rows, 2)])
        return within - np.mean([abs(vectors[row] - vectors[left]) for row in rows])

    differences = np.array([within_less_between(left) for left in range(9)])
    p_value = found_for(vectors, labels, resamples=20_000)["x", "x"].p_value
    assert p_value == pytest.approx((differences <= differences[7] + 1e-9).mean(), abs=0.01)


def test_a_model_may_be_of_several_communities_and_their_common_models_do_not_count_between():
    found = found_for([[0], [1], [4], [10], [12]], ["x", "x", "x; y", "y", "y"])
    assert [one.pairs for one in found.values()] == [3, 4, 3]
    assert found["x", "y"].distance.value == pytest.approx((10 + 12 + 9 + 11) / 4)
    assert found["y", "y"].distance.value == pytest.approx((6 + 8 + 2) / 3)


def test_p_values_are_corrected_by_the_number_of_communities_that_have_one():
    generator = np.random.default_rng(0)
    vectors = generator.standard_normal((40, 3))
    vectors[:8] = vectors[0] + 0.01 * generator.standard_normal((8, 3))
    found = found_for(vectors, ["a"] * 8 + ["b"] * 9 + ["c"] * 10 + ["d"] * 7 + [None] * 6)
    within = [found[name, name] for name in "abcd"]
    assert [one.p_value is None for one in within] == [False, False, False, True]
    p_values = [one.p_value for one in within[:3]]
    assert [one.p_adjusted for one in within[:3]] == pytest.approx(
        stats.false_discovery_control(p_values)
    )
    assert within[3].p_adjusted is found["a", "b"].p_adjusted is None


def test_models_too_few_for_an_interval_are_undefined():
    found = found_for([[0], [1], [4], [5]], ["x", "y", "y", None])
    assert found["x", "x"].distance == Undefined(reason="1 model of x: 3 are needed", n=1)
    assert found["x", "y"].distance == Undefined(reason="1 model of x: 2 are needed", n=1)
    assert found["y", "y"].distance == Undefined(reason="2 models of y: 3 are needed", n=2)
    assert found["x", "x"].p_value is None
    assert found["y", "y"].p_value is None
    assert [one.pairs for one in found.values()] == [0, 2, 1]


def test_models_that_are_all_alike_lie_at_no_distance_for_sure():
    found = found_for(np.ones((12, 2)), ["x"] * 8 + ["y"] * 4)
    for one in found.values():
        assert (one.distance.low, one.distance.value, one.distance.high) == (0, 0, 0)
    assert found["x", "x"].p_value == 1


def test_each_of_many_communities_has_a_hundred_draws():
    """With 999 draws for each of 12, a p-value could not fall low enough for their number."""
    vectors = np.repeat(np.arange(12.0), 8)[:, None]
    found = found_for(vectors, [f"c{row // 8:02}" for row in range(96)])
    assert found["c00", "c00"].p_value == pytest.approx(1 / 1201)
