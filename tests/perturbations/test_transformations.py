import random
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from perturbations.transformations import InnerSwaps, WordSynonyms, swap_inner_letters

TEXT = "The weather over the harbour isn't good, but tomorrow looks better."


def attacked(text):
    from textattack.shared import AttackedText

    return AttackedText(text)


def swaps(seed=0, candidates=15, text=TEXT, only=None):
    """The texts that are offered, with these word positions open to change."""
    transformation = InnerSwaps(random.Random(seed), candidates)
    return [one.text for one in transformation(attacked(text), indices_to_modify=only)]


@given(st.text(min_size=0, max_size=12), st.integers(0, 2**32))
def test_a_swap_keeps_letters_length_first_and_last(word, seed):
    swapped = swap_inner_letters(word, random.Random(seed))
    assert sorted(swapped) == sorted(word)
    assert (swapped[:1], swapped[-1:]) == (word[:1], word[-1:])


@given(st.text(min_size=0, max_size=12), st.integers(0, 2**32))
def test_a_swap_changes_exactly_two_letters_unless_all_inner_ones_are_alike(word, seed):
    swapped = swap_inner_letters(word, random.Random(seed))
    differing = [index for index in range(len(word)) if word[index] != swapped[index]]
    assert len(differing) == (2 if len(set(word[1:-1])) > 1 else 0)


def test_every_pair_of_different_inner_letters_can_be_drawn():
    found = {swap_inner_letters("abccd", random.Random(seed)) for seed in range(50)}
    assert found == {"acbcd", "accbd"}


def test_each_pair_of_different_letters_is_drawn_about_equally_often():
    found = Counter(swap_inner_letters("xaabbcx", random.Random(seed)) for seed in range(8000))
    # Eight pairs of different letters; 1000 draws each have a standard deviation of 30.
    assert len(found) == 8
    assert 850 < min(found.values()) < max(found.values()) < 1150


def test_a_word_of_a_hundred_thousand_letters_takes_no_list_of_its_pairs():
    word = "ab" * 50_000
    assert len(swap_inner_letters(word, random.Random(0))) == len(word)


def test_all_words_that_may_be_changed_change_at_once():
    for text in swaps(only={1, 8}):
        changed = [old != new for old, new in zip(TEXT.split(), text.split(), strict=True)]
        assert changed == [index in (1, 8) for index in range(11)]


def test_a_word_whose_inner_letters_are_alike_stays_while_others_change():
    for text in swaps(text="good weather"):
        assert text.startswith("good w")
    assert swaps(text="good") == []


def test_without_a_word_to_change_nothing_is_offered():
    assert swaps(only=set()) == []
    assert swaps(text="?!") == []


def test_candidates_are_new_and_none_is_offered_twice():
    texts = swaps(text="from good wool", candidates=15)
    assert texts == ["form good wool"]
    many = swaps(candidates=100)
    assert TEXT not in many
    assert len(set(many)) == len(many)


@pytest.mark.parametrize("candidates", [1, 5, 15])
def test_as_many_candidates_are_offered_as_asked_for(candidates):
    assert len(swaps(candidates=candidates)) == candidates


def test_the_same_seed_offers_the_same_and_another_seed_something_else():
    assert swaps(seed=3) == swaps(seed=3)
    assert swaps(seed=3) != swaps(seed=4)


def test_another_call_goes_on_with_the_generator():
    transformation = InnerSwaps(random.Random(0), 15)
    text = attacked(TEXT)
    assert [one.text for one in transformation(text)] != [one.text for one in transformation(text)]
    assert transformation.deterministic is False


def test_synonyms_are_offered_in_the_order_of_the_lexicon_without_the_word_itself():
    table = {"old": ("former", "aged", "old"), "boat": ("ship",)}
    transformation = WordSynonyms(lambda word: table.get(word, ()))
    texts = [one.text for one in transformation(attacked("The old boat."))]
    assert texts == ["The former boat.", "The aged boat.", "The old ship."]
