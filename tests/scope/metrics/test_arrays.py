""""""

import numpy as np
import pytest
from hypothesis import given, strategies as st

from scope.metrics.arrays import (
    checked_labels,
    checked_option_rows,
    checked_probabilities,
    most_probable,
    open_rows,
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


@pytest.mark.parametrize("labels", [[0.0, 1.0], [-1, 0], ["a", "b"], [True, False]])
def test_labels_are_whole_numbers_from_zero(labels):
    with pytest.raises(ValueError, match="whole numbers"):
        checked_labels("gold", labels)


def test_of_equal_probabilities_the_first_label_is_chosen():
    assert most_probable(np.array([[0.4, 0.4, 0.2], [0.2, 0.4, 0.4]])).tolist() == [0, 1]


def says(**shares):
    """A prediction of these tokens, ordered as a language model's are."""
    ranked = sorted(shares, key=lambda token: (-shares[token], token))
    return Prediction(tokens=tuple(ranked), probabilities=tuple(shares[token] for token in ranked))


def test_columns_are_the_union_by_name_and_the_rest_comes_last():
    rows = open_rows([says(sea=0.5, war=0.25), says(end=0.5, sea=0.5), says(air=0.125)])
    # air, end, sea, war, rest
    assert rows.tolist() == [[0, 0, 0.5, 0.25, 0.25], [0, 0.5, 0.5, 0, 0], [0.125, 0, 0, 0, 0.875]]


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


def test_a_chance_behind_the_last_option_is_refused():
    with pytest.raises(ValueError, match="any: row 1 gives more than 2 options a chance"):
        checked_option_rows("any", [[0.5, 0.5, 0], [0.5, 0.3, 0.2]], [2, 2])
