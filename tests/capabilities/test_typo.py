import pytest
from swapping import together

from capabilities.typo import Typo
from perturbations.lexicon import lexicon_version, stopwords
from scope.protocols import SearchOptions
from scope.records import Example
from scope.testing import HashedWords

PAPER = Typo(preset="paper")
TEXT = "This quiet harbour town, well over 400 years old, has a good market every morning."

pytestmark = pytest.mark.usefixtures("lexicon")


def found(capability=None, classifier=None, text=TEXT, **options):
    capability = capability or PAPER
    classifier = classifier or HashedWords(strength=0.0)
    example = Example(id="e", text=text)
    return together(capability, classifier, [example], SearchOptions(**options))["e"]


def changed(text):
    """The words that are no longer as they were."""
    pairs = zip(TEXT.split(), text.split(), strict=True)
    return {old.strip(",.") for old, new in pairs if old != new}


def expected(min_letters=4):
    """Words long enough, no stopwords, with two different letters inside."""
    return {
        word
        for word in TEXT.replace(",", "").replace(".", "").split()
        if len(word) >= min_letters and word not in stopwords() and len(set(word[1:-1])) > 1
    }


def test_every_longer_word_that_is_no_stopword_has_two_inner_letters_swapped():
    assert {"quiet", "harbour", "market", "morning"} <= expected()
    assert not {"has", "a", "good", "400", "old", "over"} & expected()
    for one in found():
        assert changed(one.text) == expected()
        for old, new in zip(TEXT.split(), one.text.split(), strict=True):
            differing = [place for place in range(len(old)) if old[place] != new[place]]
            assert len(differing) in (0, 2)
            assert sorted(old) == sorted(new)


def test_words_below_the_least_length_stay():
    for one in found(Typo(preset="paper", min_letters=7)):
        assert changed(one.text) == expected(7) == {"harbour", "morning"}


def test_another_seed_gives_other_typos():
    assert found(seed=1) != found(seed=2)
    assert found(seed=1) == found(seed=1)


@pytest.mark.parametrize("share", [0.01, 0.5, 1.0])
def test_neighbours_change_places_in_a_share_of_the_words(share):
    words = max(1, round(share * len({*expected(), "good"} - stopwords())))
    for one in found(Typo(share=share)):
        assert len(changed(one.text)) == min(words, len(expected()))
        assert changed(one.text) <= expected()
        for old, new in zip(TEXT.split(), one.text.split(), strict=True):
            differing = [place for place in range(len(old)) if old[place] != new[place]]
            assert not differing or differing[1] - differing[0] == 1


def test_by_default_and_not_in_the_paper_tokens_stay():
    text = (
        "@captain told bob@harbour.org www.harbour.org/a <user> &quot; Flight1234 boats #wonderful"
    )
    free, bound = (
        [one.text for one in found(one, text=text, trials=2)] for one in (PAPER, Typo(share=1.0))
    )
    assert all("@captain" not in one for one in free)
    for one in bound:
        pairs = list(zip(text.split(), one.split(), strict=True))
        assert {before for before, after in pairs if before != after} == {"told", "boats"}


def test_settings_change_with_every_option():
    options = ({}, {"candidates": 5}, {"min_letters": 6}, {"max_letters": 6}, {"share": 0.9})
    settings = [PAPER, *(Typo(**one) for one in options)]
    assert len({tuple(sorted(one.settings().items())) for one in settings}) == 6
    assert {*Typo().settings()} - {*PAPER.settings()} == {"share"}
    assert Typo().settings()["stopwords"] == lexicon_version("stopwords")


def test_words_beyond_the_greatest_length_stay_and_are_counted():
    blob = "iVBORw0KGgo" * 400
    for one in found(Typo(), text=f"{TEXT} {blob}"):
        assert one.text.endswith(blob)
        assert one.text != f"{TEXT} {blob}"
    assert Typo().left_alone(f"{TEXT} {blob}") == 1
    assert Typo().left_alone(TEXT) == 0
    assert Typo(max_letters=6).left_alone("a sunny morning") == 1


def test_a_text_beyond_the_bound_is_not_searched_and_says_so():
    [one] = found(Typo(), text="tomorrow " * 12_000, trials=1)
    assert (one.text, one.failure) == (None, "the text has more than 100000 characters")
    example = Example(id="0", text="tomorrow " * 12_000)
    assert Typo().estimate_queries(example, SearchOptions(trials=1)) == 0
