from hypothesis import given, strategies as st

from scope.records import Prediction
from scope.records.examples import shift_distance


def predicted(*probabilities):
    return Prediction(probabilities=probabilities)


def says(**shares):
    return Prediction(tokens=tuple(shares), probabilities=tuple(shares.values()))


def test_a_distance_compares_shifts_not_probabilities():
    # The reference moves by (-0.5, +0.5), the target by (-0.25, +0.25).
    reference = (predicted(1.0, 0.0), predicted(0.5, 0.5))
    target = (predicted(0.5, 0.5), predicted(0.25, 0.75))
    assert shift_distance(reference, target) == 0.5


@given(st.lists(st.floats(0, 1), min_size=4, max_size=4))
def test_a_distance_to_oneself_is_zero_and_it_is_symmetric(values):
    a, b, c, d = (predicted(value, 1 - value) for value in values)
    assert shift_distance((a, b), (a, b)) == 0
    assert shift_distance((a, b), (c, d)) == shift_distance((c, d), (a, b)) <= 4


def test_a_distance_of_language_models_goes_over_the_tokens_of_all_four_answers_and_the_rest():
    # The reference: a -0.25, b +0.125, rest +0.125. The target: a -0.25, c +0.25.
    reference = (says(a=0.5), says(a=0.25, b=0.125))
    target = (says(a=0.5), says(c=0.25, a=0.25))
    assert shift_distance(reference, target) == 0.125 + 0.25 + 0.125
