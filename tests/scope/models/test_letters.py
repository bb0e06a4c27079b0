import math

import pytest
from hypothesis import given, strategies as st

from scope.models.replies import (
    LEAST_MASS,
    MOST_OPTIONS,
    Position,
    option_probabilities,
    spelled_option,
    written_letter,
)


@pytest.mark.parametrize(
    "text",
    [
        "B",
        "B.",
        "(B) because",
        "B. Vitamin A and C",
        "the correct ANSWER IS (B).",
        "**Answer:** B",
        "The answer is 'B'.",
        "I think the answer is B, since A is wrong",
        "I would take option B: a cat",
        "Option B - a cat",
        "Option A is wrong. The answer is B.",
        "So the answer is $\\boxed{\\text{B}}$.",
    ],
)
def test_a_letter_that_is_written_as_the_answer_counts(text):
    found = written_letter(text, MOST_OPTIONS)
    assert found is not None
    assert found.option == 1
    assert text[found.place] == "B"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "b",
        "A cat",
        "I",
        "B, not C",
        "(A) or (B)",
        "Option A or option B",
        "The answer is A, B",
        "The answer is A cat",
        "The answer is A-level maths",
        "Answer: I'm sorry",
        "It is not option B",
        "Answer: Z",
    ],
)
def test_a_letter_in_other_words_is_no_answer(text):
    assert written_letter(text, 25 if text != "I" else 4) is None


@pytest.mark.parametrize(
    ("text", "option"),
    [
        ("  paris.\n\nIt lies on the Seine.", 1),
        ("**Rome**", 0),
        ("I", 2),
        ("", None),
        ("...", None),
    ],
)
def test_an_option_in_full_counts_as_that_option(text, option):
    assert spelled_option(text, ("Rome", "Paris", "I", "Oslo", "oslo.", "...")) == option


def at(token, **likeliest):
    return Position(token=token, likeliest=tuple(likeliest.items()))


def probabilities(positions, options, text=None):
    """Of a reply whose text is that of its tokens, or another one."""
    said = "".join(one.token for one in positions).strip() if text is None else text
    return option_probabilities(positions, options, said, written_letter(said, options))


def test_spellings_of_a_letter_are_added_up_by_hand():
    position = Position(
        token=" B", likeliest=((" B", 0.3), ("B", 0.1), ("(B", 0.1), ("A", 0.2), ("The", 0.2))
    )
    # B has 0.5 and A 0.2 of 0.7; C is not among the likeliest.
    assert probabilities([position], 3) == (0.285714, 0.714286, 0.0)


def test_a_letter_within_words_is_not_where_the_answer_is_written():
    words = [at("I", A=0.1, I=0.9), at(" think"), at(" A", A=0.9), at(" cat"), at(". Answer:")]
    written = at(" B", A=0.25, B=0.75)
    assert probabilities([*words, written], 9)[:2] == (0.25, 0.75)
    assert probabilities(words, 9) == ()


@pytest.mark.parametrize(
    ("positions", "text", "shares"),
    [
        # Tokens around the text do not matter.
        ([at("<s>", A=1.0), at(" B", A=0.25, B=0.75), at("</s>", A=1.0)], "B", (0.25, 0.75)),
        ([at("<reasoning>", A=1.0)], "B", ()),
        ([at("B. cat", A=0.4)], None, ()),
    ],
)
def test_probabilities_are_those_of_a_token_that_is_the_letter(positions, text, shares):
    assert probabilities(positions, 2, text) == shares


def test_without_a_written_letter_the_first_position_counts_where_letters_are_likelier():
    positions = [at("It", Is=0.5), at(" is", C=0.4), at(" so", A=0.3, B=0.3), at("!", C=1.0)]
    assert probabilities(positions, 3) == (0.5, 0.5, 0.0)


@pytest.mark.parametrize(
    ("likeliest", "shares"),
    [
        ({"I": 0.999, "B": 1e-9}, ()),
        ({"A": 0.0}, ()),
        ({"A": LEAST_MASS - 0.01}, ()),
        ({"A": LEAST_MASS}, (1.0, 0.0)),
    ],
)
def test_letters_that_are_not_likely_are_no_choice(likeliest, shares):
    assert probabilities([at("It", **likeliest), at(" is")], 2) == shares
    assert probabilities([], 2) == ()


LIKELIEST = st.lists(
    st.tuples(st.sampled_from(["A", " A", "(B", "C.", "D", "The", ""]), st.floats(0.001, 1)),
    max_size=20,
)


@given(LIKELIEST, st.integers(2, 26), st.sampled_from(["x", "A"]))
def test_probabilities_sum_to_1_or_there_are_none(likeliest, options, token):
    found = probabilities([Position(token=token, likeliest=tuple(likeliest))], options)
    assert found == () or (len(found) == options and math.fsum(found) == pytest.approx(1, abs=1e-9))
