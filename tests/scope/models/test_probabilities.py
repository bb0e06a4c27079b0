import math

import pytest
from hypothesis import given, strategies as st

from scope.models.replies import next_tokens, ranked
from scope.records import Prediction

LIKELIEST = st.lists(
    st.tuples(st.sampled_from(["A", " A", "(B", "The", ""]), st.floats(0, 0.1)), max_size=10
)


def test_no_more_tokens_are_kept_than_were_asked_for():
    prediction = next_tokens([("c", 0.5), ("b", 0.2), ("a", 0.2)], 2, truncated=True)
    assert prediction == Prediction(probabilities=(0.5, 0.2), tokens=("c", "a"), truncated=True)
    assert next_tokens([], 20) == Prediction(probabilities=())


@given(LIKELIEST, st.randoms(use_true_random=False))
def test_next_tokens_do_not_hang_on_the_order_in_which_they_are_told(likeliest, random):
    straight = next_tokens(likeliest, 20)
    shuffled = list(likeliest)
    random.shuffle(shuffled)
    assert next_tokens(shuffled, 20) == straight
    assert list(straight.probabilities) == sorted(straight.probabilities, reverse=True)
    assert len(set(straight.tokens)) == len(straight.tokens)
    assert math.fsum(straight.probabilities) == pytest.approx(
        math.fsum(probability for _, probability in likeliest), abs=1e-5
    )


@given(LIKELIEST)
def test_what_is_rounded_and_ranked_stays_so(likeliest):
    once = next_tokens(likeliest, 20)
    again = next_tokens(zip(once.tokens, once.probabilities, strict=True), 20)
    assert again == ranked(once, 20) == once
