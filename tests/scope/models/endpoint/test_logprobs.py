import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scope.models.endpoint.logprobs import (
    next_tokens,
    option_in,
    option_of,
    option_probabilities,
)
from scope.models.endpoint.replies import Position


def at(token, **likeliest):
    return Position(token=token, likeliest=tuple(likeliest.items()))


@pytest.mark.parametrize(
    "token", ["B", " B", "B.", "(B", "B)", "(B)", "**B", "`B`", '"B"', "B:", "\nB", "[B]"]
)
def test_a_letter_is_known_with_what_stands_around_it(token):
    assert option_of(token, 4) == 1


@pytest.mark.parametrize("token", ["", " ", "b", "BB", "Be", "E", "1", "B C", "Б"])
def test_other_tokens_are_no_options(token):
    assert option_of(token, 4) is None


@pytest.mark.parametrize(
    ("text", "option"),
    [
        ("B", 1),
        ("(C) because", 2),
        ("**D**", 3),
        ("I would say B, not C", 1),
        ("Because", None),
        ("E", None),
        ("b", None),
        ("", None),
    ],
)
def test_the_first_letter_that_stands_by_itself_is_chosen(text, option):
    assert option_in(text, 4) == option


def test_spellings_of_a_letter_are_added_up_by_hand():
    position = Position(
        token=" B", likeliest=((" B", 0.3), ("B", 0.1), ("(B", 0.1), ("A", 0.2), ("The", 0.2))
    )
    # B has 0.5 and A 0.2 of 0.7; C is not among the likeliest.
    assert option_probabilities([position], 3) == (0.285714, 0.714286, 0.0)


def test_they_are_read_where_the_letter_is_written():
    before = at("**", A=0.1)
    written = at("B", A=0.2, B=0.6)
    assert option_probabilities([before, written], 2) == (0.25, 0.75)


def test_without_a_written_letter_the_first_likely_one_counts():
    positions = [at("It", Is=0.5), at("is", C=0.1), at("so", A=0.9)]
    assert option_probabilities(positions, 3) == (0.0, 0.0, 1.0)


@pytest.mark.parametrize("positions", [[], [at("The", The=0.9)], [at("A", A=0.0)]])
def test_without_any_likely_letter_there_are_no_probabilities(positions):
    assert option_probabilities(positions, 3) == ()


LIKELIEST = st.lists(
    st.tuples(st.sampled_from(["A", " A", "(B", "C.", "D", "The", ""]), st.floats(0.001, 1)),
    max_size=20,
)


@given(LIKELIEST, st.integers(2, 26))
def test_probabilities_sum_to_1_or_there_are_none(likeliest, options):
    found = option_probabilities([Position(token="x", likeliest=tuple(likeliest))], options)
    assert found == () or (
        len(found) == options and math.fsum(found) == pytest.approx(1, abs=options * 1e-6)
    )


@given(LIKELIEST, st.randoms(use_true_random=False))
def test_next_tokens_do_not_hang_on_the_order_in_which_they_are_told(likeliest, random):
    shuffled = list(dict(likeliest).items())
    straight = next_tokens(Position(token="x", likeliest=tuple(shuffled)), 20)
    random.shuffle(shuffled)
    assert next_tokens(Position(token="x", likeliest=tuple(shuffled)), 20) == straight
    assert list(straight.probabilities) == sorted(straight.probabilities, reverse=True)


def test_no_more_tokens_are_kept_than_were_asked_for():
    prediction = next_tokens(at("c", c=0.5, b=0.2, a=0.2), 2)
    assert prediction.tokens == ("c", "a")
    assert prediction.probabilities == (0.5, 0.2)
