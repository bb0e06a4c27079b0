"""Two answers of one model at two times differ a little, or not at all."""

import math

import numpy as np
import pytest

from scope.answers.asking import (
    difference_of_answers,
    difference_of_numbers,
    difference_of_predictions,
)
from scope.records import Answer, Prediction


def tokens(**shares):
    return Prediction(probabilities=tuple(shares.values()), tokens=tuple(shares))


def test_a_token_that_one_names_alone_had_at_most_the_others_least_probability():
    one, other = tokens(a=0.5, b=0.2, c=0.1), tokens(a=0.5, b=0.2, d=0.1005)
    assert difference_of_predictions(one, other) == pytest.approx(0.0005)
    assert difference_of_predictions(one, tokens(a=0.5, b=0.05)) == pytest.approx(0.15)


def test_choices_are_compared_by_probabilities_where_both_have_them():
    one = Answer(choice=0, probabilities=(0.75, 0.25))
    other = Answer(choice=0, probabilities=(0.625, 0.375))
    assert difference_of_answers(one, other) == 0.125
    assert difference_of_answers(one, Answer(choice=0)) == 0
    assert difference_of_answers(one, Answer(choice=1)) == math.inf


def test_vectors_of_another_shape_or_without_numbers_are_another_models():
    row = np.ones(3, dtype=np.float32)
    assert difference_of_numbers(row, row) == 0
    assert difference_of_numbers(row, np.ones(4, dtype=np.float32)) == math.inf
    assert difference_of_numbers(row, row * np.float32(math.nan)) == math.inf
