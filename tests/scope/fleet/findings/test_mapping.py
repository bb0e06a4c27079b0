import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.distance import pdist
from sklearn.decomposition import PCA

from scope.fleet.findings.mapping import model_map
from scope.records import Undefined


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


@given(st.integers(0, 10_000))
def test_the_map_does_not_depend_on_the_order_of_the_models(seed):
    vectors = vectors_of(seed)
    order = np.random.default_rng(seed).permutation(len(vectors))
    assert model_map(vectors[order]).places == pytest.approx(model_map(vectors).places[order])


@given(st.integers(0, 10_000))
def test_distances_on_the_map_are_none_too_long(seed):
    vectors = vectors_of(seed)
    assert (pdist(model_map(vectors).places) <= pdist(vectors) + 1e-9).all()


def test_vectors_of_two_coordinates_are_shown_whole():
    vectors = vectors_of(0)[:, :2]
    places, shown = model_map(vectors)
    assert pdist(places) == pytest.approx(pdist(vectors))
    assert shown == pytest.approx(1)


def test_a_direction_grows_with_its_heaviest_coordinate():
    vectors = np.array([[3.0, 0.0], [-3.0, 0.0], [0.0, 1.0], [0.0, -1.0]])
    for swapped in (vectors, -vectors):
        assert model_map(swapped).places == pytest.approx(swapped)
    assert model_map(vectors[:, ::-1]).places == pytest.approx(vectors)


def test_one_coordinate_lies_on_a_line():
    places, shown = model_map(np.array([[0.2], [0.6], [0.4]]))
    assert places == pytest.approx(np.array([[-0.2, 0], [0.2, 0], [0, 0]]))
    assert shown == pytest.approx(1)


@pytest.mark.parametrize("models", [1, 4])
def test_models_that_are_all_alike_lie_in_one_place_and_show_nothing(models):
    places, shown = model_map(np.full((models, 3), 0.1))
    assert places.tolist() == [[0, 0]] * models
    assert shown == Undefined(reason="all vectors are equal")


def test_what_is_no_table_of_vectors_is_refused():
    for wrong in (np.zeros(3), np.zeros((0, 3)), np.full((2, 2), np.nan)):
        with pytest.raises(ValueError, match="one row a model"):
            model_map(wrong)
