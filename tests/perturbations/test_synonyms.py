"""Which words may change, into which, and in which form."""

import pytest

from perturbations.synonyms import (
    ContentWords,
    SameUse,
    WithArticles,
    is_another_word,
    part_in_place,
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
        ("@sailor see http: sofas #sofa me@sofa.org", ["see", "sofas"]),
        ("five sofas, 2nd sofa, 12 miles", ["sofas", "sofa"]),
        ("The NASA sofa, a sofa of Emma from Oslo", ["sofa"]),
        ("an old boat in london by emma", ["old", "boat"]),
        ("I checked in and carried on", []),
        ("I checked, in the harbour", ["checked", "harbour"]),
        ("a well-known x boat's", []),
        ("THE OLD SOFAS", ["OLD", "SOFAS"]),
        ("the customer service waited on me, for help", ["help"]),
        ("hard to help, as soon as possible", ["help", "possible"]),
        ("I do not really need it", ["need"]),
        ("help me find it, help me", ["find", "help"]),
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
        *(("iodine", "i"), ("city", "london"), ("boat", "it"), ("calm", "calmness")),
    ],
)
def test_forms_compounds_derivations_names_and_abbreviations_are_no_other_word(word, new):
    assert not is_another_word(word, new)


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
        ("a trip", "journey", True),
        ("a trip", "travel", False),
        ("the film", "movie", True),
        ("we tried", "attempted", False),
        ("we tried it", "attempted", True),
        ("they told", "stated", False),
        ("the house", "fished", False),
    ],
)
def test_a_new_word_is_used_as_the_old_one(word, new, same):
    words = word.split()
    before, after = changed(word if words[1:] else f"{word} here", words[words[1:] != []], new)
    assert SameUse()._check_constraint(after, before) is same


def test_synonyms_have_the_form_of_the_word_in_a_frequent_sense_of_both():
    assert synonyms_in_form("Changed", "verb", ranks=1) == ("Altered",)
    assert synonyms_in_form("cars", "noun", ranks=0) == ("automobiles", "autos", "motorcars")
    assert "machines" in synonyms_in_form("cars", "noun", ranks=9)
    assert synonyms_in_form("help", "noun", ranks=0) != synonyms_in_form("help", "verb", ranks=0)
    assert synonyms_in_form("qwzx", "noun", ranks=9) == ()


def test_numbers_units_and_names_are_related_to_no_word():
    assert synonyms_in_form("dozen", "noun", ranks=9) == ()
    assert synonyms_in_form("london", "noun", ranks=9) == ()


@pytest.mark.parametrize(
    ("before", "word", "after", "part"),
    [
        ("please", "help", "me", "verb"),
        ("any", "help", "", "noun"),
        ("", "help", "", None),
        ("a", "light", "lamp", "adj"),
        ("is", "light", "", "adj"),
        ("have", "help", "", "noun"),
        ("of", "help", "", "noun"),
        ("so", "happy", "", "adj"),
        ("they", "sleep", "", "verb"),
        ("", "sofa", "", "noun"),
    ],
)
def test_neighbours_tell_the_part_of_speech(before, word, after, part):
    assert part_in_place(word, before, after) == part


@pytest.mark.parametrize(
    ("text", "after"),
    [("a boat", "an ark"), ("A boat", "An ark"), ("boat", "ark"), ("an icy boat", "an icy ark")],
)
def test_an_article_follows(text, after):
    swaps = WithArticles(WordReplacements(lambda word: ["ark"]))
    before = AttackedText(text)
    [found] = swaps._get_transformations(before, [before.words.index("boat")])
    assert found.text == after
