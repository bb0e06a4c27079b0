import numpy as np
import pytest
from hypothesis import given, strategies as st
from reference import squad_reference

from scope.metrics.gold import best_against_gold
from scope.metrics.overlap import (
    character_f1_values,
    exact_match_values,
    squad_normalized,
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


def test_exact_match_minds_how_often_a_word_stands_there():
    assert value(exact_match_values, "no no", "no") == 0


@every_metric
def test_two_empty_texts_match_and_an_empty_one_matches_no_other(metric):
    assert value(metric, "", "") == 1
    assert value(metric, " ", "") == 1
    assert value(metric, "", "Paris") == 0
    assert value(metric, "the", "", normalize=True) == 1


@every_metric
def test_nothing_to_compare_gives_no_values(metric):
    assert metric([], []).shape == (0,)


@every_metric
def test_unequal_numbers_of_texts_are_refused(metric):
    with pytest.raises(ValueError, match="1 texts are compared with 2"):
        metric(["a"], ["a", "b"])


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


@given(any_text)
def test_texts_are_normalized_as_squad_does(text):
    assert squad_normalized(text) == squad_reference.normalized(text)


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


@given(any_text, any_text, st.booleans())
def test_exact_match_says_that_both_f1_are_one(first, second, normalize):
    both = min(
        value(word_f1_values, first, second, normalize=normalize),
        value(character_f1_values, first, second, normalize=normalize),
    )
    assert value(exact_match_values, first, second, normalize=normalize) == float(both == 1)


@given(st.lists(st.tuples(any_text, any_text), max_size=8), st.randoms())
def test_a_value_depends_on_its_own_two_texts_alone(pairs, random):
    shuffled = random.sample(pairs, len(pairs))
    for metric in METRICS:
        values = metric([one for one, _ in shuffled], [other for _, other in shuffled])
        alone = [value(metric, *pair) for pair in shuffled]
        np.testing.assert_array_equal(values, alone)
