""""""

import numpy as np
import pytest
from hypothesis import given, strategies as st

from scope.metrics.arrays import (
    checked_labels,
    checked_option_rows,
    checked_probabilities,
    open_rows,
    predicted_labels,
    widened,
)
from scope.records import Prediction


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


def says(**shares):
    """A prediction of these tokens, ordered as a language model's are."""
    ranked = sorted(shares, key=lambda token: (-shares[token], token))
    return Prediction(tokens=tuple(ranked), probabilities=tuple(shares[token] for token in ranked))


def test_columns_are_the_union_by_name_and_the_rest_comes_last():
    rows = open_rows([says(sea=0.5, war=0.25), says(end=0.5, sea=0.5), says(air=0.125)])
    # air, end, sea, war, rest
    assert rows.tolist() == [
        [0, 0, 0.5, 0.25, 0.25],
        [0, 0.5, 0.5, 0, 0],
        [0.125, 0, 0, 0, 0.875],
    ]


def test_rounding_never_leaves_less_than_nothing_for_the_rest():
    assert open_rows([says(a=0.50004, b=0.50004)])[0, -1] == 0


def test_no_predictions_give_no_rows():
    assert open_rows([]).shape == (0, 1)


def test_widened_rows_keep_their_tokens_and_their_rest_where_they_were():
    rows = open_rows([says(a=0.5), says(b=0.75)])
    assert widened(rows, 5).tolist() == [[0.5, 0, 0, 0, 0.5], [0, 0.75, 0, 0, 0.25]]
    assert widened(rows, 3) is not rows
    assert widened(rows, 3).tolist() == rows.tolist()


answers = st.dictionaries(st.sampled_from("abcdef"), st.integers(1, 4), min_size=1).map(
    lambda parts: says(**{token: part / 32 for token, part in parts.items()})
)


@given(st.lists(answers, min_size=1, max_size=4))
def test_rows_sum_to_one_and_their_greatest_token_is_the_choice_in_any_company(predictions):
    rows = open_rows(predictions)
    assert rows.sum(axis=1) == pytest.approx(1)
    names = sorted({token for one in predictions for token in one.tokens})
    labels = [names[place] for place in np.argmax(rows[:, :-1], axis=1)]
    assert labels == [one.choice for one in predictions]


def test_rows_off_by_rounding_are_made_to_sum_to_one():
    rows, counts = checked_option_rows("any", [[0.50004, 0.5], [0.0, 1.0]], None)
    np.testing.assert_allclose(rows.sum(axis=1), 1, atol=1e-15)
    assert counts.tolist() == [2, 2]


def test_a_chance_behind_the_last_option_is_refused():
    with pytest.raises(ValueError, match="any: row 1 gives more than 2 options a chance"):
        checked_option_rows("any", [[0.5, 0.5, 0], [0.5, 0.3, 0.2]], [2, 2])


def test_there_is_one_number_of_options_a_row():
    with pytest.raises(ValueError, match="any: 1 rows for 2 numbers of options"):
        checked_option_rows("any", [[0.5, 0.5]], [2, 2])


def test_what_is_no_distribution_is_refused():
    with pytest.raises(ValueError, match="any: row 0"):
        checked_option_rows("any", [[0.5, 0.6]], None)
