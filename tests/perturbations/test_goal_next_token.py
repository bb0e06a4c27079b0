"""The goal on language models: the label is the likeliest next token."""

import math

import pytest

from scope.records import Prediction


def says(**shares):
    return Prediction(tokens=tuple(shares), probabilities=tuple(shares.values()))


ANSWERS = {
    "fine": says(sea=0.4, end=0.2),
    "good": says(sea=0.3, war=0.2),
    "poor": says(end=0.4, sea=0.3),
    "more": says(sea=0.1, air=0.1, end=0.05, war=0.05, sky=0.01),
    "less": says(sea=0.2),
    "tied": says(end=0.3, sea=0.3),
}


def test_a_text_is_admitted_only_if_the_likeliest_token_stays(succeeded):
    assert succeeded(ANSWERS, "good", "poor", "more", "less") == [True, False, True, True]


def test_the_mass_of_tokens_that_are_not_named_is_never_the_prediction(succeeded):
    # Of "less" 0.8 goes to other tokens, of "more" 0.69: more than to any that is named.
    assert succeeded(ANSWERS, "more", original="less") == [True]
    assert succeeded(ANSWERS, "poor", original="less") == [False]


def test_of_tokens_that_are_equally_probable_the_first_counts(succeeded):
    assert succeeded(ANSWERS, "tied") == [False]
    assert succeeded(ANSWERS, "tied", original="poor") == [True]


def test_the_distance_is_taken_over_both_answers_tokens_and_the_rest(judged):
    # sea 0.1, end 0.2, war 0.2, rest |0.4 - 0.5| = 0.1: 0.6
    # sea 0.3, air 0.1, end 0.15, war 0.05, sky 0.01, rest |0.4 - 0.69| = 0.29: 0.9
    # sea 0.2, end 0.2, rest |0.4 - 0.8| = 0.4: 0.8
    scores = [one.score for one in judged(ANSWERS, "good", "more", "less")]
    assert scores == [pytest.approx(1 / (1 + moved), abs=1e-6) for moved in (0.6, 0.9, 0.8)]


def test_kl_goes_over_the_same_columns(judged):
    # A token that is not named counts a millionth.
    by_hand = (
        0.4 * math.log(0.4 / 0.3)
        + 0.2 * math.log(0.2 / 1e-6)
        + 1e-6 * math.log(1e-6 / 0.2)
        + 0.4 * math.log(0.4 / 0.5)
    )
    [result] = judged(ANSWERS, "good", distance="kl")
    assert result.score == pytest.approx(1 / (1 + by_hand), abs=1e-6)
