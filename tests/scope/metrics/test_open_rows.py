import numpy as np
import pytest
from hypothesis import given, strategies as st

from scope.metrics.open_rows import open_rows, widened
from scope.records import Prediction


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
