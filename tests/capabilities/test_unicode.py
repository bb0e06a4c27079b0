import unicodedata

import pytest
from swapping import together

from capabilities.unicode import LOOK_ALIKE, Unicode, look_alikes
from scope.errors import SpecError
from scope.protocols import SearchOptions
from scope.records import Example
from scope.testing import HashedWords

TEXT = "a wonderful picture of 2 boats @sea"


def found(capability):
    example = Example(id="e", text=TEXT)
    options = SearchOptions(trials=3)
    return together(capability, HashedWords(strength=0.0), [example], options)["e"]


def test_every_look_alike_is_a_cyrillic_letter_of_the_same_case():
    for letter, other in LOOK_ALIKE.items():
        assert unicodedata.name(other).startswith("CYRILLIC")
        assert letter.isupper() == other.isupper()


def test_one_letter_is_exchanged():
    for one in found(Unicode()):
        differing = [(a, b) for a, b in zip(TEXT, one.text, strict=True) if a != b]
        assert len(differing) == 1
        assert LOOK_ALIKE[differing[0][0]] == differing[0][1]


def test_all_words_but_handles_and_numbers_change_where_that_is_asked_for():
    for one in found(Unicode(words="all")):
        changed = [a for a, b in zip(TEXT.split(), one.text.split(), strict=True) if a != b]
        assert changed == ["a", "wonderful", "picture", "of", "boats"]


@pytest.mark.parametrize("words", ["one", "all"])
def test_invisible_characters_leave_the_letters(words):
    for one in found(Unicode(kind="invisible", words=words)):
        hidden = [letter for letter in one.text if letter in "\u200b\u200c\u200d"]
        assert "".join(letter for letter in one.text if letter not in hidden) == TEXT
        # A word of one letter has no inside.
        assert len(hidden) == (1 if words == "one" else 4)


def test_words_without_a_look_alike_have_none():
    assert look_alikes("brn") == []


def test_unknown_choices_are_refused():
    with pytest.raises(SpecError, match="one of: homoglyph, invisible"):
        Unicode(kind="emoji")
    with pytest.raises(SpecError, match="from 1 to 1000"):
        Unicode(candidates=0)
