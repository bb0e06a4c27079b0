import pytest
from hypothesis import given
from hypothesis import strategies as st

from scope.data.blanks import FUNCTION_WORDS, blank
from scope.records import BLANK


def words_taken(sentence):
    return {made[1] for seed in range(60) if (made := blank(sentence, seed))}


@pytest.mark.parametrize(
    ("sentence", "words"),
    [
        ("The old sailor feared the storm.", {"old", "sailor", "feared", "storm"}),
        ("Sailors feared the Storm, and the storm came.", {"feared", "came"}),
        ("The rabbit fell down the rabbit-hole quickly.", {"fell", "quickly"}),
        ("He didn't like Anna's well-known 3rd house.", {"house"}),
        ("The ox saw an ant.", {"saw", "ant"}),
        ("The door--the gate--was open.", {"door", "gate", "open"}),
        ("“The café”, she wrote, ‘closes’.", {"café", "wrote", "closes"}),
    ],
)
def test_every_word_that_qualifies_is_taken_by_some_seed_and_no_other(sentence, words):
    assert words_taken(sentence) == words


@pytest.mark.parametrize("sentence", ["It is what it is.", "Storm.", "", "3 4 5 6.", "A? I! So..."])
def test_without_such_a_word_there_is_no_blank(sentence):
    assert blank(sentence, 0) is None


def test_the_same_seed_takes_the_same_word():
    sentence = "The old sailor feared the coming storm."
    assert blank(sentence, 5) == blank(sentence, 5)


def test_every_word_is_taken_about_equally_often():
    sentence = "The old sailor feared the storm."
    taken = [blank(sentence, seed)[1] for seed in range(400)]
    # Binomial with 400 draws of 1/4: mean 100, standard deviation 8.7.
    assert all(60 < taken.count(word) < 140 for word in ("old", "sailor", "feared", "storm"))


def test_the_list_of_function_words_is_in_lower_case():
    assert {word.casefold() for word in FUNCTION_WORDS} == FUNCTION_WORDS
    assert {"the", "and", "not", "would"} < FUNCTION_WORDS


@given(st.text(alphabet="abAB ,-'’é"), st.integers(0, 9))
def test_the_word_put_back_gives_the_sentence(sentence, seed):
    made = blank(sentence, seed)
    if made:
        text, word = made
        assert text.count(BLANK) == 1
        assert text.replace(BLANK, word) == sentence
        assert len(word) >= 3
        assert word.isalpha()
