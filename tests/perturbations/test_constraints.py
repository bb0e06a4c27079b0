"""The words that fit a place best, and what of a text decides how they fit."""

from perturbations.textattack_gate import load_textattack
from perturbations.transformations import FIT_MARGIN, FitsContext, swap_in_sentence

load_textattack()

from textattack.shared import AttackedText  # noqa: E402

ORIGINAL = AttackedText("An old boat sank. It was old.")


def swapped(*words, place=2):
    return [ORIGINAL.replace_word_at_index(place, word) for word in words]


def admitted(fits, texts, min_fit=0.6):
    constraint = FitsContext(lambda swaps: [fits[one.word] for one in swaps], min_fit)
    kept = constraint._check_constraint_many(texts, ORIGINAL)
    return [text.words for text in kept], constraint


def test_words_within_the_margin_of_the_best_are_admitted():
    fits = {"ship": 0.8, "ferry": 0.8 - FIT_MARGIN, "raft": 0.7, "dish": 0.1}
    kept, constraint = admitted(fits, swapped(*fits))
    assert [words[2] for words in kept] == ["ship", "ferry"]
    assert constraint.refused
    assert len(constraint.compared) == 4
    assert set(constraint.similarities.values()) == set(fits.values())


def test_nothing_below_the_bound_is_admitted():
    assert admitted({"ship": 0.59}, swapped("ship"))[0] == []


def test_each_place_has_its_own_best_word():
    texts = [*swapped("ship"), *swapped("aged", place=1)]
    kept, _ = admitted({"ship": 0.9, "aged": 0.7}, texts)
    assert [words[1:3] for words in kept] == [["old", "ship"], ["aged", "boat"]]


def test_of_several_changed_words_the_least_fit_is_kept():
    fits = {"ship": 0.7, "aged": 0.9}
    constraint = FitsContext(lambda swaps: [fits[one.word] for one in swaps], 0.6)
    [first] = constraint._check_constraint_many(swapped("ship"), ORIGINAL)
    second = first.replace_word_at_index(1, "aged")
    [both] = constraint._check_constraint_many([second], ORIGINAL)
    assert constraint.similarities[both.text] == 0.7


def test_a_long_sentence_is_cut_on_both_sides():
    text = "word " * 100 + "boat" + " word" * 100
    swap = swap_in_sentence(text, 500, "boat", "ship")
    assert len(swap.text) == 160 + 4 + 160
    assert swap.text[swap.start : swap.end] == "boat"
