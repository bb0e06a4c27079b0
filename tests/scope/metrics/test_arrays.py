import numpy as np
import pytest

from scope.metrics.arrays import checked_labels, checked_probabilities, predicted_labels


@pytest.mark.parametrize(
    "row", [[0.5, 0.6], [0.5, 0.4], [np.nan, 1.0], [np.inf, 0.0], [1.5, -0.5], [1e308, 1e308]]
)
def test_a_row_that_is_no_distribution_is_named(row):
    with pytest.raises(ValueError, match="answers: row 1 is"):
        checked_probabilities("answers", [[0.5, 0.5], row, [0.9, 0.9]])


def test_rows_may_miss_a_sum_of_one_by_rounding():
    assert checked_probabilities("answers", [[0.33334, 0.33334, 0.33334]]).shape == (1, 3)
    with pytest.raises(ValueError, match="row 0"):
        checked_probabilities("answers", [[0.3334, 0.34, 0.34]])


def test_half_precision_rows_are_normalised_in_double_precision():
    rows = np.array([[0.1, 0.1, 0.8], [0.5, 0.25, 0.25]], dtype=np.float16) * np.float16(1.002)
    checked = checked_probabilities("answers", rows)
    assert checked.sum(axis=1) == pytest.approx(1, abs=1e-12)
    assert checked == pytest.approx(np.array([[0.1, 0.1, 0.8], [0.5, 0.25, 0.25]]), abs=3e-4)


def test_single_precision_rows_become_double():
    rows = np.array([[0.1, 0.9]], dtype=np.float32)
    assert checked_probabilities("answers", rows).dtype == np.float64


@pytest.mark.parametrize("shape", [(2,), (2, 0), (1, 2, 2)])
def test_rows_have_two_dimensions(shape):
    with pytest.raises(ValueError, match="not \\(texts, labels\\)"):
        checked_probabilities("answers", np.full(shape, 0.5))


@pytest.mark.parametrize("labels", [[0.0, 1.0], [-1, 0], ["a", "b"], [True, False]])
def test_labels_are_whole_numbers_from_zero(labels):
    with pytest.raises(ValueError, match="whole numbers"):
        checked_labels("gold", labels)


def test_labels_have_one_dimension():
    with pytest.raises(ValueError, match="not \\(texts,\\)"):
        checked_labels("gold", [[0, 1]])


def test_of_equal_probabilities_the_first_label_is_chosen():
    assert predicted_labels([[0.4, 0.4, 0.2], [0.2, 0.4, 0.4]]).tolist() == [0, 1]


def test_no_rows_have_no_labels():
    assert predicted_labels([]).tolist() == []
    assert predicted_labels(np.empty((0, 3))).tolist() == []
