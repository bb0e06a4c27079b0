import math
import random
import re

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st
from swapping import together

from perturbations.search import admissible_changes
from scope.errors import SpecError
from scope.protocols import Capability, ComparesWords, SearchOptions
from scope.records import Example
from scope.registry import BUILT_IN, find
from scope.testing import AlikeWords, HashedWords, check_capability

SENTENCES = (
    "The big house behind the old church was quickly sold for money.",
    "This quiet harbour town, well over 400 years old, has a good market every morning.",
    "Nobody in the room could explain why the second half was so very dull.",
    "It is what it is.",
    "?!",
)
NAMES = sorted(BUILT_IN["capabilities"])
ASKED = {"paraphrase": {"model": "python:toy_paraphrasers:Paraphraser", "min_meaning": -1.0}}
"""Settings of those that cannot do without."""


@pytest.fixture(params=NAMES)
def capability(request, lexicon) -> Capability:
    return find("capabilities", request.param).target(**ASKED.get(request.param, {}))


def test_a_built_in_capability_keeps_the_rules(capability):
    # Searches word by word take long: some texts suffice for them.
    ranked = capability.name.startswith(("synonym", "textattack"))
    few = [Example(id=text, text=text) for text in SENTENCES[2:]]
    check_capability(capability, few if ranked else None)


def test_a_built_in_capability_has_its_name_in_the_registry(capability):
    assert find("capabilities", capability.name).target is type(capability)


ODD = (
    ">>>>>>>> <<<<<<<", "thanks", "\u200b", "…", "🙂🙂", "这部电影很好看", "Ünïcödé naïve café",
    "l'été d'Anna", "a<br /><br />b &amp; c", "tab\there\nnew line", "'''", "can't won't it's",
    "O'Neil-Smith's", "1,000.50 € on 2024-02-30", "@user #tag https://a.b/c?d=e&f", "A" * 100_000,
    "İstanbul ıssız", "e\u0301tude", "\u202eabc", "snake_case_word other", "ﬁnal ofﬁce",
)  # fmt: skip


def test_odd_texts_change_within_words_or_are_left_out(capability):
    options = SearchOptions(encoder=AlikeWords(), trials=1)
    examples = [Example(id=text, text=text) for text in ODD]
    found = [trial for (trial,) in capability.search(HashedWords(), examples, options)]
    assert sorted(trial.example_id for trial in found) == sorted(ODD)
    for trial in found:
        assert trial.text != trial.example_id
        assert trial.text or trial.failure
        between = ("contraction", "distractor", "paraphrase", "punctuation")
        if trial.text and capability.name not in between:
            assert re.findall(r"\s+", trial.text) == re.findall(r"\s+", trial.example_id)


@pytest.mark.parametrize(
    ("name", "settings", "message"),
    [
        ("casing", {"form": "camel"}, "one of: any, upper, lower, title"),
        ("casing", {"words": "some"}, "one of: one, all"),
        ("contraction", {"direction": "up"}, "direction=up"),
        ("distractor", {"what": "poem"}, "one of: sentence, handle, link"),
        ("distractor", {"where": "inside"}, "one of: any, before, after"),
        ("identity", {"category": "taste"}, "category=taste"),
        ("inflection", {"change": "x"}, "change=x"),
        ("keyboard", {"max_words": 0}, "the setting max_words=0\nexpected: a whole"),
        ("keyboard", {"min_letters": 1}, "the setting min_letters=1"),
        ("name", {"gender": "x"}, "gender=x"),
        ("name", {"candidates": 0}, "candidates=0"),
        ("number", {"spread": 0.0}, "spread 0.0"),
        ("paraphrase", {"samples": 9}, "omit"),
        ("paraphrase", {"max_length_ratio": 0.5}, "omit"),
        ("place", {"region": "moon"}, "region=moon"),
        ("punctuation", {"marks": "brackets"}, "one of: any, final, commas, quotes, dashes"),
        ("punctuation", {"extent": "some"}, "one of: one, all"),
        ("synonym", {"preset": "weak"}, "one of: valid, paper, strong"),
        ("synonym", {"preset": "strong", "max_words": 1.01}, "above 0 and at most 1"),
        ("synonym", {"preset": "strong", "max_words": math.nan}, "above 0 and at most 1"),
        ("synonym", {"max_words": 0.5}, "preset=strong"),
        ("synonym", {"preset": "paper", "sense": "frequent"}, "add --setting preset=valid"),
        ("synonym", {"preset": "paper", "min_fit": 0.5}, "add --setting preset=valid"),
        ("synonym", {"sense": "frequent", "min_fit": 0.5}, "add --setting sense=context"),
        ("synonym", {"source": "vectors:"}, "vectors:FILE"),
        ("synonym", {"max_perplexity": 3.0}, "together with language_model=MODEL"),
        ("synonym", {"language_model": "gguf:x", "max_perplexity": math.nan}, "a number above 0"),
        ("typo", {"preset": "some"}, "one of: valid, paper"),
        ("typo", {"share": 0.0}, "above 0 and at most 1"),
        ("typo", {"preset": "paper", "share": 0.3}, "preset=valid, or omit share"),
        ("typo", {"candidates": 1001}, "1001 candidates"),
        ("typo", {"min_letters": 3}, "words from 3 to 100 letters"),
        ("typo", {"max_letters": 3}, "words from 4 to 3 letters"),
        ("typo", {"max_letters": 10**6}, "words from 4 to 1000000 letters"),
        ("unicode", {"kind": "emoji"}, "one of: homoglyph, invisible"),
        ("unicode", {"candidates": 0}, "from 1 to 1000"),
    ],
)
def test_a_wrong_setting_or_one_that_would_do_nothing_is_refused(name, settings, message):
    with pytest.raises(SpecError) as caught:
        find("capabilities", name).target(**settings)
    assert message in str(caught.value)


def test_settings_name_the_files_that_words_come_from(capability):
    if "stopwords" not in capability.settings():
        pytest.skip("no words from files")
    source, fingerprint = capability.settings()["stopwords"].split()
    assert source in ("nltk", "scikit-learn", "sklearn")
    assert len(fingerprint) >= 12


def candidates(capability, text, seed):
    """Every text that one search of a capability may begin with."""
    generator = random.Random(seed)
    attack = capability.attack(
        lambda texts: [[0.5, 0.5]] * len(texts), generator=generator, options=SearchOptions()
    )
    return {one.text for one in admissible_changes(attack, text)}


def test_the_example_of_a_built_in_capability_is_what_it_may_find(capability):
    if capability.name in ASKED:
        pytest.skip("what it finds is another model's")
    before, after = capability.example
    assert capability.not_applicable(before) is None
    assert any(after in candidates(capability, before, seed) for seed in range(200))


# Emphasis on what texts are made of; anything else comes as it may.
PIECES = [
    "good",
    "film",
    "It's",
    "don’t",
    "well-made",
    "@her",
    "#tag",
    "https://t.co/x",
    "3.5",
    ",",
    "!!",
    "...",
    "—",
    "ﬁne",
    "İstanbul",
    "naïve",
    "很好",
    "хорошо",
    "\u200b",
    "😀",
    "<SPLIT>",
]
TEXTS = st.text(min_size=1, max_size=40).filter(str.strip) | st.lists(
    st.sampled_from(PIECES), min_size=1, max_size=8
).map(" ".join)


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=TEXTS)
def test_any_text_is_searched_or_has_a_reason(capability, text):
    classifier, options = HashedWords(), SearchOptions(trials=2, encoder=AlikeWords())
    example = Example(id="e", text=text)
    [kept] = capability.search(classifier, [example], options)
    [drawn] = capability.draw_random([example], options)
    for trials in (kept, drawn):
        found = [one.text for one in trials if one.text is not None]
        assert len({text, *found}) == 1 + len(found)


@pytest.mark.parametrize("trials", [pytest.param(1, marks=pytest.mark.slow), 3])
def test_a_built_in_capability_estimates_its_queries_within_a_third(capability, trials):
    """Those of a ranked search depend on the model: on one sentence they may differ by more."""
    if isinstance(capability, ComparesWords):
        capability = capability.for_encoder(None)
    classifiers, options = (
        [HashedWords(seed=seed) for seed in range(5)],
        SearchOptions(trials=trials),
    )
    examples = [Example(id=text, text=text) for text in SENTENCES]
    estimate = sum(capability.estimate_queries(example, options) for example in examples)
    for classifier in classifiers:
        together(capability, classifier, examples, options)
    queries = [len({text for texts in one.asked for text in texts}) for one in classifiers]
    assert estimate == pytest.approx(sum(queries) / len(queries), rel=1 / 3)
