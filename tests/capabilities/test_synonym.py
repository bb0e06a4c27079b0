import math

import pytest
from swapping import together

from capabilities.synonym import OTHER_FIT, Synonym
from perturbations.lexicon import PARTS_OF_SPEECH, lexicon_version, stopwords, wordnet
from perturbations.synonyms import synonyms_in_form
from perturbations.textattack_gate import load_textattack
from scope.errors import SpecError
from scope.jobs.perturbing import _notes
from scope.protocols import SearchOptions
from scope.records import Example, Perturbation
from scope.testing import AlikeWords, HashedWords

load_textattack()


EXAMPLES = tuple(
    Example(id=text, text=text)
    for text in (
        "The big house behind the old church was quickly sold for money.",
        "Bright clothes, small shops and one happy dog!",
        "We were of two minds about it.",
        "A fast car on a wet road needs a careful driver and good luck.",
    )
)
OPTIONS = SearchOptions(parallel_texts=3, encoder=AlikeWords())
NOTHING_MATTERS = HashedWords(strength=0.0)

pytestmark = pytest.mark.usefixtures("lexicon")


def swaps(example, text):
    """The words that were replaced, and by what."""
    words, others = example.text.split(), text.split()
    return [
        (old.strip(",.!"), new.strip(",.!"))
        for old, new in zip(words, others, strict=True)
        if old != new
    ]


def found(capability, classifier):
    by_id = together(capability, classifier, EXAMPLES, OPTIONS)
    return [
        (example, one) for example in EXAMPLES for one in by_id[example.id] if one.text is not None
    ]


@pytest.mark.parametrize(
    "seed", [0, *(pytest.param(one, marks=pytest.mark.slow) for one in (1, 2))]
)
def test_the_paper_preset_swaps_one_word_for_a_synonym_and_no_stopword(seed):
    pairs = found(Synonym(preset="paper"), HashedWords(seed=seed))
    assert len(pairs) >= 9
    for example, one in pairs:
        [(old, new)] = swaps(example, one.text)
        assert old not in stopwords()
        assert new in wordnet().synonyms(old)


@pytest.mark.parametrize(
    "max_words", [0.1, *(pytest.param(one, marks=pytest.mark.slow) for one in (0.3, 1.0))]
)
def test_the_strong_preset_stays_within_its_share_and_keeps_the_label(max_words):
    classifier = HashedWords(seed=1)
    pairs = found(Synonym(preset="strong", max_words=max_words), classifier)
    assert pairs
    for example, one in pairs:
        changed = swaps(example, one.text)
        assert 1 <= len(changed) <= math.ceil(len(example.text.split()) * max_words)
        assert all(
            any(new in synonyms_in_form(old, part, ranks=1) for part in PARTS_OF_SPEECH)
            for old, new in changed
        )
        before, after = classifier.classify([example.text, one.text])
        assert before.label == after.label


def test_settings_change_with_the_options_that_count():
    settings = [
        Synonym(),
        Synonym(preset="paper"),
        Synonym(sense="frequent"),
        Synonym(min_fit=0.5),
        Synonym(preset="strong"),
        Synonym(preset="strong", max_words=0.5),
    ]
    assert len({tuple(sorted(one.settings().items())) for one in settings}) == len(settings)
    assert Synonym().settings()["wordnet"] == lexicon_version("wordnet")


class FitsBy:
    """An encoder by which each word fits as well as a table has it, others not at all."""

    spec, fingerprint = "python:fits", "fits"

    def __init__(self, fits):
        self.fits, self.asked = fits, []

    def encode(self, texts):
        raise AssertionError("no similarity of whole texts is asked for")

    def compare_words(self, swaps):
        self.asked.extend(swaps)
        return [self.fits.get(one.word, 0.0) for one in swaps]


def search(text, fits, **settings):
    encoder = FitsBy(fits)
    options = SearchOptions(encoder=encoder, trials=2)
    (trials,) = Synonym(**settings).search(NOTHING_MATTERS, [Example(id="e", text=text)], options)
    return trials, encoder


def test_the_words_that_fit_best_are_swapped_in_and_their_cosine_is_kept():
    fits = {"automobile": 0.9, "auto": 0.89}
    (first, second), encoder = search("The car is his.", fits)
    assert {first.text, second.text} == {"The automobile is his.", "The auto is his."}
    assert {first.similarity, second.similarity} == {0.9, 0.89}
    assert first.compared == len(encoder.asked) == second.compared


def test_an_article_follows_the_new_word_and_is_no_change_of_its_own():
    (first, _), _ = search("It is a car.", {"automobile": 0.9})
    assert first.text == "It is an automobile."


def test_a_text_in_which_no_word_fits_is_not_applicable_for_that_reason():
    (first, _), _ = search("The car is his.", {})
    assert (first.text, first.applicable) == (None, False)
    assert first.failure == "no candidate: no synonym of a word fits its place"


@pytest.mark.parametrize(
    "text", ["@user @user #boat", "We http://boats.com", "It is what it is.", "12 km!"]
)
def test_a_text_without_a_word_of_its_own_sense_is_not_applicable(text):
    (first, _), encoder = search(text, {"vessel": 1.0})
    assert (first.text, first.applicable, encoder.asked) == (None, False, [])


def test_without_an_encoder_words_of_the_most_frequent_sense_count():
    frequent = Synonym().for_encoder(None)
    assert "most frequent sense" in frequent.caution
    assert Synonym().caution == Synonym(preset="paper").caution == ""
    assert Synonym(preset="paper").for_encoder(None) == Synonym(preset="paper")
    example = Example(id="e", text="The couch was old.")
    (trials,) = frequent.search(NOTHING_MATTERS, [example], SearchOptions(trials=1))
    assert trials[0].text == "The sofa was old."


def test_a_search_without_the_encoder_that_it_needs_is_refused():
    with pytest.raises(SpecError, match="without an encoder of words in context"):
        list(Synonym().search(NOTHING_MATTERS, EXAMPLES, SearchOptions()))


def test_each_encoder_has_a_bound_of_its_own_unless_one_is_given():
    assert Synonym().for_encoder("hf:mine/all-mpnet-base-v2").min_fit == 0.85
    assert Synonym().for_encoder("hf:another").min_fit == OTHER_FIT
    assert Synonym(min_fit=0.0).for_encoder("hf:another").min_fit == 0.0
    assert Synonym(preset="paper").for_encoder("hf:another").min_fit is None


def test_a_bound_on_the_fit_is_refused_where_no_encoder_measures_it():
    with pytest.raises(SpecError, match=r"min_fit=0\.8 without an encoder"):
        Synonym(min_fit=0.8).for_encoder(None)


def test_swaps_that_make_up_much_of_a_run_are_named():
    texts = ["A car", "the car.", "so glad", "?"]
    examples = [Example(id=text, text=text) for text in texts]
    changed = ["An automobile", "the automobile.", "so happy", None]
    trials = [
        Perturbation(example_id=text, trial=1, text=new, failure=None if new else "none")
        for text, new in zip(texts, changed, strict=True)
    ]
    note = "the most frequent changes: car → automobile 67%"
    assert _notes(Synonym(), examples, trials, -1) == note
