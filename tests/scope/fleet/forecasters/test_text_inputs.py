import numpy as np
import pytest
import toy_fleet

from scope.fleet.forecasters.item_response import ItemResponse
from scope.fleet.forecasters.kernels import MIXES, Mix
from scope.fleet.layout import QuestionLayout

TWO_CATEGORIES = QuestionLayout(vector=4, features=("one", "two"), categories=("a", "b"), encoder="toy")


def questions(count=80):
    """Vectors, two features on scales of their own, and a category: none tells of another."""
    table, _ = toy_fleet.fleet(questions=count)
    generator = np.random.default_rng(1)
    beside = generator.standard_normal((count, 2)) * [100, 0.01] + [1000, 0]
    codes = generator.integers(0, 2, size=count)
    return np.column_stack([table, beside, codes]).astype(np.float32)


def learned(table, targets, layout=TWO_CATEGORIES, **parameters):
    made = ItemResponse(layout=layout, **parameters)
    return made, made._learn_kernel(table, targets.astype(np.float32))


@pytest.mark.parametrize("column", range(7))
def test_the_likeness_that_tells_most_of_the_targets_is_taken(column):
    table = questions()
    made, _ = learned(table, np.tanh(table[:, [column]] - table[:, [column]].mean()))
    mix = Mix(*made.mix_.tolist())
    assert mix in MIXES
    if column < 4:
        assert mix == Mix()
    elif column < 6:
        assert mix.features
    else:
        assert mix.category


def test_inputs_have_the_kernel_as_their_products():
    table = questions(30)
    made, basis = learned(table, table[:, :1])
    inputs = made._likeness_times(table, basis)
    kernel = made._likeness_times(table, np.eye(30, dtype=np.float32))
    assert inputs @ inputs.T == pytest.approx(kernel, abs=1e-3)


def test_there_are_as_many_landmarks_as_asked_for():
    made, basis = learned(questions(), questions()[:, :1], landmarks=7)
    assert made.landmark_vectors_.shape == (7, 4)
    assert basis.shape[0] == 7


def test_the_unit_of_a_feature_does_not_count():
    table = questions()
    scaled = table.copy()
    scaled[:, 4] = 8 * table[:, 4] - 64
    targets = np.tanh(table[:, 4:5] / 100 - 10)
    likeness = []
    for one in (table, scaled):
        made, basis = learned(one, targets)
        likeness.append(made._likeness_times(one, basis @ basis.T))
    assert likeness[0] == pytest.approx(likeness[1], abs=0.02)


def test_without_features_and_categories_the_vector_alone_counts():
    table = questions()[:, :4]
    made, _ = learned(table, table[:, :1], layout=toy_fleet.TWO_CATEGORIES)
    assert Mix(*made.mix_.tolist()) == Mix()
    assert made.feature_centre_.shape == (0,)
