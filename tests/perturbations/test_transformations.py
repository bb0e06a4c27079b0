import random
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, strategies as st
from swapping import WordSwaps, together

from perturbations.search import BestCandidate
from perturbations.transformations import ChangedWords, WordReplacements, swap_inner_letters
from scope.errors import SpecError
from scope.protocols import SearchOptions
from scope.records import Example
from scope.testing import HashedWords

TEXT = "The weather over the harbour isn't good, but tomorrow looks better."


def attacked(text):
    from textattack.shared import AttackedText

    return AttackedText(text)


def swaps(seed=0, candidates=15, text=TEXT, only=None, share=None):
    """The texts that are offered, with these word positions open to change."""
    transformation = ChangedWords(swap_inner_letters, random.Random(seed), candidates, share=share)
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


def test_each_pair_of_different_letters_is_drawn_about_equally_often():
    found = Counter(swap_inner_letters("xaabbcx", random.Random(seed)) for seed in range(8000))
    # Eight pairs of different letters; 1000 draws each have a standard deviation of 30.
    assert len(found) == 8
    assert 850 < min(found.values()) < max(found.values()) < 1150


def test_a_word_of_a_hundred_thousand_letters_takes_no_list_of_its_pairs():
    word = "ab" * 50_000
    assert len(swap_inner_letters(word, random.Random(0))) == len(word)


def test_a_word_that_cannot_change_gives_way_to_another():
    assert swaps(text="good wool form", share=0.3) == ["good wool from"]


def test_candidates_are_new_and_none_is_offered_twice():
    texts = swaps(text="from good wool", candidates=15)
    assert texts == ["form good wool"]
    many = swaps(candidates=100)
    assert TEXT not in many
    assert len(set(many)) == len(many)


def test_synonyms_are_offered_in_the_order_of_the_lexicon_without_the_word_itself():
    table = {"old": ("former", "aged", "old"), "boat": ("ship",)}
    transformation = WordReplacements(lambda word: table.get(word, ()))
    texts = [one.text for one in transformation(attacked("The old boat."))]
    assert texts == ["The former boat.", "The aged boat.", "The old ship."]


ANGLES = {"film": 0, "movie": 30, "picture": 60, "dog": 90, "fly": 180}


class AngleEncoder:
    """Puts each one-word text on the circle at a known angle."""

    spec = "test:angles"
    fingerprint = "angles"

    def __init__(self) -> None:
        self.asked: list[list[str]] = []

    def encode(self, texts):
        self.asked.append(list(texts))
        angles = np.radians([ANGLES[text] for text in texts])
        return np.stack([np.cos(angles), np.sin(angles)], axis=1)


@pytest.fixture
def capability() -> WordSwaps:
    return WordSwaps(method=BestCandidate, table={"film": ("dog", "fly", "movie", "picture")})


def search(capability, **options):
    example = Example(id="e", text="film")
    nothing_matters = HashedWords(strength=0.0)
    return together(capability, nothing_matters, [example], SearchOptions(**options))["e"]


@pytest.mark.parametrize(
    ("least", "words"),
    [
        (0.866025, ["movie"]),
        (0.5, ["movie", "picture"]),
        (0.0, ["dog", "movie", "picture"]),
        (-1.0, ["dog", "fly", "movie", "picture"]),
    ],
)
def test_a_search_finds_the_texts_at_the_bound_of_similarity_and_above(capability, least, words):
    # Cosines 0.866025, 0.5, 0 and -1 at six decimals.
    trials = search(capability, encoder=AngleEncoder(), min_similarity=least, trials=5)
    assert [trial.text for trial in trials if trial.text] == words
    assert "earlier trial" in trials[-1].failure


def test_where_no_text_is_similar_enough_the_failure_says_so(capability):
    found = search(capability, encoder=AngleEncoder(), min_similarity=0.99, trials=1)
    assert found[0].failure == "no candidate: no change of the text meets the constraints"
    assert found[0].applicable


def test_an_encoder_without_a_bound_is_not_asked(capability):
    encoder = AngleEncoder()
    assert [one.text for one in search(capability, encoder=encoder, trials=1)] == ["dog"]
    assert encoder.asked == []


def test_a_bound_without_an_encoder_is_refused(capability):
    with pytest.raises(SpecError, match=r"a minimum similarity of 0\.5 without an encoder"):
        search(capability, min_similarity=0.5)
