"""Capabilities that write a text otherwise: case, marks, characters, mistakes, additions."""

import random
import unicodedata
from collections import Counter

import pytest
from swapping import together

from capabilities.casing import FORMS, Casing, everywhere
from capabilities.distractor import ADDED, Distractor
from capabilities.keyboard import Keyboard, doubled
from capabilities.punctuation import Punctuation
from capabilities.unicode import LOOK_ALIKE, Unicode, look_alikes
from perturbations.search import admissible_changes
from scope.protocols import SearchOptions
from scope.records import Example
from scope.testing import HashedWords


def search(capability, text):
    """Three trials on a model for which nothing matters."""
    example, options = Example(id="e", text=text), SearchOptions(trials=3)
    return together(capability, HashedWords(strength=0.0), [example], options)["e"]


def differing(before, after):
    return [(a, b) for a, b in zip(before.split(), after.split(), strict=True) if a != b]


@pytest.mark.parametrize(
    ("capability", "text", "reason"),
    [
        (Casing(), "很好的电影", "no letter has another case"),
        (Keyboard(), "Замечательный фильм о море", "not in Latin letters"),
        (Distractor(), "хороший фильм", "not in Latin letters"),
        (Distractor(), " ".join(ADDED["sentence"]), "a word of each sentence is in the text"),
    ],
)
def test_a_text_of_another_kind_is_not_applicable(capability, text, reason):
    assert {(trial.failure, trial.applicable) for trial in search(capability, text)} == {
        (reason, False)
    }


def test_only_added_sentences_depend_on_the_text():
    for text in ("хороший фильм", " ".join(ADDED["sentence"])):
        assert Distractor(what="link").not_applicable(text) is None


MISSED = "Don't miss @her 'new' film"


def test_one_word_changes_its_case_and_nothing_else():
    texts = [trial.text for trial in search(Casing(), MISSED)]
    assert len({MISSED, *texts}) == 4
    for text in texts:
        assert text.lower() == MISSED.lower()
        assert len(differing(MISSED, text)) == 1
        assert "@her" in text
    for trial in search(Casing(form="upper"), MISSED):
        assert all(after == before.upper() for before, after in differing(MISSED, trial.text))


@pytest.mark.parametrize(
    ("form", "text"),
    [("lower", "don't miss @her 'new' film"), ("title", "Don't Miss @her 'new' Film")],
)
def test_all_words_take_a_form_but_handles(form, text):
    assert everywhere(FORMS[form], MISSED) == text
    assert text in [trial.text for trial in search(Casing(words="all"), MISSED)]


@pytest.mark.parametrize("text", [".@her film", "(@her film)", '"#new film"'])
def test_handles_behind_a_mark_keep_their_case(text):
    assert everywhere(str.upper, text) == text.replace("film", "FILM")
    for trial in search(Casing(), text):
        assert trial.text is None or text.split()[0] in trial.text


@pytest.mark.parametrize(
    ("marks", "text", "others"),
    [
        ("final", "A film.", ["A film"]),
        ("final", "A film!", ["A film!!"]),
        ("final", "A film?!", []),
        ("final", "A film", ["A film."]),
        ("final", "A film. #new", ["A film #new"]),
        ("final", "A film by @her!", []),
        ("final", '"A film."', ['"A film"']),
        ("final", "A film? Why? In the U.S.", []),
        ("final", "A film...", []),
        ("commas", "sad, dull, and slow", ["sad, dull and slow"]),
        ("commas", "dull , but short", ["dull but short"]),
        ("commas", "It's slow but it ends", ["It's slow, but it ends"]),
        ("commas", "It's slow but it ends .", ["It's slow , but it ends ."]),
        ("commas", "slow but short, in the end, which it is", []),
        ("quotes", "I don't", ["I dont", "I don’t"]),
        ("quotes", "I don’t", ["I don't"]),
        ("quotes", "does n't", ["does n’t"]),
        ("quotes", "“new” films", ['"new" films']),
        ("quotes", '" new " films', ["“ new ” films"]),
        ("dashes", "a slow-paced, re-cut film", ["a slow paced, re-cut film"]),
        ("dashes", "slow - and dull", ["slow — and dull"]),
        ("dashes", "well…", ["well..."]),
        ("dashes", "see https://t.co/a-b, @x-y", []),
    ],
)
def test_marks_are_dropped_added_or_written_otherwise(marks, text, others):
    texts = dict.fromkeys(Punctuation(marks=marks).rewritten(text))
    assert [other for other in texts if other != text] == others


@pytest.mark.parametrize(("what", "words"), [("sentence", 6), ("handle", 1), ("link", 1)])
def test_every_addition_of_a_kind_is_as_large_a_change(what, words):
    texts = list(Distractor(what=what, where="any").extended("A wonderful film"))
    assert len(set(texts)) == 2 * len(ADDED[what]) == 20
    assert {len(text.split()) - 3 for text in texts} == {words}
    after = Distractor(what=what).extended("A film")  # the default
    assert all(text.startswith("A film") for text in after)


@pytest.mark.parametrize(
    ("settings", "text", "extended"),
    [
        ({}, "A film", "A film. {}"),
        ({}, "A film (long)", "A film (long). {}"),
        ({}, '"A film!"', '"A film!" {}'),
        ({}, "A film!", "A film! {}"),
        ({"where": "before"}, "A film", "{} A film"),
        ({"what": "handle"}, "A film", "A film @user2041"),
    ],
)
def test_a_text_without_an_end_gets_one_before_a_sentence(settings, text, extended):
    sentence = ADDED["sentence"][0]
    assert next(Distractor(**settings).extended(text)) == extended.format(sentence)


def test_a_sentence_follows_the_case_of_the_text_and_shares_no_word_with_it():
    assert next(Distractor().extended("a film .")) == f"a film . {ADDED['sentence'][0].lower()}"
    texts = Distractor().extended("THE LIBRARY LENDS ME FILMS")
    assert not any("library" in text for text in texts)


BOATS = "a wonderful picture of 2 boats @sea"


def test_every_look_alike_is_a_cyrillic_letter_of_the_same_case():
    for letter, other in LOOK_ALIKE.items():
        assert unicodedata.name(other).startswith("CYRILLIC")
        assert letter.isupper() == other.isupper()
    assert look_alikes("brn") == []


def test_one_letter_is_exchanged_or_one_of_each_word_but_handles_and_numbers():
    for trial in search(Unicode(), BOATS):
        letters = [(a, b) for a, b in zip(BOATS, trial.text, strict=True) if a != b]
        assert [LOOK_ALIKE[a] for a, _ in letters] == [b for _, b in letters]
        assert len(letters) == 1
    for trial in search(Unicode(words="all"), BOATS):
        changed = [before for before, _ in differing(BOATS, trial.text)]
        assert changed == ["a", "wonderful", "picture", "of", "boats"]


@pytest.mark.parametrize("words", ["one", "all"])
def test_invisible_characters_leave_the_letters(words):
    for trial in search(Unicode(kind="invisible", words=words), BOATS):
        hidden = [letter for letter in trial.text if letter in "\u200b\u200c\u200d"]
        assert "".join(letter for letter in trial.text if letter not in hidden) == BOATS
        # A word of one letter has no inside.
        assert len(hidden) == (1 if words == "one" else 4)


HARBOUR = "@nobody said the harbour of Portsmouth99 had 4000 wonderful visitors #harbour"


def mistyped(capability, text, seed=0):
    generator = random.Random(seed)
    attack = capability.attack(
        lambda texts: [[0.5, 0.5]] * len(texts), generator=generator, options=SearchOptions()
    )
    return [changed.text for changed in admissible_changes(attack, text)]


def test_only_words_without_marks_and_digits_are_mistyped_one_error_each():
    for text in mistyped(Keyboard(max_words=3), HARBOUR):
        changed = differing(HARBOUR, text)
        assert 1 <= len(changed) <= 3
        assert {before for before, _ in changed} <= {"harbour", "wonderful", "visitors"}
        assert all(abs(len(before) - len(after)) <= 1 for before, after in changed)
        assert all(before[0] == after[0] for before, after in changed)


def test_errors_are_as_common_as_among_misspellings():
    counts = Counter(
        (len(text) - len("wonderful"), sorted(text) == sorted("wonderful"))
        for seed in range(60)
        for text in mistyped(Keyboard(max_words=1), "wonderful", seed)
    )
    # Different texts are counted: the rare kinds have more of them left in each draw.
    omitted, transposed, typed_twice, neighbour = (-1, False), (0, True), (1, False), (0, False)
    assert counts[omitted] > counts[transposed] > counts[typed_twice] > 0
    assert counts[neighbour] > 0
    assert doubled("a") == []
