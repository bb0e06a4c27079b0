import math

import pytest
from swapping import together

from capabilities.synonym import Synonym
from perturbations.lexicon import stopwords
from perturbations.wordnet import wordnet
from scope.errors import SpecError
from scope.protocols import SearchOptions
from scope.records import Example
from scope.testing import HashedWords

EXAMPLES = tuple(
    Example(id=text, text=text)
    for text in (
        "The big house behind the old church was quickly sold for money.",
        "Bright clothes, small shops and one happy dog!",
        "We were of two minds about it.",
        "A fast car on a wet road needs a careful driver and good luck.",
    )
)
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
    by_id = together(capability, classifier, EXAMPLES, SearchOptions(slots=3))
    return [
        (example, one) for example in EXAMPLES for one in by_id[example.id] if one.text is not None
    ]


@pytest.mark.parametrize(
    "seed", [0, *(pytest.param(one, marks=pytest.mark.slow) for one in (1, 2))]
)
def test_the_paper_preset_swaps_one_word_for_a_synonym_and_no_stopword(seed):
    pairs = found(Synonym(), HashedWords(seed=seed))
    assert len(pairs) >= 9
    for example, one in pairs:
        [(old, new)] = swaps(example, one.text)
        assert old not in stopwords().words
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
        assert all(new in wordnet().synonyms(old) for old, new in changed)
        before, after = classifier.classify([example.text, one.text])
        assert before.label == after.label


def test_the_strong_preset_uses_its_share_up_where_nothing_matters():
    pairs = found(Synonym(preset="strong", max_words=0.3), NOTHING_MATTERS)
    for example, one in pairs:
        words = [word.strip(",.!") for word in example.text.split()]
        may = [word for word in words if word not in stopwords().words]
        may = [word for word in may if wordnet().synonyms(word)]
        if one.trial == 1:  # a later trial must differ, for which it may have to swap fewer
            expected = min(math.ceil(len(words) * 0.3), len(may))
            assert len(swaps(example, one.text)) == expected
    assert sum(one.trial == 1 for _, one in pairs) == len(EXAMPLES)


def test_settings_change_with_the_options_that_count():
    settings = [
        Synonym(),
        Synonym(preset="strong"),
        Synonym(preset="strong", max_words=0.5),
    ]
    assert len({tuple(sorted(one.settings().items())) for one in settings}) == 3
    assert Synonym().settings()["wordnet"].endswith(wordnet().fingerprint)


def test_a_share_of_words_is_refused_where_it_would_do_nothing():
    with pytest.raises(SpecError, match="preset=strong"):
        Synonym(max_words=0.5)


@pytest.mark.parametrize("share", [0, -0.1, 1.01, math.nan])
def test_a_share_of_words_outside_of_its_bounds_is_refused(share):
    with pytest.raises(SpecError) as caught:
        Synonym(preset="strong", max_words=share)
    assert caught.value.found == f"the setting max_words={share}"
    assert caught.value.expected == "a share above 0, at most 1"
    assert caught.value.fix == "correct the value, or omit max_words"


def test_an_unknown_preset_is_refused():
    with pytest.raises(SpecError) as caught:
        Synonym(preset="weak")
    assert str(caught.value) == (
        "found:    the setting preset=weak\n"
        "expected: one of: paper, strong\n"
        "fix:      write for example --setting preset=paper"
    )
