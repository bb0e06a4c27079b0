""""""

import math

import numpy as np
import pytest
from hypothesis import given, strategies as st
from reference import squad_reference

from scope.metrics.agreement import (
    best_against_gold,
    character_f1_values,
    cosine_values,
    exact_match_values,
    text_cosine_values,
    text_likeness_values,
    word_f1_values,
)

METRICS = (word_f1_values, character_f1_values, exact_match_values)
every_metric = pytest.mark.parametrize("metric", METRICS, ids=lambda metric: metric.__name__)

answers = st.lists(
    st.sampled_from(["the", "The", "a", "an", "Paris", "paris.", "and", "U.S.", "in", "an-a", "—"]),
    max_size=6,
).map(" ".join)
any_text = st.one_of(answers, st.text(max_size=12))


def value(metric, first, second, **options):
    return float(metric([first], [second], **options)[0])


def test_word_f1_by_hand():
    # "a" twice in one and once in the other is shared once: 2 · 2 / (3 + 2).
    assert value(word_f1_values, "a a b", "b a") == 0.8
    assert value(word_f1_values, "a b", "c d") == 0


def test_character_f1_by_hand_leaves_white_space_out():
    # n, e, w are shared of 3 and of 7 characters; the blank of "new york" is none.
    assert value(character_f1_values, "new", "new york") == 2 * 3 / (3 + 7)
    assert value(character_f1_values, "new york", "newyork") == 1
    assert value(word_f1_values, "new york", "newyork") == 0


def test_case_and_punctuation_count_unless_taken_away():
    assert value(word_f1_values, "The Louvre.", "louvre") == 0
    assert value(word_f1_values, "The Louvre.", "louvre", normalize=True) == 1
    assert value(exact_match_values, "The Louvre.", "louvre", normalize=True) == 1
    assert value(character_f1_values, "a U.S.", "us", normalize=True) == 1


def test_exact_match_does_not_mind_the_order_of_words_as_equality_of_strings_would():
    assert value(exact_match_values, "Paris and Rome", "Rome and Paris") == 1
    assert squad_reference.exact_match("Paris and Rome", "Rome and Paris") == 0


@every_metric
def test_two_empty_texts_match_and_an_empty_one_matches_no_other(metric):
    assert value(metric, "", "") == 1
    assert value(metric, " ", "") == 1
    assert value(metric, "", "Paris") == 0
    assert value(metric, "the", "", normalize=True) == 1


@given(any_text, any_text)
def test_word_f1_with_normalization_is_that_of_squad(first, second):
    expected = squad_reference.f1(first, second)
    assert value(word_f1_values, first, second, normalize=True) == pytest.approx(expected, abs=1e-9)


@given(any_text, any_text)
def test_exact_match_is_that_of_squad_but_for_the_order_of_words(first, second):
    in_order = [
        " ".join(sorted(squad_reference.normalized(text).split())) for text in (first, second)
    ]
    ours = value(exact_match_values, first, second, normalize=True)
    assert ours == float(in_order[0] == in_order[1])
    assert ours >= squad_reference.exact_match(first, second)


@given(any_text, st.lists(any_text, min_size=1, max_size=4))
def test_the_best_of_several_right_answers_counts_as_in_squad(answer, gold):
    def normalized(first, second):
        return word_f1_values(first, second, normalize=True)

    expected = squad_reference.best(squad_reference.f1, answer, gold)
    found = best_against_gold(normalized, [answer], [gold])
    assert found.tolist() == pytest.approx([expected], abs=1e-9)


@given(any_text, any_text, st.booleans())
def test_values_lie_in_the_range_and_both_orders_agree(first, second, normalize):
    for metric in METRICS:
        found = value(metric, first, second, normalize=normalize)
        assert 0 <= found <= 1
        assert found == value(metric, second, first, normalize=normalize)


directions = st.lists(st.floats(-1, 1), min_size=3, max_size=3).filter(
    lambda numbers: math.hypot(*numbers) > 0.1
)


def unit(numbers):
    return np.array(numbers) / math.hypot(*numbers)


def test_cosines_by_hand():
    assert cosine_values([[1, 0], [1, 0]], [[0.6, 0.8], [-0.8, 0.6]]).tolist() == [0.6, -0.8]


@given(st.lists(st.tuples(directions, directions), min_size=1, max_size=5))
def test_cosines_keep_to_their_range_and_to_either_order(pairs):
    first = [unit(one) for one, _ in pairs]
    second = [unit(other) for _, other in pairs]
    values = cosine_values(first, second)
    assert (np.abs(values) <= 1).all()
    np.testing.assert_array_equal(values, cosine_values(second, first))
    rows = zip(first, second, strict=True)
    expected = [sum(p * q for p, q in zip(*pair, strict=True)) for pair in rows]
    np.testing.assert_allclose(values, expected, atol=1e-9)


def test_a_vector_that_is_not_of_length_one_is_refused():
    with pytest.raises(ValueError, match="a vector of length 2, not 1"):
        cosine_values([[1, 0]], [[0, 2]])
    with pytest.raises(ValueError, match="a vector of length nan"):
        cosine_values([[math.nan, 0]], [[0, 1]])


def test_an_empty_text_has_no_meaning_to_compare():
    vectors = {"king": np.array([1.0, 0.0])}
    values = text_cosine_values(["", " ", "", "king"], ["", "", "king", ""], vectors)
    assert values.tolist() == [1, 1, 0, 0]


def test_a_likeness_of_any_kind_is_asked_once_for_what_no_rule_decides():
    asked = []

    def likeness(one, other):
        asked.append((list(one), list(other)))
        return np.array([0.25, 0.5])

    first, second = ["king", "king ", "", "", "ox"], ["queen", "king", " ", "ox", "cow"]
    values = text_likeness_values(first, second, likeness)
    assert values.tolist() == [0.25, 1, 1, 0, 0.5]
    assert asked == [(["king", "ox"], ["queen", "cow"])]


def test_each_answer_is_held_against_its_own_right_answers():
    gold = [["red", "dark red"], ["dark red"], ["", "blue"]]
    values = best_against_gold(word_f1_values, ["dark red", "red", ""], gold)
    assert values.tolist() == pytest.approx([1, 2 / 3, 1])
