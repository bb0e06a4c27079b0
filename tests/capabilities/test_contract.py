import json

import pytest
from swapping import together

from scope.protocols import Capability, SearchOptions
from scope.records import Example
from scope.registry import BUILT_IN, find
from scope.testing import HashedWords, check_capability

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
    check_capability(capability)


def test_a_built_in_capability_has_its_name_in_the_registry(capability):
    assert find("capabilities", capability.name).target is type(capability)


def test_settings_can_be_written_as_json(capability):
    settings = dict(capability.settings())
    assert json.loads(json.dumps(settings)) == settings


def test_settings_name_the_files_that_words_come_from(capability):
    if "stopwords" not in capability.settings():
        pytest.skip("uses no stopwords")
    source, fingerprint = capability.settings()["stopwords"].split()
    assert source in ("nltk", "scikit-learn", "sklearn")
    assert len(fingerprint) >= 12


@pytest.mark.parametrize("trials", [1, 3])
def test_a_built_in_capability_estimates_its_queries_within_a_third(capability, trials):
    """Those of a ranked search depend on the model: on one sentence they may differ by more."""
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
