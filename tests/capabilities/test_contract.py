import json

import pytest

from scope.protocols import Capability
from scope.registry import BUILT_IN, find
from scope.testing import check_capability

NAMES = sorted(BUILT_IN["capabilities"])


@pytest.fixture(params=NAMES)
def capability(request, lexicon) -> Capability:
    return find("capabilities", request.param).target()


def test_a_built_in_capability_keeps_the_rules(capability):
    check_capability(capability)


def test_a_built_in_capability_has_its_name_in_the_registry(capability):
    assert find("capabilities", capability.name).target is type(capability)


def test_settings_can_be_written_as_json(capability):
    settings = dict(capability.settings())
    assert json.loads(json.dumps(settings)) == settings


def test_settings_name_the_files_that_words_come_from(capability):
    source, fingerprint = capability.settings()["stopwords"].split()
    assert source in ("nltk", "scikit-learn", "sklearn")
    assert len(fingerprint) >= 12
