"""Which words may change, into which, and in which form."""

import pytest

from perturbations.synonyms import (
    AnotherWord,
    ContentWords,
    SameForm,
    WithArticles,
    is_another_word,
    synonyms_in_form,
)
from perturbations.textattack_gate import load_textattack
from perturbations.transformations import WordReplacements

load_textattack()

from textattack.shared import AttackedText  # noqa: E402

pytestmark = pytest.mark.usefixtures("lexicon")


@pytest.mark.parametrize(
    ("text", "may_change"),
    [
        ("We waited and THEY waited", ["waited", "waited"]),
        ("@sailor see http boats #boat me@boat.org", ["see", "boats"]),
        ("five boats, 2nd boat, 12 miles", ["boats", "boat"]),
        ("The NASA boat of Emma from Oslo", ["boat"]),
        ("an old boat in london by emma", ["old", "boat"]),
        ("I checked in and carried on", []),
        ("I checked, in the harbour", ["checked", "harbour"]),
        ("a well-known x boat's", []),
        ("OLD BOATS SINK", ["OLD", "BOATS", "SINK"]),
    ],
)
def test_words_with_a_sense_of_their_own_may_change(text, may_change):
    attacked = AttackedText(text)
    places = ContentWords()._get_modifiable_indices(attacked)
    assert [attacked.words[place] for place in sorted(places)] == may_change


def changed(text, word, new):
    before = AttackedText(text)
    return before, before.replace_word_at_index(before.words.index(word), new)


@pytest.mark.parametrize(
    ("word", "new"),
    [
        *(("fell", "falls"), ("boat", "Boat"), ("drop", "drop-off"), ("fly", "housefly")),
        *(("help", "helper"), ("precious", "preciously"), ("physician", "md"), ("I", "1")),
        *(
            ("iodine", "i"),
            ("city", "london"),
            ("boat", "it"),
            ("calm", "calmness"),
        ),
    ],
)
def test_forms_compounds_derivations_names_and_abbreviations_are_no_other_word(word, new):
    assert not is_another_word(word, new)
    before, after = changed(f"the {word} here", word, new)
    assert not AnotherWord()._check_constraint(after, before)


@pytest.mark.parametrize(
    ("word", "new"), [("sofa", "couch"), ("fell", "dropped"), ("glad", "happy"), ("Boat", "Ship")]
)
def test_other_words_are(word, new):
    assert is_another_word(word, new)


@pytest.mark.parametrize(
    ("word", "new", "same"),
    [
        ("changed", "altered", True),
        ("changed", "alter", False),
        ("boats", "ships", True),
        ("bigger", "larger", True),
        ("Boat", "ship", False),
    ],
)
def test_number_tense_comparison_and_capital_are_the_form(word, new, same):
    before, after = changed(f"{word} here", word, new)
    assert SameForm()._check_constraint(after, before) is same


def test_synonyms_have_the_form_of_the_word():
    assert {"altered", "modified"} <= set(synonyms_in_form("changed"))
    assert {"alter", "change"}.isdisjoint(synonyms_in_form("changed"))
    assert "Vessel" in synonyms_in_form("Boat")
    assert "vessels" not in synonyms_in_form("boat")
    assert "church" in synonyms_in_form("cathedral")
    assert synonyms_in_form("qwzx") == ()


def test_numbers_units_and_names_are_related_to_no_word():
    assert synonyms_in_form("dozen") == synonyms_in_form("london") == ()


@pytest.mark.parametrize(
    ("text", "after"),
    [
        ("a boat", "an ark"),
        ("A boat", "An ark"),
        ("boat", "ark"),
        ("an icy boat", "an icy ark"),
    ],
)
def test_an_article_follows(text, after):
    swaps = WithArticles(WordReplacements(lambda word: ["ark"]))
    before = AttackedText(text)
    [found] = swaps._get_transformations(before, [before.words.index("boat")])
    assert found.text == after
